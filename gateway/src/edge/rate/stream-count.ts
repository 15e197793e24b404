import { DomainError } from "@nodeloom/kernel";

export interface StreamCount {
  /**
   * Takes one of a user's stream slots. The returned function frees it.
   * @throws CONCURRENCY_LIMIT_EXCEEDED if none is left
   */
  take(userId: string): () => void;
}

const RETRY_AFTER_SECONDS = 5;

/** Bounds a user's open streams at this gateway. */
export const createStreamCount = (limit: number): StreamCount => {
  const open = new Map<string, number>();
  return {
    take: (userId) => {
      const count = open.get(userId) ?? 0;
      if (count >= limit) {
        const metadata = { limit, retryAfter: RETRY_AFTER_SECONDS };
        throw new DomainError("exhausted", "CONCURRENCY_LIMIT_EXCEEDED", `at most ${limit} event streams can be open: close one`, metadata);
      }
      open.set(userId, count + 1);
      return () => {
        const remaining = (open.get(userId) ?? 1) - 1;
        if (remaining > 0) open.set(userId, remaining);
        else open.delete(userId);
      };
    },
  };
};
