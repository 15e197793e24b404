/** messages/: what several parts read of one another in the same way. */

/**
 * What became stale for those who cache identity: one key (renamed, revoked, rotated, its webhook changed), one user
 * (tier, role, approval) or one custom tier. Published as JSON on the channel below after the change is stored.
 * A message may be lost (Redis away, publisher killed): it makes a change visible at once, and the short lifetime of
 * every cached entry makes it visible in any case.
 */
export interface IdentityChange {
  type: "key" | "user" | "tier";
  /** The key's, user's or tier's id. */
  id: string;
}

/** The Redis channel of identity changes; the prefix is REDIS_KEY_PREFIX. */
export const identityChangedChannel = (prefix: string): string => `${prefix}identity:changed`;

/** Reads a message of the channel; undefined when it is none of ours. */
export const parseIdentityChange = (message: string): IdentityChange | undefined => {
  try {
    const { type, id } = JSON.parse(message) as Partial<Record<keyof IdentityChange, unknown>>;
    return (type === "key" || type === "user" || type === "tier") && typeof id === "string" ? { type, id } : undefined;
  } catch {
    return undefined;
  }
};
