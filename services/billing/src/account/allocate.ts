import { groupBy } from "@nodeloom/kernel";
import type { Account, Grant } from "./account";
import { groupOf, type HeldItem } from "./held";

/** Allocates payments of calls: trial grants first, then plan credits, then top-up credits. */

export interface HoldItem {
  key: string;
  model: string;
  maxMillicredits: number;
  /** Key of the call that this call can replace; empty or absent if there is none. */
  alternativeTo?: string;
}

export interface Allocation {
  items: HeldItem[];
  plan: number;
  topUp: number;
  grants: Grant[];
  required: number;
  available: number;
  sufficient: boolean;
  /** Model that needs credits because its trial grant is used up. */
  exhaustedModel?: string;
}

/**
 * Returns the held price of each item without a grant. Only one of the alternatives runs, so the first one holds the price of the most
 * expensive one.
 */
const heldPrices = (holdItems: readonly HoldItem[], isGranted: (key: string) => boolean): Map<string, number> => {
  const groups = groupBy(
    holdItems.filter(({ key }) => !isGranted(key)),
    groupOf,
  );
  return new Map(
    [...groups.values()].flatMap((items) => {
      const dearest = Math.max(...items.map(({ maxMillicredits }) => maxMillicredits));
      return items.map(({ key }, index) => [key, index === 0 ? dearest : 0] as const);
    }),
  );
};

/** Allocates each item to a trial grant, then plan credits, then top-up credits. A pure function. */
export const allocate = (account: Account, holdItems: readonly HoldItem[]): Allocation => {
  const grants = new Map(account.grants.map((grant) => [grant.model, { ...grant }]));
  let { plan, topUp } = account;
  let required = 0;
  let exhaustedModel: string | undefined;
  const granted = new Set<string>();
  for (const { key, model, maxMillicredits } of holdItems) {
    const grant = grants.get(model);
    if (!grant || maxMillicredits === 0) continue;
    if (grant.remaining > 0) {
      grant.remaining -= 1;
      granted.add(key);
    } else if (grant.total > 0) exhaustedModel ??= model;
  }
  const prices = heldPrices(holdItems, (key) => granted.has(key));
  const items = holdItems.map(({ key, model, alternativeTo }): HeldItem => {
    const item = { key, model, ...(alternativeTo ? { alternativeTo } : {}) };
    if (granted.has(key)) return { ...item, source: "grant", millicredits: 0, fromPlan: 0, fromTopUp: 0 };
    const millicredits = prices.get(key) ?? 0;
    const fromPlan = Math.min(plan, millicredits);
    const fromTopUp = millicredits - fromPlan;
    plan -= fromPlan;
    topUp -= fromTopUp;
    required += millicredits;
    return { ...item, source: "credits", millicredits, fromPlan, fromTopUp };
  });
  const available = account.plan + account.topUp;
  // Free calls are allowed with a negative balance.
  const sufficient = required <= Math.max(0, available);
  return { items, plan, topUp, grants: [...grants.values()], required, available, sufficient, exhaustedModel };
};
