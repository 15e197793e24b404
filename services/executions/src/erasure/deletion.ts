/** Deletes runs for their owners. */
import { DomainError, executionNotFound, unavailable } from "@nodeloom/kernel";
import type { AwaitDelivered } from "../record/runs/channel";
import type { Outbox } from "../lifecycle/outbox";
import { metadataKeys, type ExecutionView } from "../run/record";
import { isFinal } from "../run/states";
import type { Stores } from "../record/stores";

export interface RunDeletionOptions {
  stores: Pick<Stores, "rows" | "tombstones">;
  outbox: Pick<Outbox, "deliverLater">;
  awaitDelivered: AwaitDelivered;
}

export type RunDeletion = ReturnType<typeof createRunDeletion>;

const hasMetadata = (row: ExecutionView, metadata: Readonly<Record<string, string>>): boolean =>
  metadataKeys(metadata).every((key) => row.metadata?.includes(key) === true);

/**
 * Deletes a final run. Readers no longer find it, and its outbox removes the remaining data.
 * @param metadata entries that the run must have
 * @throws EXECUTION_NOT_FOUND, EXECUTION_NOT_FINAL; SERVICE_UNAVAILABLE while the end of the run is still being reported
 */
export const createRunDeletion =
  ({ stores, outbox, awaitDelivered }: RunDeletionOptions) =>
  async (executionId: string, userId: string, metadata: Readonly<Record<string, string>>): Promise<void> => {
    const row = await stores.rows.findOwned(executionId, userId);
    if (!row || !hasMetadata(row, metadata)) throw executionNotFound();
    if (!isFinal(row))
      throw new DomainError("conflict", "EXECUTION_NOT_FINAL", "the execution is not over: cancel it, or wait for its end, then delete it");
    await awaitDelivered(row);
    const buried = await stores.tombstones.bury(row);
    if (buried) return void outbox.deliverLater(buried);
    if (!(await stores.rows.findOwned(executionId, userId))) throw executionNotFound();
    throw unavailable("the end of the execution is still being reported", 2);
  };
