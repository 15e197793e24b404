import { sleep } from "@temporalio/workflow";

/** What one workflow task may schedule: Temporal ends runs whose task is larger than its largest message. */
const TASK_BYTES = 1_000_000;
/** Larger arguments travel as a claim check: see the payload codec. */
const INLINE_BYTES = 16 * 1024;
/** What a command carries beside its arguments, sealed and named. */
const COMMAND_BYTES = 2_000;

/**
 * Lets calls be scheduled in waves: each waits until its arguments fit into the workflow task that schedules it. Runs that
 * were started before there were waves have none: their histories have no such timers.
 */
export interface Waves {
  take(call: unknown): Promise<void>;
}

export const createWaves = (): Waves => {
  let used = 0;
  let turn: Promise<void> = Promise.resolve();
  return {
    take: (call) => {
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
