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

/** Who may call: anyone; a key or a session; a session only; an administrator; an administrator by session only; who has a hook's address. */
export type Auth = "none" | "any" | "session" | "admin" | "admin-session" | "hook";

/** What a route needs of a member where the request is for an organization: a role, or nothing, because it is about the person alone. */
export type Needed = Role | "self";

export interface CallerUser {
  id: string;
  /** Empty for an organization. */
  email: string;
  role: string;
  tier: string;
  approved: boolean;
  suspended: boolean;
  /** Raised when all sessions of the user end; a session of a lower epoch is over. */
  sessionEpoch: number;
  /** Signing in by password takes a code, too. */
  secondFactor: boolean;
  /** When the account is erased, where somebody asked for that. */
  erasesAt: Date | undefined;
  plan: Plan;
  business: { name: string; verified: boolean } | null;
}

/** The organization that a request is for. */
export interface CallerOrganization {
  name: string;
  /** Of the person. */
  role: Role;
  /** The owner whose tier it has. */
  tierOf: string;
}

export interface CallerKey {
  id: string;
  /** Set when the key has an enabled webhook. */
  webhook: { url: string; events: string[] } | null;
  /** What every run by it has of metadata. */
  metadata: Readonly<Record<string, string>>;
}

/** Of a hook: the headers that its sender's requests have. */
export interface CallerHook {
  secretHash: string;
  /** Null: no signature is asked for. */
  signatureHeader: string | null;
  /** Null: each request starts a run. */
  deliveryIdHeader: string | null;
}

/** Of a visitor of an app: which app, who, and what every run of the visitor's has of metadata. */
export interface CallerVisitor {
  slug: string;
  id: string;
  metadata: Readonly<Record<string, string>>;
}

/** Who sends a request, resolved from an API key, a browser session or a hook's address. */
export interface Caller {
  /** The account that the request is for: what it owns, pays and may do is this one's. The person's own, or an organization's. */
  user: CallerUser;
  /** Who sends it: the actor of what is written down, and whose rate limits count. */
  person: CallerUser;
  /** Set where the account is an organization's. */
  organization?: CallerOrganization;
  /** Whether the account is an administrator's. An organization's never is. */
  isAdmin: boolean;
  capabilities: readonly string[];
  /** Null for a session. */
  key: CallerKey | null;
  /** Set for the sender of a hook, who may start its runs in its owner's name and nothing else. */
  hook?: CallerHook;
  /** Set for a visitor of an app, whose runs are in its owner's name. */
  visitor?: CallerVisitor;
}

/** What keys of idempotency belong to: a user's, or a visitor's alone. */
export const idempotencyOwner = ({ user, visitor }: Pick<Caller, "user" | "visitor">): string =>
  visitor ? JSON.stringify([user.id, visitor.slug, visitor.id]) : user.id;

const toPlan = (plan: identity.Plan | undefined, tier: string): Plan => {
  const base: BaseTier = plan && isBaseTier(plan.base) ? plan.base : isBaseTier(tier) ? tier : "free";
  if (!plan) return PLANS[base];
  const { markupPermille, monthlyMillicredits, concurrency, rateLimitPerMinute = null } = plan;
  return { ...PLANS[base], tier: plan.tier || tier, rateLimitPerMinute, markupPermille, monthlyMillicredits, concurrency };
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
});

export const ADMIN = "admin";

/** A person by their session, for their own account. */
export const personCaller = (person: CallerUser): Caller => {
  const isAdmin = person.role === ADMIN;
  return { user: person, person, isAdmin, capabilities: sessionCapabilities(person.plan.base, isAdmin), key: null };
};

/** An organization's account as one of its members has it: what needs approval needs that of both. */
export interface OrganizationAccount {
  user: CallerUser;
  organization: CallerOrganization;
}

export const toOrganizationAccount = (account: identity.User, role: string): OrganizationAccount => {
  if (!account.organization || !isRole(role)) throw new Error("identity answered without an organization's account and a role");
  return { user: toCallerUser(account), organization: { ...account.organization, role } };
};

/** A person by their session, for an organization. */
export const memberCaller = (person: CallerUser, { user, organization }: OrganizationAccount): Caller => ({
  user: { ...user, approved: user.approved && person.approved },
  person,
  organization,
  isAdmin: false,
  capabilities: withinRole(sessionCapabilities(user.plan.base), organization.role),
  key: null,
});

/** What an account that awaits approval may not do: run, quote, upload, publish templates, make keys; nor one that is to be erased. */
export const requireApproved = (caller: Pick<Caller, "user" | "person"> | undefined): void => {
  if (!caller?.user.approved) throw accountNotApproved();
  if (caller.person.erasesAt ?? caller.user.erasesAt) throw accountLeaving();
};

/** The capability to run a workflow or a model; what cannot be a slug needs the general one. */
export const runCapability = (kind: "workflow" | "model", id: string): string => (isSlug(id) ? `${kind}:${id}:run` : `${kind}:run`);

/** The tier that decides what a caller may run; administrators may run everything. */
export const tierOf = ({ isAdmin, user }: Caller): BaseTier | undefined =>
  isAdmin || !isBaseTier(user.plan.base) ? undefined : user.plan.base;

/** Refuses a member whose role in the organization does not reach. */
const requireRole = ({ organization }: Caller, needed: Needed, capability: string | undefined): void => {
  if (!organization || needed === "self" || roleReaches(organization.role, needed)) return;
  throw roleDenied(needed, capability);
};

/** Refuses a caller whose kind, role or grants do not reach an endpoint. */
export const authorize = (caller: Caller | undefined, auth: Auth, capability: string | undefined, needed: Needed = "self"): void => {
  if (auth === "none") return;
  if (!caller) throw unauthenticated();
  if (caller.visitor && auth !== "any") throw sessionRequired();
  if ((auth === "session" || auth === "admin-session") && caller.key) throw sessionRequired();
  if ((auth === "admin" || auth === "admin-session") && !(caller.isAdmin && covers(caller.capabilities, ALL))) throw capabilityDenied(ALL);
  requireRole(caller, needed, capability);
  if (capability === undefined || covers(caller.capabilities, capability)) return;
  const isAbove = !withinCeiling(capability, caller.user.plan.base, caller.isAdmin);
  throw capabilityDenied(capability, isAbove ? lowestTierFor(capability) : undefined);
};
