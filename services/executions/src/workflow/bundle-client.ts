/** Starts imports of bundles, and waits until they end. */
import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowFailedError } from "@temporalio/client";
import { ApplicationFailure, TypedSearchAttributes } from "@temporalio/common";
import { DomainError, isReason, type ErrorKind, type ErrorMetadata } from "@nodeloom/kernel";
import { withTimeout } from "@nodeloom/platform";
import { translateTemporal } from "@nodeloom/platform/temporal";
import type { BundleOrder, BundleOutcome } from "../run/bundle";
import { TIMING } from "../run/timing";
import { USER } from "./names";
import type { applyBundle } from "./workflows";

const APPLY: keyof { applyBundle: typeof applyBundle } = "applyBundle";
const STALE = "a workflow changed while the bundle was applied: send dryRun for a new plan";

/** Returns the error of the step that failed. */
const refusalIn = (error: unknown): unknown => {
  let cause: unknown = error;
  while (cause instanceof Error && !(cause instanceof ApplicationFailure)) cause = cause.cause;
  if (!(error instanceof WorkflowFailedError) || !(cause instanceof ApplicationFailure)) return error;
  const [kind, metadata] = (cause.details ?? []) as [ErrorKind, ErrorMetadata];
  if (cause.type === "PRECONDITION_FAILED") return new DomainError("conflict", "PLAN_STALE", STALE);
  return isReason(cause.type ?? "") ? new DomainError(kind, cause.type as never, cause.message, metadata) : error;
};

export type BundleStarter = ReturnType<typeof createBundleStarter>;

export const createBundleStarter = ({ client, taskQueue }: { client: Client; taskQueue: string }) => {
  const start = async (workflowId: string, order: BundleOrder): Promise<void> => {
    try {
      await client.withDeadline(Date.now() + TIMING.startCall, () =>
        client.workflow.start(APPLY, {
          workflowId,
          taskQueue,
          args: [order],
          workflowIdConflictPolicy: "USE_EXISTING",
          // A failed import is continued. A completed import returns its result again.
          workflowIdReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY",
          staticSummary: "import of a bundle",
          typedSearchAttributes: new TypedSearchAttributes([{ key: USER, value: order.ownerId }]),
          priority: { fairnessKey: order.ownerId },
        }),
      );
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw translateTemporal(error, "bundles can't be imported right now");
    }
  };

  const result = async (workflowId: string): Promise<BundleOutcome> => {
    try {
      return (await client.workflow.getHandle(workflowId).result()) as BundleOutcome;
    } catch (error) {
      throw translateTemporal(refusalIn(error), "bundles can't be imported right now");
    }
  };

  return {
    /** @returns undefined if the import takes longer than a request waits. @throws DomainError of the step that failed */
    apply: async (id: string, order: BundleOrder): Promise<BundleOutcome | undefined> => {
      const workflowId = `bundle-${id}`;
      await start(workflowId, order);
      const outcome = result(workflowId);
      // The import may fail after the request was answered.
      outcome.catch(() => undefined);
      return withTimeout(outcome, TIMING.bundleWait, () => undefined);
    },
  };
};
