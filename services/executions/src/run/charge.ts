import { calledKey, moreKey, userCostMicroUsd } from "@nodeloom/kernel";
import type { CompletedCall, FinalStatus, HeldItem, RunEnd } from "./types";
import type { Costs } from "./record";

/** Pure functions that compute a run's charge from its end and its hold. */

const MICRO_USD_PER_MILLICREDIT = 10;
const PERMILLE = 1_000;

export interface Charge {
  /** Calls whose hold is captured. Holds of other calls are released. */
  items: { key: string; nodeId: string; captureMillicredits: number; consumeGrant: boolean }[];
  /** Provider price in micro-dollars. */
  costMicroUsd: number;
  /** Price for the user in micro-dollars. */
  userCostMicroUsd: number;
}

export const nodeOf = (key: string): string => key.slice(0, key.lastIndexOf(":"));

/** Converts millicredits with a markup to the wholesale price in micro-dollars. */
const wholesale = (millicredits: number, markupPermille: number): number =>
  Math.round((millicredits * MICRO_USD_PER_MILLICREDIT * PERMILLE) / markupPermille);

/** Limit for a run with an unknown hold. Billing captures at most the real hold. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

interface Ending {
  status: FinalStatus;
  error: RunEnd["error"];
  completed: readonly CompletedCall[];
  underWay?: readonly string[];
}

/**
 * Decides the charge by the run's status. Completed: all used calls. Failed: completed calls. Without the expected output: nothing.
 * Cancelled: completed calls at their cost, and submitted calls at their held price.
 * @param holds hold of each call; null if unknown, so that only completed calls are charged
 */
export const chargeFor = (
  { status, error, completed, underWay = [] }: Ending,
  holds: readonly HeldItem[] | null,
  markupPermille: number,
): Charge => {
  const charge: Charge = { items: [], costMicroUsd: 0, userCostMicroUsd: 0 };
  if (status !== "cancelled" && error?.code === "PROVIDER_RESPONSE_INCOMPLETE") return charge;
  const sources = new Map(holds?.map((item) => [item.key, item]));
  let capturedMillicredits = 0;
  for (const call of completed) {
    const item = holds ? sources.get(call.key) : { source: "credits" as const, millicredits: UNBOUNDED };
    if (!item) continue;
    charge.costMicroUsd += call.costMicroUsd;
    if (item.source === "grant") {
      charge.items.push({ key: call.key, nodeId: call.nodeId, captureMillicredits: 0, consumeGrant: true });
      continue;
    }
    // The hold is the maximum. The platform pays for calls that exceed their maximum price.
    const more = sources.get(moreKey(call.key))?.millicredits ?? 0;
    const most = item.millicredits === UNBOUNDED ? UNBOUNDED : (item.millicredits + more) * MICRO_USD_PER_MILLICREDIT;
    charge.userCostMicroUsd += Math.min(userCostMicroUsd(call.costMicroUsd, markupPermille), most);
    // The run's price is rounded up once. Each call is charged the amount by which it raises the rounded sum. Its hold always covers that
    // amount.
    const captureMillicredits = Math.ceil(charge.userCostMicroUsd / MICRO_USD_PER_MILLICREDIT) - capturedMillicredits;
    capturedMillicredits += captureMillicredits;
    const own = Math.min(captureMillicredits, item.millicredits);
    charge.items.push({ key: call.key, nodeId: call.nodeId, captureMillicredits: own, consumeGrant: holds === null });
    if (captureMillicredits > own)
      charge.items.push({
        key: moreKey(call.key),
        nodeId: call.nodeId,
        captureMillicredits: captureMillicredits - own,
        consumeGrant: false,
      });
  }
  if (status !== "cancelled") return charge;
  const endedKeys = new Set(completed.map(({ key }) => key));
  for (const key of underWay.flatMap((one) => [one, moreKey(one)])) {
    const item = sources.get(key);
    if (!item || endedKeys.has(calledKey(key))) continue;
    const isGrant = item.source === "grant";
    const captureMillicredits = isGrant ? 0 : item.millicredits;
    charge.userCostMicroUsd += captureMillicredits * MICRO_USD_PER_MILLICREDIT;
    charge.costMicroUsd += wholesale(captureMillicredits, markupPermille);
    charge.items.push({ key, nodeId: nodeOf(key), captureMillicredits, consumeGrant: isGrant });
  }
  return charge;
};

export const sumOf = (items: Charge["items"]): number => items.reduce((sum, item) => sum + item.captureMillicredits, 0);

/** Returns the costs that correspond to captured credits, if the charges of an earlier settlement are unknown. */
export const costsBehind = (millicredits: number, markupPermille: number): Costs => ({
  costMicroUsd: wholesale(millicredits, markupPermille),
  userCostMicroUsd: millicredits * MICRO_USD_PER_MILLICREDIT,
});
