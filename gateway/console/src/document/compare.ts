import { edgesOf, nodesOf, type DocEdge, type DocGraph, type DocNode } from "./graph";
import { settingsOf } from "./merge";

/** Differences between two graphs by node and link. */
export type ChangeKind = "added" | "removed" | "changed" | "moved";

/** JSON texts of a setting; undefined if absent. */
export interface SettingChange {
  path: readonly string[];
  before: string | undefined;
  after: string | undefined;
}

export interface NodeChange {
  kind: ChangeKind;
  /** The node's later state, or the earlier one if it was removed. */
  node: DocNode;
  settings: readonly SettingChange[];
}

export interface LinkChange {
  kind: "added" | "removed";
  edge: DocEdge;
}

export interface Comparison {
  nodes: readonly NodeChange[];
  links: readonly LinkChange[];
}

const settingChanges = (before: DocNode, after: DocNode): SettingChange[] =>
  settingsOf([before.text, after.text])
    .filter(({ values }) => values[0] !== values[1])
    .map(({ path, values }) => ({ path, before: values[0], after: values[1] }));

/** Difference between two nodes with one id; undefined if their texts are equal. */
const nodeChange = (before: DocNode, after: DocNode): NodeChange | undefined => {
  if (before.text === after.text) return undefined;
  const settings = settingChanges(before, after).filter(({ path }) => path[0] !== "position");
  return { kind: settings.length === 0 ? "moved" : "changed", node: after, settings };
};

const linkKey = ({ source, sourceHandle, target, targetHandle }: DocEdge): string =>
  JSON.stringify([source, sourceHandle, target, targetHandle]);

const missingFrom = (edges: readonly DocEdge[], others: readonly DocEdge[]): DocEdge[] => {
  const there = new Set(others.map(linkKey));
  return edges.filter((edge) => !there.has(linkKey(edge)));
};

/** Changes from the first graph to the second. */
export const compareGraphs = (before: DocGraph, after: DocGraph): Comparison => {
  const was = new Map(nodesOf(before).map((node) => [node.id, node]));
  const is = new Set(nodesOf(after).map(({ id }) => id));
  const keptChanges = nodesOf(after).flatMap((node): NodeChange[] => {
    const old = was.get(node.id);
    const change = old ? nodeChange(old, node) : { kind: "added" as const, node, settings: [] };
    return change ? [change] : [];
  });
  const removed = nodesOf(before).flatMap((node): NodeChange[] => (is.has(node.id) ? [] : [{ kind: "removed", node, settings: [] }]));
  return {
    nodes: [...keptChanges, ...removed],
    links: [
      ...missingFrom(edgesOf(after), edgesOf(before)).map((edge): LinkChange => ({ kind: "added", edge })),
      ...missingFrom(edgesOf(before), edgesOf(after)).map((edge): LinkChange => ({ kind: "removed", edge })),
    ],
  };
};
