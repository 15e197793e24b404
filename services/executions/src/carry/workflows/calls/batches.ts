import { sleep, workflowInfo } from "@temporalio/workflow";
import { BindError } from "@nodeloom/kernel/graph";

/** What one workflow task may schedule: Temporal ends runs whose task is larger than its largest message. */
const TASK_BYTES = 1_000_000;
/** Larger arguments travel as a claim check: see the payload codec. */
const INLINE_BYTES = 16 * 1024;
/** What a command carries beside its arguments, sealed and named. */
const COMMAND_BYTES = 2_000;

/**
 * Where a run makes no more calls. Temporal terminates a workflow whose history has 51,200 events or 50 MB, and a run that
 * is terminated can't say why; what is left is for the calls under way, their cancellation and the settlement.
 */
export const HISTORY_BOUNDS = { events: 40_000, bytes: 40_000_000 } as const;

/** @throws BindError once the run's history is too long for another call */
export const checkHistory = ({ historyLength, historySize }: { historyLength: number; historySize: number }): void => {
  const { events, bytes } = HISTORY_BOUNDS;
  if (historyLength < events && historySize < bytes) return;
  throw new BindError(
    `the run has made too many calls, or too large ones: its history holds ${historyLength} events of ${historySize} bytes`,
  );
};

export type Batches = ReturnType<typeof createBatches>;

/** Lets the calls of a run be scheduled in batches: each waits until its arguments fit into the workflow task that schedules it. */
export const createBatches = () => {
  let used = 0;
  let turn: Promise<void> = Promise.resolve();
  return {
    take: (call: unknown): Promise<void> => {
      checkHistory(workflowInfo());
      const bytes = Math.min(JSON.stringify(call).length, INLINE_BYTES) + COMMAND_BYTES;
      turn = turn.then(async () => {
        if (used > 0 && used + bytes > TASK_BYTES) {
          // A timer ends the task; what comes after it is scheduled by another one.
          await sleep(1);
          used = 0;
        }
        used += bytes;
      });
      return turn;
    },
  };
};
