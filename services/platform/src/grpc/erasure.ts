import { invalidRequest, type ERASURE, type ErasedCollection } from "@nodeloom/kernel";
import type { erasure } from "@nodeloom/proto";
import { unary } from ".";
import { createRemoval, type Removal, type RemoveStep } from "../work/removal";

/** Erases one page of a service's data about an account. It can be repeated, and it can stop at any point. */
export type Erase = (ownerId: string, cursor: string) => Promise<Removal>;

/** One step per collection that the erasure table lists as removed or emptied, in order. */
export type ErasureSteps<S extends keyof typeof ERASURE> = Readonly<Record<ErasedCollection<S>, RemoveStep>>;

/**
 * Creates a service's `Erase`.
 * @param stepsOf returns the steps for one account
 * @param elsewhereOf returns steps for data outside the database. They come first, because rows can point to that data
 */
export const createErasure =
  <S extends keyof typeof ERASURE>(
    stepsOf: (ownerId: string) => ErasureSteps<S>,
    elsewhereOf: (ownerId: string) => Readonly<Record<string, RemoveStep>> = () => ({}),
  ): Erase =>
  (ownerId, cursor) =>
    createRemoval({ ...elsewhereOf(ownerId), ...stepsOf(ownerId) })(cursor);

/** Erases a service's data about some of an account's runs. It can be repeated. */
export type EraseRuns = (ownerId: string, executionIds: readonly string[]) => Promise<void>;

const MOST_RUNS = 100;

export interface ErasedMetadata {
  ownerId: string;
  name: string;
  value: string;
  /** Values that matching rows must also have. */
  within: Readonly<Record<string, string>>;
}

/** Erases one metadata value of an account. It can be repeated. */
export type EraseMetadata = (erased: ErasedMetadata) => Promise<void>;

/** Functions of a service that erase runs and metadata; absent if the service stores none. */
export interface EraseParts {
  runs?: EraseRuns;
  metadata?: EraseMetadata;
}

export const erasureHandlers = (erase: Erase, parts: EraseParts = {}): erasure.ErasureServiceServer => ({
  erase: unary(async ({ ownerId, cursor }) => {
    const { removed, nextCursor } = await erase(ownerId, cursor);
    return { erased: removed, nextCursor };
  }),
  eraseRuns: unary(async ({ ownerId, executionIds }) => {
    if (executionIds.length > MOST_RUNS) throw invalidRequest([{ path: "execution_ids", message: `must be at most ${MOST_RUNS}` }]);
    await parts.runs?.(ownerId, executionIds);
    return {};
  }),
  eraseMetadata: unary(async (erased) => {
    await parts.metadata?.(erased);
    return {};
  }),
});
