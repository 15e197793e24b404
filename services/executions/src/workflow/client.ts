/** Starts, signals and looks up workflows of runs and batches. */
import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from "@temporalio/client";
import { TypedSearchAttributes } from "@temporalio/common";
import { waitsForDecision } from "@nodeloom/kernel";
import { isNotFound, translateTemporal } from "@nodeloom/platform/temporal";
import { RUN_WORKFLOW, type RunInput } from "../run/types";
import { TIMING } from "../run/timing";
import { MODELS, USER, WORKFLOW } from "./names";
import type { cancelSignal, decidedSignal, executeGraph, placedSignal, runBatch } from "./workflows";

const CANCEL: typeof cancelSignal.name = "cancel";
const DECIDED: typeof decidedSignal.name = "decided";
const PLACED: typeof placedSignal.name = "placed";
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
  const signal = async (executionId: string, name: string, args: string[] = []): Promise<void> => {
    try {
      await client.withDeadline(Date.now() + TIMING.startCall, () => client.workflow.getHandle(executionId).signal(name, ...args));
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw translate(error);
    }
  };
  return {
    /**
     * Starts the workflow of a run's attempt. A second workflow of an attempt has no effect, because only one can claim the row.
     * @returns `exists` if a workflow with this id runs; it can belong to an earlier attempt that is about to end
     * @throws SERVICE_UNAVAILABLE if the outcome is unknown
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
            // The run's own deadline ends the run before this timeout.
            workflowExecutionTimeout: TIMING.runAtMost + (input.plan.steps.some(({ type }) => waitsForDecision(type)) ? TIMING.waiting : 0),
            ...(input.plan.maxCalls === undefined ? {} : { workflowTaskTimeout: TIMING.longTask }),
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

    cancel: (executionId: string): Promise<void> => signal(executionId, CANCEL),
    /** Signals that the row has a decision. */
    decided: (executionId: string, nodeId: string): Promise<void> => signal(executionId, DECIDED, [nodeId]),
    /** Signals that the run has its place again after a decision. */
    placed: (executionId: string): Promise<void> => signal(executionId, PLACED),

    isRunning: (executionId: string): Promise<boolean> => isRunning(client, executionId),

    /** Terminates the workflow of a run. The workflow's code doesn't run any more. */
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
