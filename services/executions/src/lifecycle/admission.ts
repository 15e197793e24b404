import { DomainError } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import { billing as billingProto, type usage as usageProto } from "@nodeloom/proto";
import type { Billing, Usage } from "../clients";
import type { Execution } from "./execution";
import type { HeldItem, Refusal, RunInput, RunEnd } from "../contract/run-types";
import { initialNodes } from "../temporal/workflows/graph-run";
import type { Admission } from "../contract/activity-types";
import { TIMING } from "../contract/timing";
import { recordUnstarted } from "./unstarted";

const NEVER = new AbortController().signal;

/** A domain error as the workflow records it. */
export const refusalOf = ({ kind, reason, message, metadata }: DomainError): Refusal => ({ kind, reason, message, metadata });

/** What usage is told of a run, at its start and at its end. */
export const runStart = (
  input: Pick<RunInput, "executionId" | "userId" | "workflowSlug" | "modelIds" | "source" | "receivedAt">,
): usageProto.RunStart => ({
  executionId: input.executionId,
  userId: input.userId,
  workflowSlug: input.workflowSlug ?? undefined,
  modelIds: input.modelIds,
  source: input.source,
  startedAt: new Date(input.receivedAt),
  metadata: {},
});

const hold = async (billing: Billing, input: RunInput, signal: AbortSignal): Promise<HeldItem[]> => {
  const { items } = await billing.hold(
    {
      executionId: input.holdId,
      userId: input.userId,
      items: input.holds,
      maxActive: input.concurrency,
      maxMillicredits: input.maxMillicredits,
    },
    { deadlineMs: TIMING.holdCall, signal },
  );
  return items.map((item) => ({
    key: item.key,
    source: item.source === billingProto.HoldSource.HOLD_SOURCE_GRANT ? "grant" : "credits",
    millicredits: item.millicredits,
  }));
};

/** Whether billing could not say anything about a run. Nothing is known of the run then, and nothing is wrong with it. */
export const isTrouble = ({ kind }: DomainError): boolean => kind === "unavailable" || kind === "internal";

/** Whether an admission may have been made before: where a process dies or is slow, it is made again from its beginning. */
const isRepeated = ({ receivedAt }: RunInput, attempt: number): boolean => attempt > 1 || Date.now() - receivedAt >= TIMING.admission;

/** A refusal that was told already: its run must not go on. The usual run, which is admitted at once, asks nobody. */
export const earlierRefusal = async (execution: Pick<Execution, "refusalOf">, input: RunInput, attempt: number): Promise<Refusal | null> =>
  isRepeated(input, attempt) ? execution.refusalOf(input.executionId) : null;

const refusedEnd = ({ plan }: RunInput, { reason, message }: Refusal): RunEnd => ({
  status: "failed",
  result: null,
  error: { code: reason, message },
  requestId: null,
  nodes: initialNodes(plan).map((node) => (node.status === "pending" ? { ...node, status: "skipped" } : node)),
  completed: [],
});

/**
 * Holds the credits of a run, then records it. Idempotent by execution id. A refused run leaves no trace, unless it was accepted
 * before that was known. Of one that is refused because billing can't be asked, `voidAdmission` undoes a hold that was made unseen.
 */
export const createAdmission = ({
  billing,
  usage,
  execution,
  logger,
}: {
  billing: Billing;
  usage: Usage;
  execution: Execution;
  logger: Logger;
}) => {
  /**
   * What an admission without a hold comes to. While billing can't be asked, a run goes on that may be recorded already: by an
   * earlier attempt (where the process died meanwhile, attempts are counted anew, and the record tells). Any other run
   * is refused, unless its caller was told by now that it goes on: then it is tried again, or ends as any run does.
   */
  const refuse = async (input: RunInput, attempt: number, error: DomainError): Promise<Admission> => {
    const { executionId } = input;
    if (isTrouble(error) && (attempt > 1 || (await execution.isRecorded(executionId)))) throw error;
    const refused = refusalOf(error);
    if (await execution.refuse(executionId, refused)) {
      if (isTrouble(error)) logger.warn({ executionId, reason: error.message }, "billing can't be asked, run refused");
      return { refused };
    }
    if (isTrouble(error)) throw error;
    await recordUnstarted({ usage, execution }, input, refusedEnd(input, refused));
    return { refused, recorded: true };
  };

  /** What an admission came to whose end was not heard of: a refusal, or one that was recorded as a failed run. */
  const earlierEnd = async (input: RunInput, attempt: number): Promise<Admission | null> => {
    const refused = await earlierRefusal(execution, input, attempt);
    if (refused) return { refused };
    const failure = isRepeated(input, attempt) ? await execution.failureOf(input.executionId) : null;
    return failure && { refused: { kind: "failed", reason: failure.code, message: failure.message, metadata: {} }, recorded: true };
  };

  const record = async (input: RunInput, isCancelled: boolean): Promise<void> => {
    // In this order: a run that is recorded is gone on with, whatever happens between the two.
    await execution.admit(input, initialNodes(input.plan), isCancelled);
    await usage.startRun({ run: runStart(input) });
  };

  return {
    /**
     * @param attempt counted from 1
     * @param cancelled aborts when the run is cancelled meanwhile: then its hold is not waited for
     */
    admit: async (input: RunInput, attempt = 1, cancelled: AbortSignal = NEVER): Promise<Admission> => {
      const earlier = await earlierEnd(input, attempt);
      if (earlier) return earlier;
      let held: HeldItem[];
      try {
        held = await hold(billing, input, cancelled);
      } catch (error) {
        if (cancelled.aborted) return { calledOff: true };
        if (error instanceof DomainError) return refuse(input, attempt, error);
        throw error;
      }
      await record(input, cancelled.aborted);
      return { held };
    },

    /** Records a run that was cancelled before its admission: what is held for it is for its settlement to find out. Idempotent. */
    recordCalledOff: (input: RunInput): Promise<void> => record(input, true),

    voidAdmission: async (holdId: string, userId: string): Promise<void> => {
      await billing.settle({ executionId: holdId, userId, items: [], captureAll: false });
    },
  };
};
