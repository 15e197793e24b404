import type { Batch, BatchRow } from "@nodeloom/client";
import { Badge, type Tone } from "../../ui/badge";
import { COMMON } from "../../messages/common";
import { BATCH_STATUS } from "../../messages/batches";

const BATCHES: Readonly<Record<Batch["status"], readonly [string, Tone]>> = {
  running: [COMMON.running, "accent"],
  paused: [BATCH_STATUS.paused, "warn"],
  cancel_requested: [COMMON.cancelling, "warn"],
  completed: [COMMON.completed, "ok"],
  failed: [BATCH_STATUS.stoppedByAnError, "bad"],
  cancelled: [COMMON.cancelled, "warn"],
};
const ROWS: Readonly<Record<BatchRow["status"], readonly [string, Tone]>> = {
  waiting: [BATCH_STATUS.waiting, "neutral"],
  processing: [COMMON.running, "accent"],
  completed: [COMMON.completed, "ok"],
  failed: [COMMON.failed, "bad"],
  cancelled: [COMMON.cancelled, "warn"],
  skipped: [BATCH_STATUS.notStarted, "neutral"],
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

/** Progress of a batch, by the states of its items. */
export const BatchProgress = ({ batch: { counts, total } }: { batch: Pick<Batch, "counts" | "total"> }) => {
  const endedCount = counts.completed + counts.failed + counts.cancelled;
  return (
    <div
      role="progressbar"
      aria-label={BATCH_STATUS.finishedItems}
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={endedCount}
      className="flex h-2 overflow-hidden rounded-full bg-sunken"
    >
      {PARTS.map(([name, colour]) => (
        <span key={name} className={colour} style={{ width: `${(100 * counts[name]) / total}%` }} />
      ))}
    </div>
  );
};
