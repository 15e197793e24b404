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

type Asking = { what: "new" } | { what: "edit" | "delete" | "history"; schedule: Schedule };

const State = ({ schedule: { paused, stopped } }: { schedule: Schedule }) => {
  if (stopped) return <Badge tone="bad">Stopped</Badge>;
  return paused ? <Badge tone="warn">Paused</Badge> : <Badge tone="ok">On</Badge>;
};

const columnsOf = (ask: (asking: Asking) => void, pause: (schedule: Schedule, paused: boolean) => void): readonly Column<Schedule>[] => [
  {
    title: "When",
    cell: ({ cron, timezone }) => (
      <span className="block min-w-0">
        {timesInWords(cron) === undefined ? (
          <code className="block truncate font-mono text-[13px]">{cron}</code>
        ) : (
          <span className="block font-medium" title={cron}>
            {timesInWords(cron)}
          </span>
        )}
        <span className="text-xs text-faint">{timezone}</span>
      </span>
    ),
  },
  { title: "State", cell: (schedule) => <State schedule={schedule} /> },
  { title: "Next", numeric: true, cell: ({ nextRuns }) => <Time iso={nextRuns[0] ?? null} /> },
  { title: "Last", numeric: true, wide: true, cell: ({ history }) => <Time iso={history[0]?.at ?? null} /> },
  {
    title: "At most",
    numeric: true,
    wide: true,
    cell: ({ maxCredits }) => (maxCredits === null ? <span className="text-faint">–</span> : credits(maxCredits)),
  },
  {
    title: "Actions",
    numeric: true,
    cell: (schedule) => {
      const isOff = schedule.paused || schedule.stopped !== null;
      return (
        <Menu
          trigger={
            <IconButton icon={Ellipsis} size="sm" label={`More about the schedule ${timesInWords(schedule.cron) ?? schedule.cron}`} />
          }
          entries={[
            { label: "What came of it…", icon: History, run: () => ask({ what: "history", schedule }) },
            { label: "Change…", icon: Pencil, run: () => ask({ what: "edit", schedule }) },
            isOff
              ? { label: "Resume", icon: Play, run: () => pause(schedule, false) }
              : { label: "Pause", icon: Pause, run: () => pause(schedule, true) },
            null,
            { label: "Delete…", icon: Trash2, danger: true, run: () => ask({ what: "delete", schedule }) },
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
    void run(() => request("updateSchedule", { params: { slug, id }, body: { paused } }), paused ? "Paused." : "On again.");
  const add = (
    <Button icon={Plus} variant="primary" onClick={() => setAsking({ what: "new" })}>
      New schedule
    </Button>
  );
  return (
    <section>
      <header className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-[15px] font-semibold">Schedules</h2>
        {schedules.length > 0 && add}
      </header>
      {schedules.map(
        ({ id, cron, stopped }) =>
          stopped && (
            <Notice key={id} kind="bad" className="mb-3" title={`${timesInWords(cron) ?? cron} has stopped`}>
              {stopped.message}
            </Notice>
          ),
      )}
      {schedules.length === 0 ? (
        <Empty icon={CalendarClock} title="No schedules" actions={add}>
          A schedule runs this workflow at times: every morning, every Monday, every quarter of an hour.
        </Empty>
      ) : (
        <Table label="Schedules" columns={columnsOf(setAsking, pause)} rows={schedules} keyOf={({ id }) => id} />
      )}
      {asking?.what === "new" && <ScheduleDialog slug={slug} onClose={close} />}
      {asking?.what === "edit" && <ScheduleDialog slug={slug} schedule={asking.schedule} onClose={close} />}
      {asking?.what === "history" && <HistoryDialog schedule={asking.schedule} onClose={close} />}
      {asking?.what === "delete" && (
        <ConfirmDialog
          title="Delete this schedule?"
          text={`“${timesInWords(asking.schedule.cron) ?? asking.schedule.cron}” starts no more runs. Those that it has started go on.`}
          action="Delete"
          reads={["schedules"]}
          submit={() => request("deleteSchedule", { params: { slug, id: asking.schedule.id } })}
          done="Deleted."
          onClose={close}
        />
      )}
    </section>
  );
};
