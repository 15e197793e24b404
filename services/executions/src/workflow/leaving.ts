/** The workflows of leaving: archives of accounts, and their erasure; and what Temporal keeps of an account. */
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { TypedSearchAttributes } from "@temporalio/common";
import { LRUCache } from "lru-cache";
import { TIMING } from "../run/timing";
import { isNotFound, translateTemporal as translate } from "@nodeloom/platform/temporal";
import { USER } from "./names";
import type { eraseAccount, exportAccount } from "./workflows";

const ERASE: keyof { eraseAccount: typeof eraseAccount } = "eraseAccount";
const EXPORT: keyof { exportAccount: typeof exportAccount } = "exportAccount";

/** What may stand in a query of Temporal's: ids of ours have nothing that would end its text. */
const SAFE = /^[\w.:-]+$/;
const quoted = (id: string): string => {
  if (!SAFE.test(id)) throw new Error("an id has characters that no id has");
  return `'${id}'`;
};
/** Runs of workflows that one look deletes. */
const PAGE = 200;
/** Those that are remembered as deleted: they are listed for a moment longer. */
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

  /** Ends what a query finds where it runs, and deletes its history. @returns how many were deleted */
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
    /** Has a workflow erase an account, unless one does. */
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

    /** Deletes what Temporal has of an erasure, once it is over. @returns false while it goes on */
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

    /** Has a workflow make the archive of an account, unless one does. */
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

    /** Deletes some of the workflows of a user's: runs, batches, what schedules started, archives. @returns how many */
    removeWorkflows: (userId: string): Promise<number> => removeListed(`${USER.name} = ${quoted(userId)}`),

    /** Deletes the workflows that delivered a run's webhooks. */
    removeDeliveries: async (executionId: string): Promise<void> => {
      while ((await removeListed(`WorkflowId STARTS_WITH ${quoted(`webhook-${executionId}`)}`)) > 0);
    },
  };
};
