import type { Hook, Schedule } from "@nodeloom/client";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { CalendarClock } from "lucide-react";
import type { ReactNode } from "react";
import { request } from "../../api/client";
import { mayAs } from "../../api/organization";
import { executionsQuery, meQuery } from "../../api/queries";
import { useChange } from "../../api/use-change";
import { Loaded } from "../../parts/loaded";
import { useWorkflowNames } from "../../parts/workflow-names";
import { RunStatus } from "../../runs/status";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { credits } from "../../ui/format";
import { Switch } from "../../ui/inputs/switch";
import { Empty } from "../../ui/notice";
import { Page } from "../../ui/page";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { allHooksQuery, allSchedulesQuery } from "./queries";
import { timesInWords } from "./schedule-dialog";
import { ScheduleState, ScheduleTimes } from "./schedule-list";
import { COMMON } from "../../messages/common";
import { ALL_TRIGGERS, HOOK_LIST, SCHEDULE_LIST } from "../../messages/triggers";

const WorkflowLink = ({ slug, pendingChange }: { slug: string; pendingChange: boolean }) => {
  const nameOf = useWorkflowNames();
  return (
    <>
      <Link
        to="/workflows/$slug/triggers"
        params={{ slug }}
        className="block truncate font-medium text-accent-text hover:underline"
        title={nameOf(slug)}
      >
        {nameOf(slug)}
      </Link>
      {pendingChange && <Badge tone="warn">{ALL_TRIGGERS.changePending}</Badge>}
    </>
  );
};

/** Switches a schedule on or off. A stopped schedule is off. */
const ActiveSwitch = ({ schedule: { id, workflowSlug: slug, cron, paused, stopped } }: { schedule: Schedule }) => {
  const { data: me } = useSuspenseQuery(meQuery);
  const { busy, run } = useChange("schedules");
  const nameOf = useWorkflowNames();
  return (
    <Switch
      label={ALL_TRIGGERS.active(timesInWords(cron) ?? cron, nameOf(slug))}
      isOn={!paused && stopped === null}
      disabled={busy || !me || !mayAs(me, "editor")}
      onChange={(isOn) =>
        void run(
          () => request("updateSchedule", { params: { slug, id }, body: { paused: !isOn } }),
          isOn ? SCHEDULE_LIST.resumed : SCHEDULE_LIST.pausedNotice,
        )
      }
    />
  );
};

/** The error that stopped the schedule, or else that of its last time. */
const lastErrorOf = ({ stopped, history }: Schedule): string | undefined => (stopped ?? history[0]?.error)?.message;

const StateCell = ({ schedule }: { schedule: Schedule }) => {
  const error = lastErrorOf(schedule);
  return (
    <span className="block min-w-0">
      <ScheduleState schedule={schedule} />
      {error !== undefined && (
        <span className="mt-0.5 line-clamp-2 text-xs text-bad wrap-anywhere" title={error}>
          {error}
        </span>
      )}
    </span>
  );
};

const LastTime = ({ schedule: { history } }: { schedule: Schedule }) => {
  const last = history.find(({ outcome }) => outcome !== "skipped");
  if (!last?.executionId) return <Time iso={last?.at ?? null} />;
  return (
    <Link to="/executions/$id" params={{ id: last.executionId }} className="text-accent-text hover:underline">
      <Time iso={last.at} />
    </Link>
  );
};

/** Leaves room for the other columns in small windows. */
const NARROW = "max-xl:max-w-32";

