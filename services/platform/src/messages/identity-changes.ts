/** messages/: message formats shared by several services. */

/**
 * A change of identity data after which caches must drop entries: a key (renamed, revoked, rotated, or its webhook changed), a user (tier,
 * role or approval), a custom tier, or an organization (name or members). It is published as JSON after the change is stored. Messages can
 * be lost, so cached entries also have a short lifetime.
 */
export interface IdentityChange {
  type: (typeof TYPES)[number];
  id: string;
}

const TYPES = ["key", "user", "tier", "organization"] as const;
const isType = (type: unknown): type is IdentityChange["type"] => (TYPES as readonly unknown[]).includes(type);

export const identityChangedChannel = (prefix: string): string => `${prefix}identity:changed`;

/** @returns undefined for a message in an unknown format */
export const parseIdentityChange = (message: string): IdentityChange | undefined => {
  try {
    const { type, id } = JSON.parse(message) as Partial<Record<keyof IdentityChange, unknown>>;
    return isType(type) && typeof id === "string" ? { type, id } : undefined;
  } catch {
    return undefined;
  }
};
