/**
 * The errors of single writes of an unordered bulk command, by their place in it; undefined where the command itself failed, or was
 * not acknowledged as asked, so that nothing is known of any.
 */
export const bulkFailures = (error: unknown): ReadonlyMap<number, Error> | undefined => {
  const { writeErrors, result } = error as { writeErrors?: unknown; result?: { getWriteConcernError?(): unknown } };
  const errors = [writeErrors ?? []].flat() as (Error & { index: number })[];
  if (errors.length === 0 || result?.getWriteConcernError?.() !== undefined) return undefined;
  return new Map(errors.map((one) => [one.index, one]));
};
