/**
 * Errors of single writes in an unordered bulk command, by index, converted to errors of single commands. Undefined if the command itself
 * failed or wasn't acknowledged, so that the outcome of every write is unknown.
 */
export const bulkFailures = (error: unknown): ReadonlyMap<number, Error> | undefined => {
  const { writeErrors, result } = error as { writeErrors?: unknown; result?: { getWriteConcernError?(): unknown } };
  const errors = [writeErrors ?? []].flat() as { index: number; code: number; errmsg?: string }[];
  if (errors.length === 0 || result?.getWriteConcernError?.() !== undefined) return undefined;
  return new Map(errors.map(({ index, code, errmsg }) => [index, Object.assign(new Error(errmsg ?? "a write failed"), { code })]));
};
