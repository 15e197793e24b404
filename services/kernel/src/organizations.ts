import { ALL, BY_NAME, covers, isByName } from "./capabilities";

/** Organizations: several people share one account's resources. Roles and bounds. */

/** In descending order: each role includes the rights of the ones after it. */
export const ROLES = ["owner", "editor", "runner", "viewer"] as const;
export type Role = (typeof ROLES)[number];

export const ORGANIZATION_BOUNDS = {
  /** Organizations per person. */
  memberships: 50,
  members: 100,
  /** Open invitations per organization. */
  invitations: 100,
  invitationDays: 7,
  /** Owners that get a mail about one event; the longest-standing first. */
  mailedOwners: 10,
} as const;

const READS = ["workflow:read", "execution:read"] as const;
const RUNS = [...READS, "workflow:run", "model:run", "execution:cancel", "webhook:receive", "agent:invoke"] as const;

/** Upper bound of members' capabilities by role; null: everything in the tier. */
const ROLE_CAPABILITIES: Readonly<Record<Role, readonly string[] | null>> = { owner: null, editor: null, runner: RUNS, viewer: READS };

const isWildcard = (capability: string): boolean => capability === ALL || /^[a-z]+:\*$/.test(capability);

export const isRole = (value: string): value is Role => (ROLES as readonly string[]).includes(value);

export const roleReaches = (have: Role, need: Role): boolean => ROLES.indexOf(have) <= ROLES.indexOf(need);

/** Capabilities limited to others. A wildcard becomes those that it includes. */
export const withinGrants = (capabilities: readonly string[], allowed: readonly string[]): string[] => {
  const left = capabilities.flatMap((capability) => {
    if (covers(allowed, capability)) return [capability];
    return isWildcard(capability) ? allowed.filter((one) => covers([capability], one)) : [];
  });
  return [...new Set(left)];
};

/** Capabilities limited to a role. A wildcard becomes the role's capabilities that it includes. */
export const withinRole = (capabilities: readonly string[], role: Role): string[] => {
  const allowed = ROLE_CAPABILITIES[role];
  const hasName = (one: string): boolean => isByName(one) && roleReaches(role, BY_NAME[one].role);
  if (allowed === null) return capabilities.filter((one) => !isByName(one) || hasName(one));
  const others = capabilities.filter((one) => !isByName(one));
  return [...withinGrants(others, allowed), ...new Set(capabilities.filter(hasName))];
};
