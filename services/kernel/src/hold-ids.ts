/**
 * What billing and the line know an attempt at a run by: what one attempt released is never spent by the next, and the place
 * that one leaves is never the next one's.
 */
export const holdIdOf = (executionId: string, attempt: number): string => `${executionId}.${attempt}`;
/** @returns undefined for ids of before attempts were numbered */
export const executionOf = (holdId: string): string | undefined => /^(.+)\.\d+$/.exec(holdId)?.[1];
