import { DomainError } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import { billing as billingProto, type usage as usageProto } from "@nodeloom/proto";
import type { Billing, Usage } from "./clients";
import type { Execution } from "./execution";
import type { HeldItem, Refusal, RunInput, RunEnd } from "./run-types";
import { initialNodes } from "./temporal/workflows/graph-run";
import type { Admission } from "./temporal/activity-types";
import { TIMING } from "./timing";
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

/** Whether a caller who waited for the admission does so no more. */
const isLate = ({ receivedAt, admitBy = receivedAt + TIMING.admission }: Pick<RunInput, "receivedAt" | "admitBy">): boolean =>
  Date.now() >= admitBy;

const refusedEnd = ({ plan }: RunInput, { reason, message }: Refusal): RunEnd => ({
  status: "failed",
  result: null,
  error: { code: reason, message },
  requestId: null,
  nodes: initialNodes(plan).map((node) => (node.status === "pending" ? { ...node, status: "skipped" } : node)),
  completed: [],
});

/**
 * Holds the credits of a run, then records it. Idempotent by execution id. A refused hold leaves no trace, unless the run was accepted before it was known; a billing
 * service that can't be asked refuses the run as unavailable, and `voidAdmission` then undoes a hold that was made unseen.
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
   * Whether a run that billing can't be asked for must be tried again instead of being refused: an earlier attempt may have
   * recorded it (where the process died meanwhile, attempts are counted anew, and the record tells), or its caller was told
   * by now that it goes on.
   */
  const mustGoOn = async (input: RunInput, attempt: number): Promise<boolean> =>
    attempt > 1 || isLate(input) || execution.isRecorded(input.executionId);

  const record = async (input: RunInput, isCancelled: boolean): Promise<void> => {
    await Promise.all([usage.startRun({ run: runStart(input) }), execution.admit(input, initialNodes(input.plan), isCancelled)]);
  };

  return {
    /**
     * @param attempt counted from 1
     * @param cancelled aborts when the run is cancelled meanwhile: then its hold is not waited for
     */
    admit: async (input: RunInput, attempt = 1, cancelled: AbortSignal = NEVER): Promise<Admission> => {
      let held: HeldItem[];
      try {
        held = await hold(billing, input, cancelled);
      } catch (error) {
        if (cancelled.aborted) return { calledOff: true };
        if (!(error instanceof DomainError)) throw error;
        if (error.kind === "unavailable" && (await mustGoOn(input, attempt))) throw error;
        const refused = refusalOf(error);
        // Its caller was told by now that it goes on: then it ends as any run does.
        const recorded = isLate(input);
        if (recorded) await recordUnstarted({ usage, execution }, input, refusedEnd(input, refused));
        execution.refuse(input.executionId, refused);
        if (error.kind === "unavailable") logger.warn({ executionId: input.executionId }, "billing is not available, run refused");
        return { refused, recorded };
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