const SCHEDULE_COLUMNS: readonly Column<Schedule>[] = [
  {
    title: COMMON.workflow,
    className: NARROW,
    cell: (schedule) => <WorkflowLink slug={schedule.workflowSlug} pendingChange={schedule.pendingChange} />,
  },
  {
    title: SCHEDULE_LIST.schedule,
    wide: true,
    className: "max-xl:max-w-36",
    cell: (schedule) => <ScheduleTimes schedule={schedule} />,
  },
  { title: COMMON.status, className: "min-w-28", cell: (schedule) => <StateCell schedule={schedule} /> },
  { title: SCHEDULE_LIST.nextRun, numeric: true, wide: true, cell: ({ nextRuns }) => <Time iso={nextRuns[0] ?? null} /> },
  { title: SCHEDULE_LIST.lastRun, numeric: true, wide: true, cell: (schedule) => <LastTime schedule={schedule} /> },
  { title: SCHEDULE_LIST.active, numeric: true, cell: (schedule) => <ActiveSwitch schedule={schedule} /> },
];

/** Status and time of the hook's newest run, with a link to all of its runs. */
const LastRun = ({ hook: { id } }: { hook: Hook }) => {
  const runs = useQuery(executionsQuery({ "metadata.hookId": id, limit: 1 }));
  const last = runs.data?.rows[0];
  if (!last) return <span className="text-faint">{runs.isSuccess ? ALL_TRIGGERS.noRunYet : "–"}</span>;
  return (
    <Link to="/executions" search={{ meta: `hookId=${id}` }} className="inline-flex items-center gap-2 text-accent-text hover:underline">
      <RunStatus status={last.status} />
      <span className="max-md:hidden">
        <Time iso={last.createdAt} />
      </span>
    </Link>
  );
};

const HOOK_COLUMNS: readonly Column<Hook>[] = [
  {
    title: COMMON.workflow,
    className: NARROW,
    cell: ({ workflowSlug, pendingChange }) => <WorkflowLink slug={workflowSlug} pendingChange={pendingChange} />,
  },
  { title: COMMON.address, wide: true, cell: ({ start }) => <code className="font-mono text-xs">{HOOK_LIST.hooks(start)}</code> },
  {
    title: HOOK_LIST.signed,
    wide: true,
    cell: ({ hmac }) => (hmac ? <Badge tone="ok">{hmac.header}</Badge> : <span className="text-faint">{HOOK_LIST.no}</span>),
  },
  { title: HOOK_LIST.creditLimit, numeric: true, wide: "widest", cell: ({ maxCredits }) => credits(maxCredits) },
  { title: SCHEDULE_LIST.lastRun, numeric: true, cell: (hook) => <LastRun hook={hook} /> },
];

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <section>
    <h2 className="mb-3 text-[15px] font-semibold">{title}</h2>
    {children}
  </section>
);

/** Schedules and hooks of all workflows of the account. */
export const AllTriggersPage = () => {
  const navigate = useNavigate();
  const [schedules, hooks] = [useQuery(allSchedulesQuery), useQuery(allHooksQuery)];
  const isEmpty = schedules.data?.length === 0 && hooks.data?.length === 0;
  return (
    <Page title={COMMON.schedulesAndHooks} lead={ALL_TRIGGERS.intro}>
      {isEmpty ? (
        <Empty
          icon={CalendarClock}
          title={ALL_TRIGGERS.noneYet}
          actions={
            <Button variant="primary" onClick={() => void navigate({ to: "/" })}>
              {ALL_TRIGGERS.showWorkflows}
            </Button>
          }
        >
          {ALL_TRIGGERS.emptyHint}
        </Empty>
      ) : (
        <div className="flex flex-col gap-10">
          {schedules.data?.length !== 0 && (
            <Section title={SCHEDULE_LIST.schedules}>
              <Loaded of={schedules} lines={4}>
                {(rows) => <Table label={SCHEDULE_LIST.schedules} columns={SCHEDULE_COLUMNS} rows={rows} keyOf={({ id }) => id} />}
              </Loaded>
            </Section>
          )}
          {hooks.data?.length !== 0 && (
            <Section title={HOOK_LIST.hooksLabel}>
              <Loaded of={hooks} lines={4}>
                {(rows) => <Table label={HOOK_LIST.hooksLabel} columns={HOOK_COLUMNS} rows={rows} keyOf={({ id }) => id} />}
              </Loaded>
            </Section>
          )}
        </div>
      )}
    </Page>
  );
};
