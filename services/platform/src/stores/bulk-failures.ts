/**
 * The errors of single writes of an unordered bulk command, by their place in it; undefined where the command itself failed, or was
 * not acknowledged as asked, so that nothing is known of any. The driver's are no errors: these have what one of a command by itself has.
 */
export const bulkFailures = (error: unknown): ReadonlyMap<number, Error> | undefined => {
  const { writeErrors, result } = error as { writeErrors?: unknown; result?: { getWriteConcernError?(): unknown } };
  const errors = [writeErrors ?? []].flat() as { index: number; code: number; errmsg?: string }[];
  if (errors.length === 0 || result?.getWriteConcernError?.() !== undefined) return undefined;
  return new Map(errors.map(({ index, code, errmsg }) => [index, Object.assign(new Error(errmsg ?? "a write failed"), { code })]));
};
