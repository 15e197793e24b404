import { MILLICREDITS_PER_CREDIT } from "./money";

/** Built-in tiers, lowest first. */
export const TIERS = ["free", "pro", "business", "enterprise"] as const;
export type BaseTier = (typeof TIERS)[number];

export interface Plan {
  /** Tier id: a built-in tier or a custom tier's id. */
  tier: string;
  /** The built-in tier whose capability ceiling and model access apply. */
  base: BaseTier;
  /** Requests per route and 60 s window; null means unlimited. */
  rateLimitPerMinute: number | null;
  /** Markup over wholesale in thousandths. */
  markupPermille: number;
  monthlyMillicredits: number;
  /** Executions that may be in flight at once. */
  concurrency: number;
  /** Saved workflows, templates excepted; null means uncapped. */
  maxWorkflows: number | null;
  /** Bytes of uploaded and kept files. */
  mediaBytes: number;
  /** Whether the tier may use API keys at all. */
  apiAccess: boolean;
}

const GIB = 1024 ** 3;

const plan = (
  base: BaseTier,
  rateLimitPerMinute: number | null,
  markupPermille: number,
  monthlyCredits: number,
  concurrency: number,
  mediaBytes: number,
): Plan => ({
  tier: base,
  base,
  rateLimitPerMinute,
  markupPermille,
  monthlyMillicredits: monthlyCredits * MILLICREDITS_PER_CREDIT,
  concurrency,
  maxWorkflows: base === "free" ? 1 : null,
  mediaBytes,
  apiAccess: base !== "free",
});

/** The plans: the only place where a tier's numbers are written. */
export const PLANS: Readonly<Record<BaseTier, Plan>> = {
  free: plan("free", 60, 2_000, 100, 1, GIB / 2),
  pro: plan("pro", 100, 1_500, 2_000, 10, 10 * GIB),
  business: plan("business", 1_000, 1_300, 10_000, 50, 100 * GIB),
  enterprise: plan("enterprise", null, 1_150, 50_000, 200, 1_024 * GIB),
};

/** Calls in a minute to addresses that users choose. */
export interface OutgoingBudget {
  perMinute: number;
  /** To one destination. */
  perHostPerMinute: number;
}

/**
 * What the platform calls for a user, by the base of their tier. A run of 1,000 calls to one host is within what the lowest
 * tier may send while a call waits for its turn (`TIMING.outgoingWait`).
 */
export const OUTGOING: Readonly<Record<BaseTier, { calls: OutgoingBudget; webhooks: OutgoingBudget }>> = {
  free: { calls: { perMinute: 600, perHostPerMinute: 300 }, webhooks: { perMinute: 60, perHostPerMinute: 60 } },
  pro: { calls: { perMinute: 2_000, perHostPerMinute: 1_000 }, webhooks: { perMinute: 600, perHostPerMinute: 300 } },
  business: { calls: { perMinute: 6_000, perHostPerMinute: 3_000 }, webhooks: { perMinute: 3_000, perHostPerMinute: 1_500 } },
  enterprise: { calls: { perMinute: 20_000, perHostPerMinute: 10_000 }, webhooks: { perMinute: 12_000, perHostPerMinute: 6_000 } },
};

export interface CustomTier extends Pick<Plan, "rateLimitPerMinute" | "markupPermille" | "monthlyMillicredits" | "concurrency"> {
  id: string;
  base: Exclude<BaseTier, "free">;
}

export const isBaseTier = (tier: string): tier is BaseTier => (TIERS as readonly string[]).includes(tier);

/** The plan of a custom tier: its own numbers over its base's rights. */
export const customPlan = ({ id, ...own }: CustomTier): Plan => ({ ...PLANS[own.base], ...own, tier: id });

/** Whether a tier (by its base) is at least another. */
export const tierReaches = (have: BaseTier, need: BaseTier): boolean => TIERS.indexOf(have) >= TIERS.indexOf(need);
