/** Rules for runs and batches whose retention is set by their workflow or request. */
import { DomainError, erasedAfter } from "@nodeloom/kernel";

/** @param wish clause that starts with "it can't" @throws SOURCE_ERASED for a run or batch with a retention of 0 days */
export const checkNotEmptied = ({ retentionDays }: { retentionDays?: number | undefined }, wish: string): void => {
  if (retentionDays !== 0) return;
  const message = `${wish}: with retentionDays 0, everything but its status and its result is removed at its end`;
  throw new DomainError("conflict", "SOURCE_ERASED", message);
};

/** Returns when a run is erased or emptied after its end. An item is erased with its batch, unless it is emptied at its end. */
export const eraseAtEnd = (retentionDays: number | undefined, isItem: boolean, finishedAt: Date): { eraseAt?: Date } => {
  if (retentionDays === undefined || (isItem && retentionDays > 0)) return {};
  return { eraseAt: retentionDays === 0 ? finishedAt : erasedAfter(retentionDays, finishedAt) };
};
