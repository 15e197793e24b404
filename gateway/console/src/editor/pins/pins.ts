import { isBypassed, makesCalls, upToNode, waitsForDecision } from "@nodeloom/kernel/graph";
import { kernelGraph, nodesOf, type DocGraph, type DocNode } from "../../document/graph";
import type { Again } from "../../runs/again/rerun";
import type { LatestOutput } from "../../runs/latest-outputs";

/** Pinning: runs from the canvas reuse results of pinned nodes while their inputs stay the same. */

export const isPinned = ({ view }: DocNode): boolean => view?.pinned === true;

/** True if a later run can reuse the node's output. */
export const canBePinned = ({ type }: DocNode): boolean => makesCalls(type) || waitsForDecision(type);

/** The run with pinned results, and the nodes that run again. */
export interface Pins {
  base: string;
  again: Pick<Again, "nodes" | "reuse">;
  names: readonly DocNode[];
}

/**
 * Results that a run reuses because of pins.
 * @param until target node, if any
 * @param latestOutputs latest outputs of nodes
 * @returns undefined without pinned outputs
 */
export const pinsOf = (graph: DocGraph, until: string | undefined, latestOutputs: ReadonlyMap<string, LatestOutput>): Pins | undefined => {
  const part = until === undefined ? undefined : upToNode({ ...kernelGraph(graph), issues: [] }, until);
  const within = part && new Set(part.nodes.map(({ id }) => id));
  const nodes = nodesOf(graph).filter((node) => canBePinned(node) && !isBypassed(node) && (within?.has(node.id) ?? true));
  const names = nodes.filter((node) => isPinned(node) && latestOutputs.has(node.id));
  const [newest] = names.map(({ id }) => latestOutputs.get(id)!).sort((a, b) => (b.at ?? "").localeCompare(a.at ?? ""));
  if (!newest) return undefined;
  const keptIds = new Set(names.map(({ id }) => id));
  return {
    base: newest.executionId,
    again: { nodes: nodes.filter(({ id }) => !keptIds.has(id)).map(({ id }) => id), reuse: [...keptIds] },
    names,
  };
};
