/** Starts, signals and looks up workflows: of runs, of batches, and of deliveries of webhooks. */
import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type WorkflowStartOptions } from "@temporalio/client";
import { TypedSearchAttributes } from "@temporalio/common";
import { waitsForDecision } from "@nodeloom/kernel";
import { inLinkedTrace } from "@nodeloom/platform";
import { isNotFound, translateTemporal } from "@nodeloom/platform/temporal";
import { FIRST_DELIVERY } from "../run/delivery";
import { RUN_WORKFLOW, type RunInput } from "../run/types";
import { TIMING } from "../run/timing";
import type { AlertDelivery, DeliveryInput } from "./activity-types";
import { MODELS, USER, WORKFLOW } from "./names";
import type { cancelSignal, decidedSignal, deliverAlert, deliverWebhook, executeGraph, placedSignal, runBatch } from "./workflows";

const CANCEL: typeof cancelSignal.name = "cancel";
const DECIDED: typeof decidedSignal.name = "decided";
const PLACED: typeof placedSignal.name = "placed";
const DELIVER_ALERT: keyof { deliverAlert: typeof deliverAlert } = "deliverAlert";
const DELIVER: keyof { deliverWebhook: typeof deliverWebhook } = "deliverWebhook";
const RUN_BATCH: keyof { runBatch: typeof runBatch } = "runBatch";
const EXECUTE: keyof { executeGraph: typeof executeGraph } = RUN_WORKFLOW;

const translate = (error: unknown, message = "runs can't be started right now"): unknown => translateTemporal(error, message);

const isRunning = async (client: Client, workflowId: string): Promise<boolean> => {
  try {
    return (await client.workflow.getHandle(workflowId).describe()).status.name === "RUNNING";
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw translate(error);
  }
};

export type RunStarter = ReturnType<typeof createRunStarter>;

export const createRunStarter = ({ client, taskQueue }: { client: Client; taskQueue: string }) => {
  /** Sends the workflow of a run a signal, unless it is over. */
  const signal = async (executionId: string, name: string, args: string[] = []): Promise<void> => {
    try {
      await client.withDeadline(Date.now() + TIMING.startCall, () => client.workflow.getHandle(executionId).signal(name, ...args));
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw translate(error);
    }
  };
  return {
    /**
     * Starts the workflow of a run's attempt. Only the one that claims the row has any effect.
     * @returns `exists` while one with this id is running: the same attempt's, or an earlier one's, which is about to end
     * @throws SERVICE_UNAVAILABLE when it is not known whether it was started
     */
    start: async (input: RunInput): Promise<"started" | "exists"> => {
      const what = input.workflowSlug ? `workflow ${input.workflowSlug}` : `model ${input.modelIds.join(", ")}`;
      try {
        await client.withDeadline(Date.now() + TIMING.startCall, () =>
          client.workflow.start(EXECUTE, {
            workflowId: input.executionId,
            taskQueue,
            args: [input],
            requestEagerStart: true,
            workflowIdReusePolicy: "ALLOW_DUPLICATE",
            // Its own deadline ends it in order before that.
            workflowExecutionTimeout: TIMING.runAtMost + (input.plan.steps.some(({ type }) => waitsForDecision(type)) ? TIMING.waiting : 0),
            staticSummary: what,
            memo: { mode: input.mode, source: input.source, keyId: input.keyId, nodes: input.plan.steps.length },
            typedSearchAttributes: new TypedSearchAttributes([
              { key: USER, value: input.userId },
              ...(input.workflowSlug ? [{ key: WORKFLOW, value: input.workflowSlug }] : []),
              ...(input.modelIds.length > 0 ? [{ key: MODELS, value: input.modelIds }] : []),
            ]),
            priority: { fairnessKey: input.userId },
          }),
        );
        return "started";
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return "exists";
        throw translate(error);
      }
    },

    /** Asks a run to stop, unless it is over. */
    cancel: (executionId: string): Promise<void> => signal(executionId, CANCEL),
    /** Signals a run that its row has a decision. */
    decided: (executionId: string, nodeId: string): Promise<void> => signal(executionId, DECIDED, [nodeId]),
    /** Signals a run that has waited for a decision that it has its place in line again. */
    placed: (executionId: string): Promise<void> => signal(executionId, PLACED),

    isCarried: (executionId: string): Promise<boolean> => isRunning(client, executionId),

    /** Ends the workflow of a run at once, unless it is over. Its code hears nothing of that. */
    terminate: async (executionId: string): Promise<void> => {
      try {
        const handle = client.workflow.getHandle(executionId);
        await client.withDeadline(Date.now() + TIMING.startCall, () => handle.terminate("its workflow task fails"));
      } catch (error) {
        if (!isNotFound(error)) throw translate(error);
      }
    },
  };
};

