import {
  accountLeaving,
  accountNotApproved,
  ALL,
  covers,
  isBaseTier,
  isRole,
  isSlug,
  lowestTierFor,
  PLANS,
  withOwnCaps,
  capsFromNumbers,
  roleDenied,
  roleReaches,
  sessionCapabilities,
  withinCeiling,
  withinRole,
  type BaseTier,
  type Plan,
  type Role,
} from "@nodeloom/kernel";
import type { identity } from "@nodeloom/proto";
import { capabilityDenied, sessionRequired, unauthenticated } from "../http/errors";

/** Callers of a route: anyone; a key or a session; a session; an administrator; an administrator by session; the sender of a hook. */
export type Auth = "none" | "any" | "session" | "admin" | "admin-session" | "hook";

/** Role that a route needs in an organization, or `self` if it concerns the person only. */
export type NeededRole = Role | "self";

export interface CallerUser {
  id: string;
  /** Empty for an organization. */
  email: string;
  role: string;
  tier: string;
  approved: boolean;
  suspended: boolean;
  /** Increased when all of the user's sessions end; sessions with a lower epoch are over. */
  sessionEpoch: number;
  /** Signing in by password also needs a code. */
  secondFactor: boolean;
  /** When the account will be erased, if that was requested. */
  erasesAt: Date | undefined;
  plan: Plan;
  business: { name: string; verified: boolean } | null;
  /** True for a service account, which acts only through its keys. */
  service: boolean;
  /** Events that the account's webhook endpoints want. */
  endpointEvents: readonly string[];
}

export interface CallerOrganization {
  name: string;
  role: Role;
  /** Owner whose tier applies to the organization. */
  tierOf: string;
}

export interface CallerKey {
  id: string;
  /** Set if the key has an enabled webhook. */
  webhook: { url: string; events: string[] } | null;
  /** Metadata added to every run. */
  metadata: Readonly<Record<string, string>>;
  /** The only workflow alias that the key can run; empty or absent if it can run any. */
  alias?: string | undefined;
}

/** Names of headers that the hook's sender uses. */
export interface CallerHook {
  secretHash: string;
  /** Null if no signature is required. */
  signatureHeader: string | null;
  /** Null if each request starts a run. */
  deliveryIdHeader: string | null;
}

/** A visitor of an app, with the metadata added to every run. */
export interface CallerVisitor {
  slug: string;
  id: string;
  metadata: Readonly<Record<string, string>>;
}

/** The sender of a request, resolved from an API key, a session or a hook's address. */
export interface Caller {
  /** The account that the request acts for, a person's or an organization's, with its resources, credits and rights. */
  user: CallerUser;
  /** The person in audit rows and for rate limits. */
  person: CallerUser;
  /** Set if the account belongs to an organization. */
  organization?: CallerOrganization;
  /** True for an administrator's own account, never for an organization's. */
  isAdmin: boolean;
  capabilities: readonly string[];
  /** Null for a session. */
  key: CallerKey | null;
  /** Set for the sender of a hook, who can only start its runs, in its owner's name. */
  hook?: CallerHook;
  /** Set for a visitor of an app, whose runs are in the owner's name. */
  visitor?: CallerVisitor;
}

/** Key for rate limits: one per person, and one for all service accounts of an account. */
export const countedAs = ({ user, person }: Pick<Caller, "user" | "person">): string =>
  person.service ? `service:${user.id}` : `user:${person.id}`;

/** Namespace of idempotency keys: the user's, or the visitor's own. */
export const idempotencyOwner = ({ user, visitor }: Pick<Caller, "user" | "visitor">): string =>
  visitor ? JSON.stringify([user.id, visitor.slug, visitor.id]) : user.id;

const toPlan = (plan: identity.Plan | undefined, tier: string): Plan => {
  const base: BaseTier = plan && isBaseTier(plan.base) ? plan.base : isBaseTier(tier) ? tier : "free";
  if (!plan) return PLANS[base];
  const { markupPermille, monthlyMillicredits, concurrency, rateLimitPerMinute = null } = plan;
  const caps = withOwnCaps(PLANS[base].caps, capsFromNumbers(plan.caps));
  return { ...PLANS[base], tier: plan.tier || tier, rateLimitPerMinute, markupPermille, monthlyMillicredits, concurrency, caps };
};

