/** Reads batches. A batch of another owner is reported as missing. */
import { DomainError } from "@nodeloom/kernel";
import type { BatchRecord } from "../run/batch";
import type { Stores } from "../record/stores";

export const batchNotFound = (): DomainError => new DomainError("not_found", "NOT_FOUND", "there is no such batch");

export const createOwned =
  (batches: Pick<Stores["batches"], "findOwned">) =>
  /** @throws NOT_FOUND */
  async (batchId: string, userId: string): Promise<BatchRecord> => {
    const batch = await batches.findOwned(batchId, userId);
    if (!batch) throw batchNotFound();
    return batch;
  };
