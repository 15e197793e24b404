/** messages/: what several parts read of one another in the same way. */

/**
 * Identity data that caches must drop: one key (renamed, revoked, rotated, its webhook changed), one user (tier, role, approval) or one
 * custom tier. It is published as JSON after the change is stored. A message may be lost, so that every cached entry also has a short
 * lifetime.
 */
export interface IdentityChange {
  type: "key" | "user" | "tier";
  id: string;
}

export const identityChangedChannel = (prefix: string): string => `${prefix}identity:changed`;

/** @returns undefined for a message that has another form */
export const parseIdentityChange = (message: string): IdentityChange | undefined => {
  try {
    const { type, id } = JSON.parse(message) as Partial<Record<keyof IdentityChange, unknown>>;
    return (type === "key" || type === "user" || type === "tier") && typeof id === "string" ? { type, id } : undefined;
  } catch {
    return undefined;
  }
};
