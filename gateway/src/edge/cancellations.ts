import type { Logger, Redis } from "@nodeloom/platform";

/**
 * Cancels runs by id. A client can cancel a run that it has just requested, before another gateway has started it. Cancelling stores a note
 * and then cancels the run; starting a run looks for a note afterwards. So at least one of them sees the other.
 */
export interface Cancellations {
  note(executionId: string): Promise<void>;
  isNoted(executionId: string): Promise<boolean>;
}

/** Far longer than starting a run takes. */
const KEPT_SECONDS = 120;

/** Without Redis only started runs can be cancelled. */
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
