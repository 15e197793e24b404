/**
 * Stands in a list for an item that was left out because its call failed. It keeps the places of the others: a node that pairs lists
 * skips its place, and one that takes a list as a whole takes it without.
 */
export const ABSENT: unique symbol = Symbol("absent");

export const isAbsent = (value: unknown): value is typeof ABSENT => value === ABSENT;

/** A value as it is taken whole: a list without the places of items that were left out. */
export const withoutAbsent = (value: unknown): unknown =>
  Array.isArray(value) && value.includes(ABSENT) ? (value as unknown[]).filter((one) => one !== ABSENT) : value;
