/**
 * The errors of an unordered bulk command's single writes by their index, as errors of single commands. Undefined where the command
 * itself failed, or was not acknowledged: nothing is known of any write then.
 */
export const bulkFailures = (error: unknown): ReadonlyMap<number, Error> | undefined => {
  const { writeErrors, result } = error as { writeErrors?: unknown; result?: { getWriteConcernError?(): unknown } };
  const errors = [writeErrors ?? []].flat() as { index: number; code: number; errmsg?: string }[];
  if (errors.length === 0 || result?.getWriteConcernError?.() !== undefined) return undefined;
  return new Map(errors.map(({ index, code, errmsg }) => [index, Object.assign(new Error(errmsg ?? "a write failed"), { code })]));
};
