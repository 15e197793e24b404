import { patchGraph, type Operation } from "@nodeloom/kernel/graph-patch";
import { compareGraphs, type Comparison } from "../../document/compare";
import type { OpenDocument } from "../../document/document";
import { edgesText, nodesText, readDocGraph, type DocGraph } from "../../document/graph";

/** Operations of agents on the open document: each list of them is one step of undo. */

/** One applied list of operations. */
export interface Change {
  /** Key of its step in the history. */
  key: string;
  comparison: Comparison;
  before: DocGraph;
  after: DocGraph;
}

/** Elements whose text is unchanged keep their identity, so that only changed ones are drawn again. */
const keptItems = <T extends { text: string; id: string }>(before: readonly T[], after: readonly T[]): readonly T[] => {
  const itemsById = new Map(before.map((item) => [item.id, item]));
  return after.map((item) => {
    const old = itemsById.get(item.id);
    return old?.text === item.text ? old : item;
  });
};

/** @throws DomainError INVALID_REQUEST that names the operation; then nothing changes */
const patched = (graph: DocGraph, operations: readonly Operation[], texts: readonly string[]): DocGraph => {
  const { nodesJson, edgesJson } = patchGraph({ nodesJson: nodesText(graph), edgesJson: edgesText(graph) }, operations, texts);
  const { nodes, edges } = readDocGraph(nodesJson, edgesJson);
  return { nodes: keptItems(graph.nodes, nodes), edges: keptItems(graph.edges, edges) };
};

/** Ids of the nodes that a change added, changed or linked. */
export const touchedNodes = ({ comparison: { nodes, links }, after }: Pick<Change, "comparison" | "after">): string[] => {
  const ids = new Set([
    ...nodes.map(({ node }) => node.id),
    ...links.flatMap(({ kind, edge }) => (kind === "added" ? [edge.source, edge.target] : [])),
  ]);
  return after.nodes.flatMap(({ id }) => (ids.has(id) ? [id] : []));
};

/**
 * Applies operations to the document as it is now, as one step of undo.
 * @param texts the operations' JSON texts
 * @param labelOf label of the step
 * @returns undefined if they change nothing
 * @throws DomainError INVALID_REQUEST that names the operation; then nothing changes
 */
export const applyOperations = (
  document: OpenDocument,
  operations: readonly Operation[],
  texts: readonly string[],
  labelOf: (comparison: Comparison) => string,
): Change | undefined => {
  const before = document.store.getState().graph;
  const after = patched(before, operations, texts);
  const comparison = compareGraphs(before, after);
  if (comparison.nodes.length + comparison.links.length === 0) return undefined;
  const change = { key: `assistant ${crypto.randomUUID()}`, comparison, before, after };
  document.change(labelOf(comparison), () => after, { key: change.key, select: touchedNodes(change) });
  return change;
};

/** True if undo takes back this change next. */
export const isNewest = (document: OpenDocument, { key }: Change): boolean => document.store.getState().history.past.at(-1)?.key === key;
