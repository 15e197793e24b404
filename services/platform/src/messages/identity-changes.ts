/** messages/: formats that several services share. */

/**
 * Identity data that caches must drop: one key (renamed, revoked, rotated, its webhook changed), one user (tier, role, approval), one
 * custom tier, or one organization (its name, its members). It is published as JSON after the change is stored. A message can be lost,
 * so every cached entry also has a short lifetime.
 */
export interface IdentityChange {
  type: (typeof TYPES)[number];
  id: string;
}

const TYPES = ["key", "user", "tier", "organization"] as const;
const isType = (type: unknown): type is IdentityChange["type"] => (TYPES as readonly unknown[]).includes(type);

export const identityChangedChannel = (prefix: string): string => `${prefix}identity:changed`;

/** @returns undefined for a message in another format */
export const parseIdentityChange = (message: string): IdentityChange | undefined => {
  try {
    const { type, id } = JSON.parse(message) as Partial<Record<keyof IdentityChange, unknown>>;
    return isType(type) && typeof id === "string" ? { type, id } : undefined;
  } catch {
    return undefined;
  }
};
