/** Does work under a signal that aborts with its own or with the long-lived one, until the work is over. */
export type Following = <T>(own: AbortSignal, work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/**
 * Lets the signals of short works follow one that lives as long as the process. Not by AbortSignal.any: in Node 20 each of its
 * signals leaves a trace in the long-lived one for ever.
 */
export const createFollowing = (longLived: AbortSignal): Following => {
  const followers = new Set<AbortController>();
  longLived.addEventListener("abort", () => followers.forEach((follower) => follower.abort(longLived.reason)), { once: true });

  return async (own, work) => {
    const follower = new AbortController();
    const follow = (): void => follower.abort(own.reason);
    if (own.aborted) follow();
    if (longLived.aborted) follower.abort(longLived.reason);
    own.addEventListener("abort", follow, { once: true });
    followers.add(follower);
    try {
      return await work(follower.signal);
    } finally {
      followers.delete(follower);
      own.removeEventListener("abort", follow);
    }
  };
};
