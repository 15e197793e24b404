import { holdIdOf } from "@nodeloom/kernel";
import { createOutbox as createPlatformOutbox, withTimeout, type Logger } from "@nodeloom/platform";
import type { usage as usageProto } from "@nodeloom/proto";
import { itemEndOf } from "../run/batch";
import { metadataOf, type ExecutionView } from "../run/record";
import { isFinal, type OutboxEntry } from "../run/states";
import { TIMING } from "../run/timing";
import type { Stores } from "../record/stores";
import type { Canaries } from "./canaries";
import type { Holds } from "./holds";
import type { Queue } from "./queue";
import type { UsageReports } from "./usage-reports";

/** Delivers the entries of a run's outbox. The process that wrote an entry delivers it; the relay delivers the rest. */

export interface OutboxOptions {
  stores: Pick<Stores, "rows" | "batches">;
  holds: Pick<Holds, "void">;
  queue: Pick<Queue, "leave">;
  reports: UsageReports;
  /** Sends messages to the run's webhook and to the owner's endpoints. */
  webhooks: {
    end(row: ExecutionView): Promise<void>;
    waiting(row: ExecutionView, nodeId: string): Promise<void>;
  };
  canaries: Canaries;
  /** Mails the approvers of a node. */
  mailApprovers: (row: ExecutionView, nodeId: string) => Promise<void>;
  /** Removes the data that is stored outside the row of an erased run. */
  erase: (row: ExecutionView) => Promise<void>;
  starter: { cancel(executionId: string): Promise<void>; decided(executionId: string, nodeId: string): Promise<void> };
  logger: Logger;
}

const runStart = (row: ExecutionView): usageProto.RunStart => ({
  executionId: row._id,
  userId: row.userId,
  workflowSlug: row.workflowSlug ?? undefined,
  modelIds: row.modelIds,
  source: row.source,
  startedAt: row.createdAt,
  metadata: metadataOf(row.metadata),
  keyId: row.keyId ?? "",
});

const finishedRun = (row: ExecutionView): usageProto.FinishRunRequest => ({
  run: runStart(row),
  status: row.status,
  costMicroUsd: row.costs?.costMicroUsd ?? 0,
  userCostMicroUsd: row.costs?.userCostMicroUsd ?? 0,
  millicredits: row.millicredits,
  modelCredits: row.modelCredits ?? [],
  estimatedMillicredits: row.estimatedMillicredits,
  durationMs: row.durationMs ?? 0,
  errorCode: row.error?.code,
  requestId: row.requestId ?? undefined,
  // The relay or a 202 response creates the usage row of a synchronous run, unless the run has already ended.
  unstarted: row.claimedBy === undefined || (row.mode === "sync" && (row.durationMs ?? 0) < TIMING.unstartedUsage),
});

/** Node ids can contain colons. */
const nodeOf = (entry: OutboxEntry): string => entry.slice(entry.indexOf(":") + 1);

const countItem = async ({ batches }: Pick<Stores, "batches">, row: ExecutionView): Promise<void> => {
  const { batchId, index } = row;
  if (batchId !== undefined && index !== undefined) await batches.endItem(batchId, itemEndOf(index, row));
};

export type Outbox = ReturnType<typeof createOutbox>;

export const createOutbox = ({
  stores,
  holds,
  queue,
  reports,
  webhooks,
  canaries,
  mailApprovers,
  erase,
  starter,
  logger,
}: OutboxOptions) => {
  const send = async (row: ExecutionView, entry: OutboxEntry): Promise<void> => {
    const { _id: executionId, userId } = row;
    const [what, attempt] = entry.split(":");
    switch (what) {
      case "void":
        await canaries.release(row, holdIdOf(executionId, Number(attempt)));
        return holds.void(holdIdOf(executionId, Number(attempt)), userId);
      case "place":
        return queue.leave(userId, [holdIdOf(executionId, Number(attempt))]);
      case "usage":
        return isFinal(row) ? reports.finished(finishedRun(row)) : reports.started(runStart(row));
      case "webhook":
        return webhooks.end(row);
      case "batch":
        return isFinal(row) ? countItem(stores, row) : undefined;
      case "canary":
        return isFinal(row) ? canaries.count(row) : undefined;
      case "erase":
        return erase(row);
      case "cancel":
        // The workflow of a final run has ended or is about to end.
        return isFinal(row) ? undefined : starter.cancel(executionId);
      case "decided":
        return isFinal(row) ? undefined : starter.decided(executionId, nodeOf(entry));
      case "waiting":
        // A synchronous run that waits for a decision is answered with 202.
        return webhooks.waiting(row, nodeOf(entry));
      case "mail":
        return mailApprovers(row, nodeOf(entry));
      default:
        return undefined;
    }
  };

  const { deliver, deliverLater, drain } = createPlatformOutbox<ExecutionView, OutboxEntry>({
    entriesOf: (row) => row.outbox,
    idOf: ({ _id }, entry) => `${_id}:${entry}`,
    send,
    clear: stores.rows.clear,
    logger,
  });

  return {
    deliver,
    deliverLater,
    drain,
    /**
     * Delivers the outbox before the row's change is announced. A slow delivery continues in the background.
     * @returns the row with the undelivered entries in its outbox
     */
    deliverFirst: async <Row extends ExecutionView>(row: Row): Promise<Row> => {
      const isDelivered = row.outbox.length === 0 || (await withTimeout(deliverLater(row), TIMING.deliverFirst, () => false));
      return isDelivered ? { ...row, outbox: [] } : row;
    },
  };
};
