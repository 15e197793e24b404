import type { Schedule, ScheduledTime } from "@nodeloom/client";
import { Link } from "@tanstack/react-router";
import { Badge, type Tone } from "../../ui/badge";
import { Button } from "../../ui/button";
import { dateTime } from "../../ui/format";
import { Dialog } from "../../ui/overlays/dialog";
import { Table, type Column } from "../../ui/table";
import { COMMON } from "../../messages/common";
import { HISTORY_DIALOG } from "../../messages/triggers";

const OUTCOMES: Readonly<Record<ScheduledTime["outcome"], readonly [string, Tone]>> = {
  started: [COMMON.started, "ok"],
  skipped: [HISTORY_DIALOG.skipped, "neutral"],
  refused: [HISTORY_DIALOG.rejected, "bad"],
};

const COLUMNS: readonly Column<ScheduledTime>[] = [
  { title: COMMON.time, cell: ({ at }) => dateTime(at) },
  {
    title: HISTORY_DIALOG.outcome,
    cell: ({ outcome }) => {
      const [text, tone] = OUTCOMES[outcome];
      return <Badge tone={tone}>{text}</Badge>;
    },
  },
  {
    title: HISTORY_DIALOG.run,
    cell: ({ executionId, error, outcome }) =>
      executionId === null ? (
        <span className="text-muted wrap-anywhere">
          {error?.message ?? (outcome === "skipped" && HISTORY_DIALOG.previousRunInProgress)}
        </span>
      ) : (
        <Link to="/executions/$id" params={{ id: executionId }} className="text-accent-text hover:underline">
          {HISTORY_DIALOG.show}
        </Link>
      ),
  },
];

/** Shows the next and last runs of a schedule. */
export const HistoryDialog = ({
  schedule: { cron, timezone, nextRuns, history },
  onClose,
}: {
  schedule: Schedule;
  onClose: () => void;
}) => (
  <Dialog title={`${cron}, ${timezone}`} width="lg" onClose={onClose} actions={<Button onClick={onClose}>{COMMON.close}</Button>}>
    <div className="flex flex-col gap-5">
      {nextRuns.length > 0 && (
        <div>
          <h3 className="mb-1 text-[13px] font-medium">{COMMON.next}</h3>
          <ul className="text-sm text-muted">
            {nextRuns.map((at) => (
              <li key={at}>{dateTime(at)}</li>
            ))}
          </ul>
        </div>
      )}
      {history.length === 0 ? (
        <p className="text-sm text-muted">{HISTORY_DIALOG.empty}</p>
      ) : (
        <Table label={HISTORY_DIALOG.recentRuns} columns={COLUMNS} rows={history} keyOf={({ at }) => at} />
      )}
    </div>
  </Dialog>
);
