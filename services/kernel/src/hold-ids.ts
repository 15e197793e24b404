/**
 * Id of one attempt at a run in billing and in the queue. Attempts don't share ids, so one attempt can't spend or release the hold or the
 * queue position of another.
 */
export const holdIdOf = (executionId: string, attempt: number): string => `${executionId}.${attempt}`;
export const executionOf = (holdId: string): string => holdId.slice(0, holdId.lastIndexOf("."));
