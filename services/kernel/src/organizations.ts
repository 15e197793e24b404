import { ALL, covers } from "./capabilities";

/** Organizations: several people who share what one account owns. The one table of roles and bounds. */

/** What members are, from what may most to what may least: each may what those behind it may. */
export const ROLES = ["owner", "editor", "runner", "viewer"] as const;
export type Role = (typeof ROLES)[number];

export const ORGANIZATION_BOUNDS = {
  /** Made by one person and not left by them. */
  perPerson: 5,
  /** Of which one person is a member. */
  memberships: 50,
  members: 100,
  /** That can still be used, of one organization. */
  invitations: 100,
  invitationDays: 7,
  /** That are mailed of one thing: the longest-standing. */
  mailedOwners: 10,
} as const;

const READS = ["workflow:read", "execution:read"] as const;
const RUNS = [...READS, "workflow:run", "model:run", "execution:cancel", "webhook:receive", "agent:invoke"] as const;

/** The capabilities that members have at most; null: all that the tier has. */
const ROLE_CAPABILITIES: Readonly<Record<Role, readonly string[] | null>> = { owner: null, editor: null, runner: RUNS, viewer: READS };

export const isRole = (value: string): value is Role => (ROLES as readonly string[]).includes(value);

/** Whether a role may at least what another may. */
export const roleReaches = (have: Role, need: Role): boolean => ROLES.indexOf(have) <= ROLES.indexOf(need);

/** What is left of capabilities in a role. Of a wildcard those that the role has are left. */
export const withinRole = (capabilities: readonly string[], role: Role): string[] => {
  const allowed = ROLE_CAPABILITIES[role];
  if (allowed === null) return [...capabilities];
  const left = capabilities.flatMap((capability) => {
    const isWildcard = capability === ALL || /^[a-z]+:\*$/.test(capability);
    if (isWildcard) return allowed.filter((one) => covers([capability], one));
    return covers(allowed, capability) ? [capability] : [];
  });
  return [...new Set(left)];
};
