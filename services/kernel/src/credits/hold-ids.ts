/**
 * Id of one attempt at a run, in billing and in the queue. Each attempt has its own id, so an attempt can't spend or release the hold or
 * queue position of another.
 */
export const holdIdOf = (executionId: string, attempt: number): string => `${executionId}.${attempt}`;
export const executionOf = (holdId: string): string => holdId.slice(0, holdId.lastIndexOf("."));
