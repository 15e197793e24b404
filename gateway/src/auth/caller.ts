import {
  accountNotApproved,
  ALL,
  covers,
  isBaseTier,
  isSlug,
  lowestTierFor,
  PLANS,
  withinCeiling,
  type BaseTier,
  type Plan,
} from "@nodeloom/kernel";
import type { identity } from "@nodeloom/proto";
import { capabilityDenied, sessionRequired, unauthenticated } from "../http/errors";

/** Who may call: anyone; a key or a session; a session only; an administrator; an administrator by session only; who has a hook's address. */
export type Auth = "none" | "any" | "session" | "admin" | "admin-session" | "hook";

export interface CallerUser {
  id: string;
  email: string;
  role: string;
  tier: string;
  approved: boolean;
  suspended: boolean;
  /** Raised when all sessions of the user end; a session of a lower epoch is over. */
  sessionEpoch: number;
  /** Signing in by password takes a code, too. */
  secondFactor: boolean;
  plan: Plan;
  business: { name: string; verified: boolean } | null;
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
  user: CallerUser;
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
  plan: toPlan(user.plan, user.tier),
  business: user.business ? { name: user.business.name, verified: user.business.verified } : null,
});

/** What an account that awaits approval may not do: run, quote, upload, publish templates, make keys. */
export const requireApproved = (caller: Pick<Caller, "user"> | undefined): void => {
  if (!caller?.user.approved) throw accountNotApproved();
};

/** The capability to run a workflow or a model; what cannot be a slug needs the general one. */
export const runCapability = (kind: "workflow" | "model", id: string): string => (isSlug(id) ? `${kind}:${id}:run` : `${kind}:run`);

/** Refuses a caller whose kind or grants do not reach an endpoint. */
export const authorize = (caller: Caller | undefined, auth: Auth, capability: string | undefined): void => {
  if (auth === "none") return;
  if (!caller) throw unauthenticated();
  if (caller.visitor && auth !== "any") throw sessionRequired();
  if ((auth === "session" || auth === "admin-session") && caller.key) throw sessionRequired();
  if ((auth === "admin" || auth === "admin-session") && !(caller.isAdmin && covers(caller.capabilities, ALL))) throw capabilityDenied(ALL);
  if (capability === undefined || covers(caller.capabilities, capability)) return;
  const isAbove = !withinCeiling(capability, caller.user.plan.base, caller.isAdmin);
  throw capabilityDenied(capability, isAbove ? lowestTierFor(capability) : undefined);
};
