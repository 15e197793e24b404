/**
 * What billing and the line know an attempt at a run by: what one attempt released is never spent by the next, and the place
 * that one leaves is never the next one's.
 */
export const holdIdOf = (executionId: string, attempt: number): string => `${executionId}.${attempt}`;
/** The execution of a hold. */
export const executionOf = (holdId: string): string => holdId.slice(0, holdId.lastIndexOf("."));
