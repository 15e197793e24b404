/**
 * Marks the position of a skipped item in a list, so that nodes that pair lists stay aligned. Nodes that accept the whole list get it
 * without the mark.
 */
export const ABSENT: unique symbol = Symbol("absent");

export const isAbsent = (value: unknown): value is typeof ABSENT => value === ABSENT;

/** Removes the marks of skipped items from a list. */
export const withoutAbsent = (value: unknown): unknown =>
  Array.isArray(value) && value.includes(ABSENT) ? (value as unknown[]).filter((one) => one !== ABSENT) : value;
