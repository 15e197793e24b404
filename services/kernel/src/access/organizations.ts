import { ALL, BY_NAME, covers, isByName } from "./capabilities";

/** Roles and bounds of organizations. In an organization, several people share one account's resources. */

/** In descending order. Each role includes the rights of all roles after it. */
export const ROLES = ["owner", "editor", "runner", "viewer"] as const;
export type Role = (typeof ROLES)[number];

export const ORGANIZATION_BOUNDS = {
  /** Maximum organizations per person. */
  memberships: 50,
  members: 100,
  /** Maximum open invitations per organization. */
  invitations: 100,
  invitationDays: 7,
  /** Maximum owners who get an email about one event. Owners of longest standing come first. */
  mailedOwners: 10,
} as const;

const READS = ["workflow:read", "execution:read"] as const;
const RUNS = [...READS, "workflow:run", "model:run", "execution:cancel", "webhook:receive", "agent:invoke"] as const;

/** Maximum capabilities of members by role; null means all capabilities of the tier. */
const ROLE_CAPABILITIES: Readonly<Record<Role, readonly string[] | null>> = { owner: null, editor: null, runner: RUNS, viewer: READS };

const isWildcard = (capability: string): boolean => capability === ALL || /^[a-z]+:\*$/.test(capability);

export const isRole = (value: string): value is Role => (ROLES as readonly string[]).includes(value);

export const roleReaches = (have: Role, need: Role): boolean => ROLES.indexOf(have) <= ROLES.indexOf(need);

/** Limits capabilities to a list of allowed ones. A wildcard is replaced by the allowed capabilities that it includes. */
export const withinGrants = (capabilities: readonly string[], allowed: readonly string[]): string[] => {
  const allowedCapabilities = capabilities.flatMap((capability) => {
    if (covers(allowed, capability)) return [capability];
    return isWildcard(capability) ? allowed.filter((one) => covers([capability], one)) : [];
  });
  return [...new Set(allowedCapabilities)];
};

/** Limits capabilities to a role. A wildcard is replaced by the role's capabilities that it includes. */
export const withinRole = (capabilities: readonly string[], role: Role): string[] => {
  const allowed = ROLE_CAPABILITIES[role];
  const hasName = (one: string): boolean => isByName(one) && roleReaches(role, BY_NAME[one].role);
  if (allowed === null) return capabilities.filter((one) => !isByName(one) || hasName(one));
  const others = capabilities.filter((one) => !isByName(one));
  return [...withinGrants(others, allowed), ...new Set(capabilities.filter(hasName))];
};
