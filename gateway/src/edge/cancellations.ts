import type { Logger, Redis } from "@nodeloom/platform";

/**
 * Runs that were called off, by their ids. A client may call off what it has just asked for, and another gateway may hear of that
 * before the run exists: who calls off notes it first and then cancels, who begins looks for a note afterwards, so that one of
 * both finds the other.
 */
export interface Cancellations {
  note(executionId: string): Promise<void>;
  isNoted(executionId: string): Promise<boolean>;
}

/** Far longer than a run takes to begin. */
const KEPT_SECONDS = 120;

/** Without Redis only what has begun can be called off. */
export const createCancellations = ({ redis, keyPrefix, logger }: { redis: Redis; keyPrefix: string; logger: Logger }): Cancellations => {
  const keyOf = (executionId: string): string => `${keyPrefix}called-off:${executionId}`;
  const tolerate = (error: Error): undefined => void logger.warn({ reason: error.message }, "cancellations are not kept now");
  return {
    note: async (executionId) => {
      await redis.set(keyOf(executionId), "1", "EX", KEPT_SECONDS).catch(tolerate);
    },
    isNoted: async (executionId) => (await redis.exists(keyOf(executionId)).catch(tolerate)) === 1,
  };
};