export const toCallerUser = (user: identity.User): CallerUser => ({
  id: user.id,
  email: user.email,
  role: user.role,
  tier: user.tier,
  approved: user.approved,
  suspended: user.suspended,
  sessionEpoch: user.sessionEpoch,
  secondFactor: user.secondFactor,
  erasesAt: user.erasesAt,
  plan: toPlan(user.plan, user.tier),
  business: user.business ? { name: user.business.name, verified: user.business.verified } : null,
  service: user.service,
  endpointEvents: user.endpointEvents,
});

export const ADMIN = "admin";

/** A person's session for their own account. */
export const personCaller = (person: CallerUser): Caller => {
  const isAdmin = person.role === ADMIN;
  return { user: person, person, isAdmin, capabilities: sessionCapabilities(person.plan.base, isAdmin), key: null };
};

/** An organization's account for one of its members. Both need approval to run. */
export interface OrganizationAccount {
  user: CallerUser;
  organization: CallerOrganization;
}

export const toOrganizationAccount = (account: identity.User, role: string): OrganizationAccount => {
  if (!account.organization || !isRole(role)) throw new Error("identity answered without an organization's account and a role");
  return { user: toCallerUser(account), organization: { ...account.organization, role } };
};

/** A person's session for an organization. */
export const memberCaller = (person: CallerUser, { user, organization }: OrganizationAccount): Caller => ({
  user: { ...user, approved: user.approved && person.approved },
  person,
  organization,
  isAdmin: false,
  capabilities: withinRole(sessionCapabilities(user.plan.base), organization.role),
  key: null,
});

/**
 * Rejects callers whose account isn't approved or is scheduled for erasure. They can't run, quote, upload, publish templates or create
 * keys.
 */
export const requireApproved = (caller: Pick<Caller, "user" | "person"> | undefined): void => {
  if (!caller?.user.approved) throw accountNotApproved();
  if (caller.person.erasesAt ?? caller.user.erasesAt) throw accountLeaving();
};

/** Capability to run a workflow or model. Ids that aren't slugs need the general one. */
export const runCapability = (kind: "workflow" | "model", id: string): string => (isSlug(id) ? `${kind}:${id}:run` : `${kind}:run`);

/** Tier that decides what a caller can run; undefined for administrators, who can run everything. */
export const tierOf = ({ isAdmin, user }: Caller): BaseTier | undefined =>
  isAdmin || !isBaseTier(user.plan.base) ? undefined : user.plan.base;

const requireRole = ({ organization }: Caller, needed: NeededRole, capability: string | undefined): void => {
  if (!organization || needed === "self" || roleReaches(organization.role, needed)) return;
  throw roleDenied(needed, capability);
};

/** A required capability, a list of alternatives, or none. */
export type RequiredCapability = string | readonly string[] | undefined;

/** Rejects keys on a route for sessions, unless they have the capability that admits them. */
const requireSession = ({ key, visitor, capabilities }: Caller, auth: Auth, keyCapability: string | undefined): void => {
  if (visitor && auth !== "any") throw sessionRequired();
  if (!key || (auth !== "session" && auth !== "admin-session")) return;
  if (keyCapability === undefined || !covers(capabilities, keyCapability)) throw sessionRequired(keyCapability);
};

export interface RouteAccess {
  auth: Auth;
  /** Minimum role in an organization. */
  role?: NeededRole;
  /** Admits keys to a route for sessions. */
  keyCapability?: string | undefined;
}

/** Rejects callers without the kind, role or grants that an endpoint needs. */
export const authorize = (caller: Caller | undefined, access: Auth | RouteAccess, required: RequiredCapability): void => {
  const { auth, role = "self", keyCapability }: RouteAccess = typeof access === "string" ? { auth: access } : access;
  if (auth === "none") return;
  if (!caller) throw unauthenticated();
  requireSession(caller, auth, keyCapability);
  if ((auth === "admin" || auth === "admin-session") && !(caller.isAdmin && covers(caller.capabilities, ALL))) throw capabilityDenied(ALL);
  const [capability, ...others] = [required].flat();
  requireRole(caller, role, capability);
  if (capability === undefined || [capability, ...others].some((one) => one !== undefined && covers(caller.capabilities, one))) return;
  const isAbove = !withinCeiling(capability, caller.user.plan.base, caller.isAdmin);
  throw capabilityDenied(capability, isAbove ? lowestTierFor(capability) : undefined);
};
