import { userCostMicroUsd } from "@nodeloom/kernel";
import type { CompletedCall, FinalStatus, HeldItem, RunEnd } from "./types";
import type { Costs } from "./record";

/** What runs are charged, as pure functions of how they ended and of what they held. */

const MICRO_USD_PER_MILLICREDIT = 10;
const PERMILLE = 1_000;

export interface Charge {
  /** Calls whose hold is captured; all others are released. */
  items: { key: string; nodeId: string; captureMillicredits: number; consumeGrant: boolean }[];
  /** What the providers charge, in micro-dollars. */
  costMicroUsd: number;
  /** What the user pays, in micro-dollars. */
  userCostMicroUsd: number;
}

export const nodeOf = (key: string): string => key.slice(0, key.lastIndexOf(":"));

/** Wholesale price behind a number of milli-credits under a markup. */
const wholesale = (millicredits: number, markupPermille: number): number =>
  Math.round((millicredits * MICRO_USD_PER_MILLICREDIT * PERMILLE) / markupPermille);

/** Held at any price: what a run held whose hold is not known here. Billing captures no more than it really held. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

interface Ending {
  status: FinalStatus;
  error: RunEnd["error"];
  completed: readonly CompletedCall[];
  underWay?: readonly string[];
}

/**
 * The settlement table. Completed: what was used. Failed: the calls that completed. Without the expected output:
 * nothing. Cancelled: what was submitted: completed calls at what they cost, those under way at their held price.
 * @param held call by call; null where it is not known: then completed calls are charged for alone
 */
export const chargeFor = (
  { status, error, completed, underWay = [] }: Ending,
  held: readonly HeldItem[] | null,
  markupPermille: number,
): Charge => {
  const charge: Charge = { items: [], costMicroUsd: 0, userCostMicroUsd: 0 };
  if (status !== "cancelled" && error?.code === "PROVIDER_RESPONSE_INCOMPLETE") return charge;
  const sources = new Map(held?.map((item) => [item.key, item]));
  let capturedMillicredits = 0;
  for (const call of completed) {
    const item = held ? sources.get(call.key) : { source: "credits" as const, millicredits: UNBOUNDED };
    if (!item) continue;
    charge.costMicroUsd += call.costMicroUsd;
    if (item.source === "grant") {
      charge.items.push({ key: call.key, nodeId: call.nodeId, captureMillicredits: 0, consumeGrant: true });
      continue;
    }
    // The hold is the ceiling: what a call cost above its worst case is the platform's loss.
    const most = item.millicredits === UNBOUNDED ? UNBOUNDED : item.millicredits * MICRO_USD_PER_MILLICREDIT;
    charge.userCostMicroUsd += Math.min(userCostMicroUsd(call.costMicroUsd, markupPermille), most);
    // The run's price is rounded up once; each call has the share by which it raised it, which its hold always covers.
    const captureMillicredits = Math.ceil(charge.userCostMicroUsd / MICRO_USD_PER_MILLICREDIT) - capturedMillicredits;
    capturedMillicredits += captureMillicredits;
    charge.items.push({ key: call.key, nodeId: call.nodeId, captureMillicredits, consumeGrant: held === null });
  }
  if (status !== "cancelled") return charge;
  const ended = new Set(completed.map(({ key }) => key));
  for (const key of underWay) {
    const item = sources.get(key);
    if (!item || ended.has(key)) continue;
    const isGrant = item.source === "grant";
    const captureMillicredits = isGrant ? 0 : item.millicredits;
    charge.userCostMicroUsd += captureMillicredits * MICRO_USD_PER_MILLICREDIT;
    charge.costMicroUsd += wholesale(captureMillicredits, markupPermille);
    charge.items.push({ key, nodeId: nodeOf(key), captureMillicredits, consumeGrant: isGrant });
  }
  return charge;
};

export const sumOf = (items: Charge["items"]): number => items.reduce((sum, item) => sum + item.captureMillicredits, 0);

/** What is known of the costs when an earlier settlement, whose reasons are unknown, has captured something. */
export const costsBehind = (millicredits: number, markupPermille: number): Costs => ({
  costMicroUsd: wholesale(millicredits, markupPermille),
  userCostMicroUsd: millicredits * MICRO_USD_PER_MILLICREDIT,
});
