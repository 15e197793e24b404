import { isBypassed, makesCalls, upToNode, waitsForDecision } from "@nodeloom/kernel/graph";
import { kernelGraph, nodesOf, type DocGraph, type DocNode } from "../../document/graph";
import type { Again } from "../../runs/again/rerun";
import type { Made } from "../../runs/made";

/** pins/: nodes whose results are kept: runs from the canvas take them over as long as what flows in is the same, and make all else. */

export const isPinned = ({ view }: DocNode): boolean => view?.pinned === true;

/** Whether a node makes something that a later run can take over. */
export const canBePinned = ({ type }: DocNode): boolean => makesCalls(type) || waitsForDecision(type);

/** The run that pinned results are taken from, and what of the graph is made anew. */
export interface Pins {
  base: string;
  again: Pick<Again, "nodes" | "reuse">;
  names: readonly DocNode[];
}

/**
 * What a run takes over by the pins of a graph.
 * @param until of a run to a node: which
 * @param made what nodes made last
 * @returns undefined where nothing is pinned that was made
 */
export const pinsOf = (graph: DocGraph, until: string | undefined, made: ReadonlyMap<string, Made>): Pins | undefined => {
  const part = until === undefined ? undefined : upToNode({ ...kernelGraph(graph), issues: [] }, until);
  const within = part && new Set(part.nodes.map(({ id }) => id));
  const nodes = nodesOf(graph).filter((node) => canBePinned(node) && !isBypassed(node) && (within?.has(node.id) ?? true));
  const names = nodes.filter((node) => isPinned(node) && made.has(node.id));
  const [newest] = names.map(({ id }) => made.get(id)!).sort((a, b) => (b.at ?? "").localeCompare(a.at ?? ""));
  if (!newest) return undefined;
  const kept = new Set(names.map(({ id }) => id));
  return {
    base: newest.executionId,
    again: { nodes: nodes.filter(({ id }) => !kept.has(id)).map(({ id }) => id), reuse: [...kept] },
    names,
  };
};