export type BatchStarter = ReturnType<typeof createBatchStarter>;

export const createBatchStarter = ({ client, taskQueue }: { client: Client; taskQueue: string }) => ({
  /** Has a workflow carry a batch, unless one does. */
  startBatch: async (batchId: string, userId: string): Promise<void> => {
    try {
      await client.withDeadline(Date.now() + TIMING.startCall, () =>
        client.workflow.start(RUN_BATCH, {
          workflowId: `batch-${batchId}`,
          taskQueue,
          args: [batchId],
          workflowIdConflictPolicy: "USE_EXISTING",
          workflowIdReusePolicy: "ALLOW_DUPLICATE",
          staticSummary: "batch",
          typedSearchAttributes: new TypedSearchAttributes([{ key: USER, value: userId }]),
          priority: { fairnessKey: userId },
        }),
      );
    } catch (error) {
      throw translate(error, "batches can't be carried right now");
    }
  },
});

export type AlertStarter = ReturnType<typeof createAlertStarter>;

export const createAlertStarter = ({ client, taskQueue }: { client: Client; taskQueue: string }) => ({
  /** Has a workflow deliver an alert to a key's webhook, once. */
  startAlert: async (alert: AlertDelivery): Promise<void> => {
    try {
      await client.withDeadline(Date.now() + TIMING.startCall, () =>
        client.workflow.start(DELIVER_ALERT, {
          workflowId: `webhook-${alert.id}-${alert.keyId}`,
          taskQueue,
          args: [alert],
          workflowIdReusePolicy: "REJECT_DUPLICATE",
          workflowExecutionTimeout: TIMING.deliveryAtMost,
          staticSummary: "budget alert",
          typedSearchAttributes: new TypedSearchAttributes([{ key: USER, value: alert.userId }]),
        }),
      );
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw translate(error, "webhooks can't be delivered right now");
    }
  },
});

export type DeliveryStarter = ReturnType<typeof createDeliveryStarter>;

const deliveryId = (executionId: string, delivery: number): string =>
  delivery === FIRST_DELIVERY ? `webhook-${executionId}` : `webhook-${executionId}-${delivery}`;
const waitingId = (executionId: string, nodeId: string): string => `webhook-${executionId}.waiting.${nodeId}`;

type FullDelivery = DeliveryInput & Required<Pick<DeliveryInput, "delivery">>;

export const createDeliveryStarter = ({ client, taskQueue }: { client: Client; taskQueue: string }) => {
  const start = async (input: FullDelivery, options: Partial<WorkflowStartOptions<typeof deliverWebhook>>): Promise<void> => {
    const { executionId, delivery, nodeId } = input;
    const workflowId = nodeId === undefined ? deliveryId(executionId, delivery) : waitingId(executionId, nodeId);
    try {
      await inLinkedTrace("webhook delivery", () =>
        client.workflow.start(DELIVER, {
          ...options,
          workflowId,
          taskQueue,
          args: [input],
          workflowExecutionTimeout: TIMING.deliveryAtMost,
        }),
      );
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw translate(error, "webhooks can't be delivered right now");
    }
  };
  return {
    isCarried: (executionId: string, delivery: number): Promise<boolean> => isRunning(client, deliveryId(executionId, delivery)),

    /** Starts the first delivery where the run itself can't. */
    startFirst: (executionId: string, keyId: string): Promise<void> =>
      start({ executionId, keyId, delivery: FIRST_DELIVERY }, { workflowIdReusePolicy: "REJECT_DUPLICATE" }),

    /** Starts the delivery of the webhook that says that a node waits for a decision. */
    startWaiting: (executionId: string, keyId: string, nodeId: string): Promise<void> =>
      start({ executionId, keyId, delivery: FIRST_DELIVERY, nodeId }, { workflowIdReusePolicy: "REJECT_DUPLICATE" }),

    /** Starts a redelivery, or joins the one with the same number, unless that was ended from outside. */
    startAgain: (input: FullDelivery): Promise<void> =>
      start(input, {
        staticSummary: `delivery ${input.delivery}`,
        workflowIdConflictPolicy: "USE_EXISTING",
        workflowIdReusePolicy: "ALLOW_DUPLICATE_FAILED_ONLY",
      }),
  };
};
