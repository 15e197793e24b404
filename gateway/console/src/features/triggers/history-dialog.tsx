import type { Schedule, ScheduledTime } from "@nodeloom/client";
import { Link } from "@tanstack/react-router";
import { Badge, type Tone } from "../../ui/badge";
import { Button } from "../../ui/button";
import { dateTime } from "../../ui/format";
import { Dialog } from "../../ui/overlays/dialog";
import { Table, type Column } from "../../ui/table";

const OUTCOMES: Readonly<Record<ScheduledTime["outcome"], readonly [string, Tone]>> = {
  started: ["Started", "ok"],
  skipped: ["Left out", "neutral"],
  refused: ["Refused", "bad"],
};

const COLUMNS: readonly Column<ScheduledTime>[] = [
  { title: "At", cell: ({ at }) => dateTime(at) },
  {
    title: "Outcome",
    cell: ({ outcome }) => {
      const [text, tone] = OUTCOMES[outcome];
      return <Badge tone={tone}>{text}</Badge>;
    },
  },
  {
    title: "Run",
    cell: ({ executionId, error, outcome }) =>
      executionId === null ? (
        <span className="text-muted wrap-anywhere">
          {error?.message ?? (outcome === "skipped" && "the run before was still under way")}
        </span>
      ) : (
        <Link to="/executions/$id" params={{ id: executionId }} className="text-accent-text hover:underline">
          Show
        </Link>
      ),
  },
];

/** Next and last runs of a schedule. */
export const HistoryDialog = ({
  schedule: { cron, timezone, nextRuns, history },
  onClose,
}: {
  schedule: Schedule;
  onClose: () => void;
}) => (
  <Dialog title={`${cron}, ${timezone}`} width="lg" onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
    <div className="flex flex-col gap-5">
      {nextRuns.length > 0 && (
        <div>
          <h3 className="mb-1 text-[13px] font-medium">Next</h3>
          <ul className="text-sm text-muted">
            {nextRuns.map((at) => (
              <li key={at}>{dateTime(at)}</li>
            ))}
          </ul>
        </div>
      )}
      {history.length === 0 ? (
        <p className="text-sm text-muted">Its time has not come yet.</p>
      ) : (
        <Table label="Last times" columns={COLUMNS} rows={history} keyOf={({ at }) => at} />
      )}
    </div>
  </Dialog>
);
