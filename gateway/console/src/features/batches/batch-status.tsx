import type { Batch, BatchRow } from "@nodeloom/client";
import { Badge, type Tone } from "../../ui/badge";

const BATCHES: Readonly<Record<Batch["status"], readonly [string, Tone]>> = {
  running: ["Running", "accent"],
  paused: ["Paused", "warn"],
  cancel_requested: ["Cancelling", "warn"],
  completed: ["Completed", "ok"],
  failed: ["Stopped at an error", "bad"],
  cancelled: ["Cancelled", "warn"],
};
const ROWS: Readonly<Record<BatchRow["status"], readonly [string, Tone]>> = {
  waiting: ["Waiting", "neutral"],
  processing: ["Running", "accent"],
  completed: ["Completed", "ok"],
  failed: ["Failed", "bad"],
  cancelled: ["Cancelled", "warn"],
  skipped: ["Never began", "neutral"],
};

export const BatchStatus = ({ status }: { status: Batch["status"] }) => {
  const [text, tone] = BATCHES[status];
  return <Badge tone={tone}>{text}</Badge>;
};

export const RowStatus = ({ status }: { status: BatchRow["status"] }) => {
  const [text, tone] = ROWS[status];
  return <Badge tone={tone}>{text}</Badge>;
};

const PARTS = [
  ["completed", "bg-ok"],
  ["failed", "bg-bad"],
  ["cancelled", "bg-warn"],
  ["processing", "bg-accent"],
] as const;

/** Progress of a batch by the state of its items. */
export const BatchProgress = ({ batch: { counts, total } }: { batch: Pick<Batch, "counts" | "total"> }) => {
  const ended = counts.completed + counts.failed + counts.cancelled;
  return (
    <div
      role="progressbar"
      aria-label="Items that are over"
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={ended}
      className="flex h-2 overflow-hidden rounded-full bg-sunken"
    >
      {PARTS.map(([name, colour]) => (
        <span key={name} className={colour} style={{ width: `${(100 * counts[name]) / total}%` }} />
      ))}
    </div>
  );
};
