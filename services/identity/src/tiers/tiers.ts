import { randomUUID } from "node:crypto";
import {
  CAP_NAMES,
  CAPS,
  customPlan,
  DomainError,
  invalidRequest,
  isBaseTier,
  isSlug,
  PLANS,
  type CustomTier,
  type Issue,
  type OwnCaps,
  type Plan,
} from "@nodeloom/kernel";
import type { Changes } from "../changes";
import type { TierRecord } from "../records";
import type { TierStore } from "./tier-store";

const MAX_ID_CHARS = 64;
/** Maximum of the protocol's 32-bit integers. */
const MAX_NUMBER = 2 ** 31 - 1;

export interface Tiers {
  /** Returns the plan of a tier. An unknown tier gets the free plan, so that errors grant no rights. */
  planOf(tier: string): Promise<Plan>;
  /** Looks up the plans of several tiers at once. */
  plansOf(tiers: string[]): Promise<(tier: string) => Plan>;
  isAssignable(tier: string): Promise<boolean>;
  /** Lists custom tiers by id. */
  list(): Promise<CustomTier[]>;
  /**
   * Creates or replaces a custom tier, and starts a rollout to its users' accounts.
   * @throws INVALID_REQUEST with all problems
   */
  put(tier: CustomTier): Promise<CustomTier>;
  /** @throws PRECONDITION_FAILED while a user has the tier, NOT_FOUND */
  remove(id: string): Promise<void>;
  /** Lists changes that haven't reached the accounts of all users of the tier. */
  rollouts(): Promise<Rollout[]>;
  /** Stores the next page of a rollout, or ends it. @returns false if the tier has changed again */
  advanceRollout(rollout: Rollout, finished: boolean): Promise<boolean>;
}

/** A change of a custom tier that is being applied to its users' accounts. */
export interface Rollout {
  tierId: string;
  revision: string;
  /** Next page of users; empty for the first page. */
  cursor: string;
}

const toTier = ({
  _id,
  base,
  rateLimitPerMinute,
  markupPermille,
  monthlyMillicredits,
  concurrency,
  caps = {},
}: TierRecord): CustomTier => ({
  id: _id,
  base,
  rateLimitPerMinute,
  markupPermille,
  monthlyMillicredits,
  concurrency,
  caps,
});

const capIssues = (caps: OwnCaps): Issue[] =>
  CAP_NAMES.flatMap((name) => {
    const [value, { ceiling }] = [caps[name], CAPS[name]];
    const isValid = value === undefined || value === null || (Number.isSafeInteger(value) && value >= 1 && value <= ceiling);
    return isValid ? [] : [{ path: `caps.${name}`, message: `must be a whole number from 1 to ${ceiling}, or null for ${ceiling}` }];
  });

const tierIssues = (tier: CustomTier): Issue[] => {
  const issues: Issue[] = [];
  const positive = (path: keyof CustomTier, maximum: number): void => {
    const value = tier[path];
    const valid = Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= maximum;
    if (!valid) issues.push({ path, message: `must be a positive number of at most ${maximum}` });
  };
  if (!isSlug(tier.id) || tier.id.length > MAX_ID_CHARS) {
    issues.push({ path: "id", message: `must be lower-case letters, digits and hyphens, at most ${MAX_ID_CHARS} characters` });
  } else if (isBaseTier(tier.id)) {
    issues.push({ path: "id", message: "is a built-in tier" });
  }
  if (!isBaseTier(tier.base) || (tier.base as string) === "free") {
    issues.push({ path: "base", message: "must be pro, business or enterprise" });
  }
  if (tier.rateLimitPerMinute !== null) positive("rateLimitPerMinute", MAX_NUMBER);
  positive("markupPermille", MAX_NUMBER);
  positive("monthlyMillicredits", Number.MAX_SAFE_INTEGER);
  positive("concurrency", MAX_NUMBER);
  return [...issues, ...capIssues(tier.caps)];
};

export interface TiersOptions {
  store: TierStore;
  users: { anyWithTier(tier: string): Promise<boolean> };
  changes: Changes;
  clock?: () => number;
}

export const createTiers = ({ store, users, changes, clock = Date.now }: TiersOptions): Tiers => {
  const unknown = (tier: string): Plan => ({ ...PLANS.free, tier });

  const plansOf: Tiers["plansOf"] = async (tiers) => {
    const custom = await store.findMany([...new Set(tiers)].filter((tier) => !isBaseTier(tier)));
    const plans = new Map(custom.map((record) => [record._id, customPlan(toTier(record))]));
    return (tier) => (isBaseTier(tier) ? PLANS[tier] : (plans.get(tier) ?? unknown(tier)));
  };

  /** Closes the tier to new users before it checks for users. An assignment checks the tier again after it is stored. */
  const remove: Tiers["remove"] = async (id) => {
    if (!(await store.markDeleting(id, new Date(clock())))) throw new DomainError("not_found", "NOT_FOUND", "no such tier");
    if (await users.anyWithTier(id)) {
      await store.unmarkDeleting(id);
      throw new DomainError("precondition", "PRECONDITION_FAILED", "users still have this tier");
    }
    await store.removeMarked(id);
    await changes.announce({ type: "tier", id });
  };

  return {
    planOf: async (tier) => {
      if (isBaseTier(tier)) return PLANS[tier];
      const record = await store.find(tier);
      return record ? customPlan(toTier(record)) : unknown(tier);
    },
    plansOf,
    isAssignable: async (tier) => {
      if (isBaseTier(tier)) return true;
      const record = await store.find(tier);
      return record !== null && record.deletingAt === null;
    },
    list: async () => (await store.list()).map(toTier),
    put: async (tier) => {
      const issues = tierIssues(tier);
      if (issues.length > 0) throw invalidRequest(issues);
      const { id, ...rest } = tier;
      await store.put({ _id: id, ...rest, deletingAt: null, rolloutRevision: randomUUID(), rolloutCursor: "" });
      await changes.announce({ type: "tier", id });
      return tier;
    },
    remove,
    rollouts: async () =>
      (await store.rollouts()).map(({ _id, rolloutRevision, rolloutCursor }) => ({
        tierId: _id,
        revision: rolloutRevision ?? "",
        cursor: rolloutCursor,
      })),
    advanceRollout: ({ tierId, revision, cursor }, finished) => store.advanceRollout(tierId, revision, finished ? null : cursor),
  };
};
