import type { Execution, TestRunWithResults } from "@nodeloom/client";
import { VERDICT } from "../../messages/editor/swap";
import { nodeOutputOf, type NodeOutput } from "../../runs/node-output";
import { callsOf } from "../../runs/outputs";
import { duration, roundCredits } from "../../ui/format";

/** Evidence for another model: results of both models with equal inputs, in pairs. */

export type TestResult = TestRunWithResults["results"][number];
export type SideResult = Omit<TestResult, "name" | "against" | "differences">;

export interface Side {
  status: TestResult["status"];
  failures: TestResult["failures"];
  /** Price of the run in credits, with the calls that it reused. */
  price: number;
  /** Time of the node in milliseconds, also if an earlier run made its calls; undefined if unknown. */
  ms: number | undefined;
  given: NodeOutput | undefined;
}

export interface Pair {
  id: string;
  name: string;
  now: Side;
  /** Side of the current model; undefined if it didn't run. */
  before: Side | undefined;
}

/** From this number of pairs on, a difference in the same direction in all of them is unlikely to be chance (sign test, 5 %). */
export const FEW_PAIRS = 6;

const isOver = ({ status }: Side): boolean => status === "passed" || status === "failed";
const completes = ({ failures, status }: Side): boolean => isOver({ status } as Side) && failures.every(({ kind }) => kind !== "status");

const nodesOf = ({ nodes }: Pick<Execution, "nodes">, nodeId: string) =>
  nodes.filter(({ id }) => id === nodeId || id.startsWith(`${nodeId}/`));

/** Executions that made the node's calls, if the run reused them. */
export const originsOf = (execution: Pick<Execution, "nodes"> | undefined, nodeId: string): string[] => [
  ...new Set((execution ? nodesOf(execution, nodeId) : []).flatMap((node) => callsOf(node).flatMap(({ reusedFrom }) => reusedFrom ?? []))),
];

/** Time that the node took in a run. For reused calls, it is the time in the run that made them. */
export const nodeMs = (
  execution: Pick<Execution, "nodes"> | undefined,
  nodeId: string,
  origins: ReadonlyMap<string, Pick<Execution, "nodes">>,
): number | undefined => {
  if (!execution) return undefined;
  const own = nodesOf(execution, nodeId);
  const reused = originsOf(execution, nodeId);
  const measured = reused.length === 0 ? own : reused.flatMap((id) => nodesOf(origins.get(id) ?? { nodes: [] }, nodeId));
  const times = measured.flatMap(({ durationMs }) => durationMs ?? []);
  return times.length === 0 ? undefined : times.reduce((sum, ms) => sum + ms, 0);
};

export const sideOf = (
  result: Pick<SideResult, "status" | "failures" | "price">,
  execution: Execution | undefined,
  nodeId: string,
  origins: ReadonlyMap<string, Execution>,
): Side => ({
  ...{ status: result.status, failures: result.failures, price: result.price },
  ms: nodeMs(execution, nodeId, origins),
  given: nodeOutputOf(execution, nodeId),
});

export interface Sums {
  pairs: number;
  /** Sums over pairs in which both runs completed; `undefined` times if a pair has none. */
  cost: { now: number; before: number | undefined };
  ms: { now: number | undefined; before: number | undefined };
  passed: { now: number; before: number | undefined };
}

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);
const sumOfAll = (amounts: readonly (number | undefined)[]): number | undefined =>
  amounts.length === 0 || amounts.includes(undefined) ? undefined : sum(amounts as number[]);

/** Adds up the pairs whose runs have ended. */
export const sumsOf = (pairs: readonly Pair[], isChecked: boolean): Sums => {
  const endedPairs = pairs.filter(({ now, before }) => isOver(now) && (!before || isOver(before)));
  const both = endedPairs.filter(({ now, before }) => completes(now) && (!before || completes(before)));
  const isGood = (side: Side): boolean => (isChecked ? side.status === "passed" : completes(side));
  const hasBefore = endedPairs.length > 0 && endedPairs.every(({ before }) => before !== undefined);
  return {
    pairs: endedPairs.length,
    cost: { now: sum(both.map(({ now }) => now.price)), before: hasBefore ? sum(both.map(({ before }) => before!.price)) : undefined },
    ms: { now: sumOfAll(both.map(({ now }) => now.ms)), before: hasBefore ? sumOfAll(both.map(({ before }) => before!.ms)) : undefined },
    passed: {
      now: endedPairs.filter(({ now }) => isGood(now)).length,
      before: hasBefore ? endedPairs.filter(({ before }) => isGood(before!)).length : undefined,
    },
  };
};

const PERCENT = 100;
/** A change in words such as "40 %"; undefined if it rounds to nothing or has no base. */
const change = (now: number, before: number): string | undefined => {
  const percent = Math.round((Math.abs(now - before) / before) * PERCENT);
  return percent === 0 ? undefined : `${percent}%`;
};

const costWords = ({ cost: { now, before } }: Sums): string => {
  const [after, first] = [roundCredits(now), roundCredits(before ?? 0)];
  if (before === undefined) return VERDICT.ownCost(after);
  if (before === 0) return now === 0 ? VERDICT.sameCost : VERDICT.onlyCost(after, first);
  const percent = change(now, before);
  return percent === undefined ? VERDICT.sameCost : VERDICT.cost(percent, now < before, after, first);
};

const timeWords = ({ ms: { now, before } }: Sums): string | undefined => {
  if (now === undefined) return undefined;
  if (before === undefined) return VERDICT.ownTime(duration(now));
  const percent = before === 0 ? undefined : change(now, before);
  return percent === undefined ? VERDICT.sameTime : VERDICT.time(percent, now < before, duration(now), duration(before));
};

const cautionWords = (isFew: boolean, isChecked: boolean): string => {
  if (isFew) return isChecked ? VERDICT.few : VERDICT.fewAndUnjudged;
  return isChecked ? "" : VERDICT.unjudged;
};

export interface Compared {
  now: string;
  before: string;
}

/**
 * The verdict of a comparison with its evidence, as one sentence.
 * @param isChecked true if the inputs are tests with expectations
 * @param models titles of both models
 */
export const verdictOf = (pairs: readonly Pair[], isChecked: boolean, models: Compared): string => {
  const sums = sumsOf(pairs, isChecked);
  if (!pairs.some(({ now }) => completes(now))) return VERDICT.nothing(models.now);
  const words = isChecked ? VERDICT.passes : VERDICT.completes;
  const time = timeWords(sums);
  const other = sums.passed.before === undefined ? "" : VERDICT.other(models.before, sums.passed.before);
  const parts = [
    VERDICT.pairs(sums.pairs),
    words(models.now, sums.passed.now, sums.pairs) + other,
    costWords(sums),
    ...(time === undefined ? [] : [time]),
  ];
  return VERDICT.sentence(parts, cautionWords(sums.pairs < FEW_PAIRS, isChecked));
};
