import { DomainError } from "@nodeloom/kernel";
import { earlierRefusal, refusalOf } from "./admission";
import type { Billing, Usage } from "../clients";
import type { Execution } from "./execution";
import type { RunEnd, RunInput, RunOutcome } from "../contract/run-types";
import { TIMING } from "../contract/timing";
import { recordUnstarted } from "./unstarted";

const RETRY_AFTER_SECONDS = 1;

/** An instant run holds nothing, but obeys the same limit. */
const checkConcurrency = async (billing: Billing, { userId, concurrency }: RunInput): Promise<void> => {
  const { account } = await billing.getAccount({ userId }, { deadlineMs: TIMING.holdCall });
  if (concurrency === 0 || (account?.activeHolds ?? 0) < concurrency) return;
  throw new DomainError("exhausted", "CONCURRENCY_LIMIT_EXCEEDED", `no more than ${concurrency} executions may run at once`, {
    limit: concurrency,
    retryAfter: RETRY_AFTER_SECONDS,
  });
};

/**
 * Runs in which planning left nothing to do: they call no one, cost nothing and are over when they begin. Their rows
 * are written once, final. Idempotent by execution id.
 */
export const createInstantRuns =
  ({ billing, usage, execution }: { billing: Billing; usage: Usage; execution: Execution }) =>
  async (input: RunInput, end: RunEnd, attempt = 1): Promise<RunOutcome> => {
    const earlier = await earlierRefusal(execution, input, attempt);
    if (earlier) return { refused: earlier };
    try {
      // An earlier attempt may have recorded the run already.
      if (attempt === 1) await checkConcurrency(billing, input);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const refused = refusalOf(error);
      const { executionId } = input;
      // One that is recorded, or whose caller was told that it goes on, needs nobody's leave.
      if (!(await execution.isRecorded(executionId)) && (await execution.refuse(executionId, refused))) return { refused };
    }
    await recordUnstarted({ usage, execution }, input, end);
    return { status: end.status, millicredits: 0 };
  };
