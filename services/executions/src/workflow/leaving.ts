/** Runs the workflows of archives and erasures, and deletes an account's data in Temporal. */
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { TypedSearchAttributes } from "@temporalio/common";
import { LRUCache } from "lru-cache";
import { TIMING } from "../run/timing";
import { isNotFound, translateTemporal as translate } from "@nodeloom/platform/temporal";
import { USER } from "./names";
import type { eraseAccount, exportAccount } from "./workflows";

const ERASE: keyof { eraseAccount: typeof eraseAccount } = "eraseAccount";
const EXPORT: keyof { exportAccount: typeof exportAccount } = "exportAccount";

/** Characters allowed in a Temporal query. Ids never contain quotes. */
const SAFE = /^[\w.:-]+$/;
const quoted = (id: string): string => {
  if (!SAFE.test(id)) throw new Error("an id has characters that no id has");
  return `'${id}'`;
};
/** Number of workflow runs deleted per pass. */
const PAGE = 200;
/** Maximum deleted runs in memory, because Temporal still lists them for a short time. */
const REMEMBERED = 20_000;

export type Leaver = ReturnType<typeof createLeaver>;

export const createLeaver = ({ client, namespace, taskQueue }: { client: Client; namespace: string; taskQueue: string }) => {
  const deleted = new LRUCache<string, true>({ max: REMEMBERED });
  const erasureId = (userId: string): string => `erase-${userId}`;

  const remove = async (workflowId: string, runId: string): Promise<void> => {
    try {
      await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId, runId } });
    } catch (error) {
      if (!isNotFound(error)) throw translate(error, "Temporal can't be reached");
    }
    deleted.set(runId, true);
  };

  /** Terminates and deletes workflows that match a query. @returns number of workflows */
  const removeListed = async (query: string): Promise<number> => {
    let removed = 0;
    for await (const { workflowId, runId } of client.workflow.list({ query, pageSize: PAGE })) {
      if (deleted.has(runId)) continue;
      await remove(workflowId, runId);
      removed += 1;
      if (removed === PAGE) break;
    }
    return removed;
  };

  return {
    startErasure: async (userId: string): Promise<void> => {
      try {
        await client.withDeadline(Date.now() + TIMING.startCall, () =>
          client.workflow.start(ERASE, {
            workflowId: erasureId(userId),
            taskQueue,
            args: [userId],
            workflowIdConflictPolicy: "USE_EXISTING",
            workflowIdReusePolicy: "ALLOW_DUPLICATE",
            staticSummary: "erasure of an account",
          }),
        );
      } catch (error) {
        throw translate(error, "accounts can't be erased right now");
      }
    },

    /** Deletes the history of a completed erasure. @returns false while it runs */
    forgetErasure: async (userId: string): Promise<boolean> => {
      try {
        const { status } = await client.workflow.getHandle(erasureId(userId)).describe();
        if (status.name === "RUNNING") return false;
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw translate(error, "Temporal can't be reached");
      }
      await removeListed(`WorkflowId = ${quoted(erasureId(userId))}`);
      return true;
    },

    startExport: async (userId: string): Promise<void> => {
      try {
        await client.withDeadline(Date.now() + TIMING.startCall, () =>
          client.workflow.start(EXPORT, {
            workflowId: `export-${userId}`,
            taskQueue,
            args: [userId],
            workflowIdConflictPolicy: "USE_EXISTING",
            workflowIdReusePolicy: "ALLOW_DUPLICATE",
            workflowExecutionTimeout: TIMING.exportAtMost,
            staticSummary: "archive of an account",
            typedSearchAttributes: new TypedSearchAttributes([{ key: USER, value: userId }]),
            priority: { fairnessKey: userId },
          }),
        );
      } catch (error) {
        throw translate(error, "archives can't be made right now");
      }
    },

    /** Deletes some of a user's workflows: runs, batches, scheduled starts, archives. @returns number of workflows */
    removeWorkflows: (userId: string): Promise<number> => removeListed(`${USER.name} = ${quoted(userId)}`),

    removeDeliveries: async (executionId: string): Promise<void> => {
      for (const kind of ["webhook", "delivery"])
        while ((await removeListed(`WorkflowId STARTS_WITH ${quoted(`${kind}-${executionId}`)}`)) > 0);
    },

    removeBatch: async (batchId: string): Promise<void> => {
      while ((await removeListed(`WorkflowId = ${quoted(`batch-${batchId}`)}`)) > 0);
    },

    removeRun: async (executionId: string): Promise<void> => {
      while ((await removeListed(`WorkflowId = ${quoted(executionId)}`)) > 0);
    },
  };
};
