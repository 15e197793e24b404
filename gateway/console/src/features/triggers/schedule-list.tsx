import type { Schedule } from "@nodeloom/client";
import { CalendarClock, Ellipsis, History, Pause, Pencil, Play, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { Badge } from "../../ui/badge";
import { Button, IconButton } from "../../ui/button";
import { credits } from "../../ui/format";
import { Empty, Notice } from "../../ui/notice";
import { Menu } from "../../ui/overlays/menu";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { ConfirmDialog } from "../../parts/form";
import { HistoryDialog } from "./history-dialog";
import { ScheduleDialog, timesInWords } from "./schedule-dialog";
import { COMMON } from "../../messages/common";
import { SCHEDULE_LIST } from "../../messages/triggers";

type Asking = { what: "new" } | { what: "edit" | "delete" | "history"; schedule: Schedule };

export const ScheduleState = ({ schedule: { paused, stopped } }: { schedule: Schedule }) => {
  if (stopped) return <Badge tone="bad">{SCHEDULE_LIST.stopped}</Badge>;
  return paused ? <Badge tone="warn">{SCHEDULE_LIST.paused}</Badge> : <Badge tone="ok">{SCHEDULE_LIST.active}</Badge>;
};

export const ScheduleTimes = ({ schedule: { cron, timezone } }: { schedule: Schedule }) => (
  <span className="block min-w-0">
    {timesInWords(cron) === undefined ? (
      <code className="block truncate font-mono text-[13px]">{cron}</code>
    ) : (
      <span className="block font-medium" title={cron}>
        {timesInWords(cron)}
      </span>
    )}
    <span className="block truncate text-xs text-faint" title={timezone}>
      {timezone}
    </span>
  </span>
);

const columnsOf = (ask: (asking: Asking) => void, pause: (schedule: Schedule, paused: boolean) => void): readonly Column<Schedule>[] => [
  { title: SCHEDULE_LIST.schedule, cell: (schedule) => <ScheduleTimes schedule={schedule} /> },
  { title: COMMON.status, cell: (schedule) => <ScheduleState schedule={schedule} /> },
  { title: SCHEDULE_LIST.nextRun, numeric: true, cell: ({ nextRuns }) => <Time iso={nextRuns[0] ?? null} /> },
  { title: SCHEDULE_LIST.lastRun, numeric: true, wide: true, cell: ({ history }) => <Time iso={history[0]?.at ?? null} /> },
  {
    title: SCHEDULE_LIST.creditLimit,
    numeric: true,
    wide: true,
    cell: ({ maxCredits }) => (maxCredits === null ? <span className="text-faint">–</span> : credits(maxCredits)),
  },
  {
    title: COMMON.actions,
    numeric: true,
    cell: (schedule) => {
      const isOff = schedule.paused || schedule.stopped !== null;
      return (
        <Menu
          trigger={
            <IconButton icon={Ellipsis} size="sm" label={SCHEDULE_LIST.actionsForSchedule(timesInWords(schedule.cron) ?? schedule.cron)} />
          }
          entries={[
            { label: SCHEDULE_LIST.history, icon: History, run: () => ask({ what: "history", schedule }) },
            { label: SCHEDULE_LIST.edit, icon: Pencil, run: () => ask({ what: "edit", schedule }) },
            isOff
              ? { label: SCHEDULE_LIST.resume, icon: Play, run: () => pause(schedule, false) }
              : { label: SCHEDULE_LIST.pause, icon: Pause, run: () => pause(schedule, true) },
            null,
            { label: COMMON.deleteMenu, icon: Trash2, danger: true, run: () => ask({ what: "delete", schedule }) },
          ]}
        />
      );
    },
  },
];

export const ScheduleList = ({ slug, schedules }: { slug: string; schedules: readonly Schedule[] }) => {
  const [asking, setAsking] = useState<Asking>();
  const { run } = useChange("schedules");
  const close = (): void => setAsking(undefined);
  const pause = ({ id }: Schedule, paused: boolean): void =>
    void run(
      () => request("updateSchedule", { params: { slug, id }, body: { paused } }),
      paused ? SCHEDULE_LIST.pausedNotice : SCHEDULE_LIST.resumed,
    );
  const add = (
    <Button icon={Plus} variant="primary" onClick={() => setAsking({ what: "new" })}>
      {SCHEDULE_LIST.newSchedule}
    </Button>
  );
  return (
    <section>
      <header className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-[15px] font-semibold">{SCHEDULE_LIST.schedules}</h2>
        {schedules.length > 0 && add}
      </header>
      {schedules.map(
        ({ id, cron, stopped }) =>
          stopped && (
            <Notice key={id} kind="bad" className="mb-3" title={SCHEDULE_LIST.hasStopped(timesInWords(cron) ?? cron)}>
              {stopped.message}
            </Notice>
          ),
      )}
      {schedules.length === 0 ? (
        <Empty icon={CalendarClock} title={SCHEDULE_LIST.noSchedulesYet} actions={add}>
          {SCHEDULE_LIST.intro}
        </Empty>
      ) : (
        <Table label={SCHEDULE_LIST.schedules} columns={columnsOf(setAsking, pause)} rows={schedules} keyOf={({ id }) => id} />
      )}
      {asking?.what === "new" && <ScheduleDialog slug={slug} onClose={close} />}
      {asking?.what === "edit" && <ScheduleDialog slug={slug} schedule={asking.schedule} onClose={close} />}
      {asking?.what === "history" && <HistoryDialog schedule={asking.schedule} onClose={close} />}
      {asking?.what === "delete" && (
        <ConfirmDialog
          title={SCHEDULE_LIST.deleteThisSchedule}
          text={SCHEDULE_LIST.deleteHint(timesInWords(asking.schedule.cron) ?? asking.schedule.cron)}
          action={COMMON.delete}
          reads={["schedules"]}
          submit={() => request("deleteSchedule", { params: { slug, id: asking.schedule.id } })}
          successText={SCHEDULE_LIST.scheduleDeleted}
          onClose={close}
        />
      )}
    </section>
  );
};
