import { replyWith, type Account, type CommandContext, type Transition } from "../account";

/** Command that asks which of these reservations the account has. */
export interface FindReservedCommand extends CommandContext {
  type: "findReserved";
  ids: readonly string[];
}

/**
 * Returns the reservations that belong to a hold or wait in the outbox for settlement. If one is missing, the account's revision changes,
 * so that a hold decided earlier with that reservation can't be written afterwards.
 */
export const findReserved = (account: Account, { ids }: FindReservedCommand): Transition<ReadonlySet<string>> => {
  const heldReservations = account.holds.flatMap(({ counted = [] }) => counted.flatMap(({ reserved }) => (reserved ? [reserved.id] : [])));
  const settled = account.outbox.flatMap((row) => (row.settled ?? []).map(({ id }) => id));
  const knownIds = new Set([...heldReservations, ...settled]);
  const isComplete = account.revision === 0 || ids.every((id) => knownIds.has(id));
  return replyWith(isComplete ? account : { ...account }, knownIds);
};
