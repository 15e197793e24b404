import { makesCalls } from "@nodeloom/kernel/graph";
import type { NodeProgress } from "./live";

/** A running node is never shown as done. */
const MOST = 0.99;
const OVER: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "skipped"]);

/** Completed share of a running node, by its items or by its expected duration; undefined if both are unknown. */
export const shareOf = (
  { items = 1, itemsDone = 0 }: NodeProgress,
  elapsedMs: number,
  expectedMs: number | undefined,
): number | undefined => {
  const byTime = expectedMs === undefined || expectedMs <= 0 ? undefined : Math.min(MOST, elapsedMs / expectedMs);
  if (items <= 1) return byTime;
  return Math.min(MOST, Math.max(itemsDone / items, byTime ?? 0));
};

/** Completed share of a run, by the calls of its nodes; undefined before they are known. */
export const shareOfRun = (nodes: Iterable<NodeProgress>): number | undefined => {
  let [doneCount, all] = [0, 0];
  for (const { type, status, items = 1, itemsDone = 0 } of nodes) {
    if (!makesCalls(type)) continue;
    all += Math.max(1, items);
    doneCount += OVER.has(status) ? Math.max(1, items) : Math.min(itemsDone, items);
  }
  return all === 0 ? undefined : doneCount / all;
};
