import {
  type Client,
  isGrpcServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from "@temporalio/client";
import { status } from "@grpc/grpc-js";
import { TypedSearchAttributes } from "@temporalio/common";
import { unavailable } from "@nodeloom/kernel";
import { FIRST_DELIVERY } from "../contract/delivery";
import type { RunInput, RunOutcome } from "../contract/run-types";
import type { DeliveryInput } from "../contract/activity-types";
import { MODELS, USER, WORKFLOW } from "./search-attributes";
import type { cancelSignal, deliverWebhook, executeGraph } from "./workflows";

const CANCEL: typeof cancelSignal.name = "cancel";
const DELIVER: keyof { deliverWebhook: typeof deliverWebhook } = "deliverWebhook";
const EXECUTE: keyof { executeGraph: typeof executeGraph } = "executeGraph";

/** How long a delivery may wait for its run to become final before its first attempt. */
const HEAD_START = "5s";

export type RunStarter = ReturnType<typeof createRunStarter>;

const translate = (error: unknown, message = "runs can't be started right now"): unknown => {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = isGrpcServiceError(error) ? error.code : isGrpcServiceError(cause) ? cause.code : undefined;
  const isAway =
    code === status.UNAVAILABLE || code === status.DEADLINE_EXCEEDED || code === status.RESOURCE_EXHAUSTED || code === status.CANCELLED;
  return isAway ? unavailable(message, 2) : error;
};

/** Starts, cancels and inspects runs on Temporal. */
export const createRunStarter = ({ client, taskQueue }: { client: Client; taskQueue: string }) => ({
  /**
   * Starts a run, or finds the one with the same id.
   * @param again also when an earlier run with this id is over.
   */
  start: async (input: RunInput, again = false): Promise<"started" | "exists"> => {
    const what = input.workflowSlug ? `workflow ${input.workflowSlug}` : `model ${input.modelIds.join(", ")}`;
    try {
      await client.workflow.start(EXECUTE, {
        workflowId: input.executionId,
        taskQueue,
        args: [input],
        requestEagerStart: true,
        workflowIdReusePolicy: again ? "ALLOW_DUPLICATE" : "REJECT_DUPLICATE",
        staticSummary: what,
        memo: { mode: input.mode, source: input.source, keyId: input.keyId, nodes: input.plan.steps.length },
        typedSearchAttributes: new TypedSearchAttributes([
          { key: USER, value: input.userId },
          ...(input.workflowSlug ? [{ key: WORKFLOW, value: input.workflowSlug }] : []),
          ...(input.modelIds.length > 0 ? [{ key: MODELS, value: input.modelIds }] : []),
        ]),
        priority: { fairnessKey: input.userId },
      });
      return "started";
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return "exists";
      throw translate(error);
    }
  },

  /** Tells a run to stop. A run that is over needs no telling. */
  cancel: async (executionId: string): Promise<void> => {
    try {
      await client.workflow.getHandle(executionId).signal(CANCEL);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw translate(error);
    }
  },

  /** When a run of this user was started that goes on; null when there is none. */
  carriedSince: async (executionId: string, userId: string): Promise<Date | null> => {
    try {
      const { status: state, typedSearchAttributes, startTime } = await client.workflow.getHandle(executionId).describe();
      return state.name === "RUNNING" && typedSearchAttributes.get(USER) === userId ? startTime : null;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return null;
      throw translate(error);
    }
  },

  /** The outcome that Temporal recorded, when the run is over. */
  outcome: async (executionId: string): Promise<RunOutcome | "running" | "unknown"> => {
    try {
      const handle = client.workflow.getHandle(executionId);
      const { status: state } = await handle.describe();
      return state.name === "RUNNING" ? "running" : ((await handle.result()) as RunOutcome);
    } catch (error) {
      if (error instanceof WorkflowNotFoundError || error instanceof WorkflowFailedError) return "unknown";
      throw translate(error);
    }
  },
});

export type DeliveryStarter = ReturnType<typeof createDeliveryStarter>;

const deliveryId = (executionId: string, delivery: number): string =>
  delivery === FIRST_DELIVERY ? `webhook-${executionId}` : `webhook-${executionId}-${delivery}`;

/** Starts deliveries of webhooks on Temporal, each once. */
export const createDeliveryStarter = ({ client, taskQueue }: { client: Client; taskQueue: string }) => ({
  isUnderWay: async (executionId: string, delivery: number): Promise<boolean> => {
    try {
      const { status: state } = await client.workflow.getHandle(deliveryId(executionId, delivery)).describe();
      return state.name === "RUNNING";
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw translate(error);
    }
  },

  /** Starts the first delivery where the run itself can't. */
  startFirst: async (executionId: string, keyId: string): Promise<void> => {
    try {
      await client.workflow.start(DELIVER, {
        workflowId: deliveryId(executionId, FIRST_DELIVERY),
        taskQueue,
        args: [{ executionId, keyId, delivery: FIRST_DELIVERY }],
        workflowIdReusePolicy: "REJECT_DUPLICATE",
        startDelay: HEAD_START,
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw translate(error);
    }
  },

  /** Starts a redelivery, or joins the one with the same number, unless that was ended from outside. */
  startAgain: async ({ executionId, keyId, delivery }: Required<DeliveryInput>): Promise<void> => {
    try {
      await client.workflow.start(DELIVER, {
        workflowId: deliveryId(executionId, delivery),
        taskQueue,
        args: [{ executionId, keyId, delivery }],
        staticSummary: `delivery ${delivery}`,
        workflowIdConflictPolicy: "USE_EXISTING",
        workflowIdReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY",
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw translate(error, "webhooks can't be delivered right now");
    }
  },
});
