/** Runs and batches that are kept for the days that their workflow or their request sets. */
import { DomainError, erasedAfter } from "@nodeloom/kernel";

/** @param wish begins with "it can't" @throws SOURCE_ERASED for a run or batch that is kept for 0 days */
export const checkNotEmptied = ({ retentionDays }: { retentionDays?: number | undefined }, wish: string): void => {
  if (retentionDays !== 0) return;
  const message = `${wish}: with retentionDays 0, everything but its status and its result is removed at its end`;
  throw new DomainError("conflict", "SOURCE_ERASED", message);
};

/** When a run that ends is looked at. An item follows its batch, unless it is emptied at its end. */
export const eraseAtEnd = (retentionDays: number | undefined, isItem: boolean, finishedAt: Date): { eraseAt?: Date } => {
  if (retentionDays === undefined || (isItem && retentionDays > 0)) return {};
  return { eraseAt: retentionDays === 0 ? finishedAt : erasedAfter(retentionDays, finishedAt) };
};
