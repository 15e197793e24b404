import type { NodeState } from "@nodeloom/client";
import { isRecord, kindOf, makesCalls, makesTurns } from "@nodeloom/kernel/graph";
import { outputsOf } from "../outputs";

/** Combines the inner nodes that run in place of a workflow node. */

/** A member of a workflow's result and its port. */
export interface ResultPart {
  member: string;
  node: string;
  port: string | null;
}

/** True for workflow nodes. */
export const isWhole = (type: string): boolean => kindOf(type)?.isReplaced === true;

/** Nodes that ran in place of a node: their ids start with its id. */
export const innerNodes = (nodes: Iterable<NodeState>, id: string): NodeState[] =>
  [...nodes].filter((node) => node.id.startsWith(`${id}/`));

/** Result of a loop: the outputs of the last turn that ran. */
const lastTurn = (id: string, inner: readonly NodeState[]): Record<string, unknown> | undefined => {
  const number = ({ id: own }: NodeState): number => Number(own.slice(id.length + 1));
  const ends = inner.filter((node) => makesTurns(node.type) && number(node) > 0 && node.status === "completed");
  const [last] = ends.toSorted((a, b) => number(b) - number(a));
  return last && outputsOf(last);
};

/** Canvas node that contains a run's node. */
export const outerId = (id: string): string => id.split("/")[0]!;

const OVER: ReadonlySet<string> = new Set(["completed", "skipped"]);

const statusOf = (inner: readonly NodeState[]): NodeState["status"] => {
  const calls = inner.filter(({ type }) => makesCalls(type));
  // Nodes that only process values end with the next node.
  const counted = calls.length > 0 ? calls : inner;
  for (const status of ["failed", "cancelled"] as const) if (inner.some((node) => node.status === status)) return status;
  if (counted.every(({ status }) => OVER.has(status))) return "completed";
  return inner.some(({ status }) => status !== "pending") ? "processing" : "pending";
};

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Time from the first start to the last end in milliseconds; null before the end. */
const spanOf = (inner: readonly NodeState[], status: NodeState["status"]): { startedAt: string | null; durationMs: number | null } => {
  const began = inner.flatMap(({ startedAt }) => startedAt ?? []).sort();
  const endTimes = inner.flatMap(({ startedAt, durationMs }) => (startedAt === null ? [] : [Date.parse(startedAt) + (durationMs ?? 0)]));
  const startedAt = began[0] ?? null;
  const isOver = status !== "pending" && status !== "processing";
  return { startedAt, durationMs: isOver && startedAt !== null ? Math.max(...endTimes) - Date.parse(startedAt) : null };
};

const valueOf = (node: NodeState, port: string | null): unknown => {
  const gave = outputsOf(node);
  if (gave === undefined) return undefined;
  return port !== null && Object.hasOwn(gave, port) ? gave[port] : Object.values(gave)[0];
};

/** Outputs for the result members. If their nodes didn't run, outputs of all nodes that have one. */
const givenBy = (id: string, inner: readonly NodeState[], parts: readonly ResultPart[]): Record<string, unknown> | undefined => {
  const byId = new Map(inner.map((node) => [node.id, node]));
  const members = parts.flatMap(({ member, node, port }): [string, unknown][] => {
    const giver = byId.get(`${id}/${node}`);
    const nested = giver ? undefined : givenBy(`${id}/${node}`, innerNodes(inner, `${id}/${node}`), []);
    const value = giver ? valueOf(giver, port) : nested;
    return value === undefined ? [] : [[member, value]];
  });
  const isKnown = parts.some(({ node }) => inner.some((one) => one.id === `${id}/${node}` || one.id.startsWith(`${id}/${node}/`)));
  const all = isKnown
    ? members
    : inner
        .filter(({ type }) => makesCalls(type))
        .flatMap((node): [string, unknown][] => [[node.id.slice(id.length + 1), outputsOf(node)]]);
  const presentEntries = all.filter(([, value]) => value !== undefined && !(isRecord(value) && Object.keys(value).length === 0));
  return presentEntries.length === 0 ? undefined : Object.fromEntries(presentEntries);
};

const cache = new WeakMap<NodeState, { inner: readonly NodeState[]; parts: readonly ResultPart[]; merged: NodeState }>();

/**
 * State of a workflow node. It runs while its inner nodes run, costs their total, and has the result members as outputs. Cached by inner
 * nodes.
 * @param inner nodes that run in its place
 * @param parts result members, if known
 * @returns undefined if the run has no inner node
 */
export const wholeOf = (id: string, inner: readonly NodeState[], parts: readonly ResultPart[] = []): NodeState | undefined => {
  const [first] = inner;
  if (!first) return undefined;
  const before = cache.get(first);
  if (before?.parts === parts && before.inner.length === inner.length && before.inner.every((node, at) => node === inner[at]))
    return before.merged;
  const status = statusOf(inner);
  const outputs = lastTurn(id, inner) ?? givenBy(id, inner, parts);
  const counted = inner.filter(({ items }) => (items ?? 0) > 0);
  const whole: NodeState = {
    id,
    type: "workflow",
    status,
    ...spanOf(inner, status),
    creditsCost: sum(inner.map(({ creditsCost }) => creditsCost)),
    error: inner.find(({ error }) => error !== null)?.error ?? null,
    ...(counted.length === 0
      ? {}
      : { items: sum(counted.map(({ items }) => items!)), itemsDone: sum(counted.map(({ itemsDone }) => itemsDone ?? 0)) }),
    ...(outputs === undefined ? {} : { outputs }),
  };
  cache.set(first, { inner, parts, merged: whole });
  return whole;
};
