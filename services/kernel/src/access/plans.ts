import { ENTERPRISE_CAPS, USUAL_CAPS, withOwnCaps, type Caps, type OwnCaps } from "./caps";
import { MILLICREDITS_PER_CREDIT } from "../credits/money";

/** Built-in tiers, the lowest first. */
export const TIERS = ["free", "pro", "business", "enterprise"] as const;
export type BaseTier = (typeof TIERS)[number];

export interface Plan {
  /** A built-in tier, or the id of a custom tier. */
  tier: string;
  /** The built-in tier that decides the capability ceiling and the access to models. */
  base: BaseTier;
  /** Requests per route and 60-second window; null means unlimited. */
  rateLimitPerMinute: number | null;
  /** Markup on wholesale prices, in thousandths. */
  markupPermille: number;
  monthlyMillicredits: number;
  /** Maximum concurrent executions. */
  concurrency: number;
  /** Maximum saved workflows, without templates; null means unlimited. */
  maxWorkflows: number | null;
  /** Maximum bytes of uploaded and kept files. */
  mediaBytes: number;
  apiAccess: boolean;
  caps: Caps;
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
  caps: base === "enterprise" ? ENTERPRISE_CAPS : USUAL_CAPS,
});

/** All other code reads the numbers of the built-in tiers from here. */
export const PLANS: Readonly<Record<BaseTier, Plan>> = {
  free: plan("free", 60, 2_000, 100, 1, GIB / 2),
  pro: plan("pro", 100, 1_500, 2_000, 10, 10 * GIB),
  business: plan("business", 1_000, 1_300, 10_000, 50, 100 * GIB),
  enterprise: plan("enterprise", null, 1_150, 50_000, 200, 1_024 * GIB),
};

/** Maximum requests per minute to hosts that users choose. */
export interface OutgoingBudget {
  perMinute: number;
  /** Maximum requests to one destination host. */
  perHostPerMinute: number;
}

/**
 * Budgets of outgoing requests per user, by base tier. The lowest tier can send a run of 1,000 calls to one host within
 * `TIMING.outgoingWait`.
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
  /** Caps that the custom tier sets. All others come from its base. */
  caps: OwnCaps;
}

export const isBaseTier = (tier: string): tier is BaseTier => (TIERS as readonly string[]).includes(tier);

/** The plan of a custom tier: its own numbers with the rights of its base. */
export const customPlan = ({ id, caps, ...own }: CustomTier): Plan => ({
  ...PLANS[own.base],
  ...own,
  tier: id,
  caps: withOwnCaps(PLANS[own.base].caps, caps),
});

export const tierReaches = (have: BaseTier, need: BaseTier): boolean => TIERS.indexOf(have) >= TIERS.indexOf(need);
