import type { ERASURE, ErasedCollection } from "@nodeloom/kernel";
import type { erasure } from "@nodeloom/proto";
import { unary } from "../grpc";
import { createRemoval, type Removal, type RemoveStep } from "./removal";

/** Erases one page of what a service keeps of an account; it may be repeated, and cut short anywhere. */
export type Erase = (ownerId: string, cursor: string) => Promise<Removal>;

/** A step for each collection of a service that the table of erasure has as removed or emptied, in the order in which they are done. */
export type ErasureSteps<S extends keyof typeof ERASURE> = Readonly<Record<ErasedCollection<S>, RemoveStep>>;

/** A service's `Erase`. @param stepsOf the steps of one account */
export const createErasure =
  <S extends keyof typeof ERASURE>(stepsOf: (ownerId: string) => ErasureSteps<S>): Erase =>
  (ownerId, cursor) =>
    createRemoval(stepsOf(ownerId))(cursor);

export const erasureHandlers = (erase: Erase): erasure.ErasureServiceServer => ({
  erase: unary(async ({ ownerId, cursor }) => {
    const { removed, nextCursor } = await erase(ownerId, cursor);
    return { erased: removed, nextCursor };
  }),
});
