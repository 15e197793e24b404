import { runStart } from "./admission";
import type { Usage } from "../clients";
import type { Execution } from "./execution";
import type { RunEnd, RunInput } from "../contract/run-types";

/** Records a run that is over before anything was held or sent: its rows are written once, final. Idempotent by execution id. */
export const recordUnstarted = async (
  { usage, execution }: { usage: Usage; execution: Execution },
  input: RunInput,
  end: RunEnd,
): Promise<void> => {
  await usage.finishRun({
    run: runStart(input),
    status: end.status,
    costMicroUsd: 0,
    userCostMicroUsd: 0,
    millicredits: 0,
    modelCredits: [],
    durationMs: Date.now() - input.receivedAt,
    errorCode: end.error?.code,
    requestId: undefined,
    unstarted: true,
  });
  await execution.recordUnstarted(input, end);
};
