import { readEdge, readNode, type DocGraph, type DocNode } from "./graph";
import { members, withMember } from "@nodeloom/kernel/json-text";

/** Different values of one setting on two sides. `value`s are JSON texts, undefined if removed. */
export interface Conflict {
  nodeId: string;
  path: readonly string[];
  mine: string | undefined;
  theirs: string | undefined;
}

export interface MergeResult {
  /** The merged graph, with my values at conflicts. */
  graph: DocGraph;
  conflicts: Conflict[];
}

type Item = DocGraph["nodes"][number] | DocGraph["edges"][number];

const isObjectText = (text: string | undefined): boolean => text?.trimStart().startsWith("{") === true;

/** Objects that are merged by member; other values count as one setting. */
const OPENED: ReadonlySet<string> = new Set(["data", "data/inputs", "data/values"]);

export interface Setting {
  path: string[];
  /** Text on each side; undefined if absent. */
  values: (string | undefined)[];
}

/** Settings present in any of the texts. */
export const settingsOf = (texts: readonly (string | undefined)[], path: readonly string[] = []): Setting[] => {
  const inside = texts.map((text) => members(text ?? ""));
  const names = new Set(inside.flatMap((one) => [...one.keys()]));
  return [...names].flatMap((name) => {
    const [own, values] = [[...path, name], inside.map((one) => one.get(name))];
    const opens = OPENED.has(own.join("/")) && values.every((value) => value === undefined || isObjectText(value));
    return opens ? settingsOf(values, own) : [{ path: own, values }];
  });
};

const isPlace = (path: readonly string[]): boolean => path[0] === "position";

/** Merges three texts of a node by setting. For positions moved on both sides mine wins, because nothing is lost by that. */
export const mergeTexts = (base: string, mine: string, theirs: string): { text: string; conflicts: Omit<Conflict, "nodeId">[] } => {
  let text = mine;
  const conflicts: Omit<Conflict, "nodeId">[] = [];
  for (const { path, values } of settingsOf([base, mine, theirs])) {
    const [was, own, other] = values;
    if (own === other || other === was) continue;
    if (own === was) text = withMember(text, path, other);
    else if (!isPlace(path)) conflicts.push({ path, mine: own, theirs: other });
  }
  return { text, conflicts };
};

const byId = <T extends Item>(items: readonly T[]): Map<string, T> => new Map(items.map((item) => [item.id, item]));

const addedEnds = (base: DocGraph, side: DocGraph): Set<string> => {
  const baseEdges = byId(base.edges);
  return new Set(side.edges.flatMap((edge) => (baseEdges.has(edge.id) || "stranger" in edge ? [] : [edge.source, edge.target])));
};

type MergeNode = (base: DocNode, mine: DocNode, theirs: DocNode) => { node: DocNode; conflicts: readonly Conflict[] };

const NO_CONFLICTS: readonly Conflict[] = [];

const mergeNode: MergeNode = (base, mine, theirs) => {
  if (mine.text === theirs.text || theirs.text === base.text) return { node: mine, conflicts: NO_CONFLICTS };
  if (mine.text === base.text) return { node: theirs, conflicts: NO_CONFLICTS };
  const { text, conflicts } = mergeTexts(base.text, mine.text, theirs.text);
  const node = text === mine.text ? mine : (readNode(text) ?? mine);
  return { node, conflicts: conflicts.map((conflict) => ({ nodeId: base.id, ...conflict })) };
};

/** Caches merged nodes, because snapshots share most nodes. */
const remembered = (merge: MergeNode): MergeNode => {
  const mergedByNode = new WeakMap<DocNode, ReturnType<MergeNode>>();
  return (base, mine, theirs) => {
    const merged = mergedByNode.get(mine) ?? merge(base, mine, theirs);
    mergedByNode.set(mine, merged);
    return merged;
  };
};

/**
 * Merges lists changed on two sides: changes and additions of both are kept, and removals unless the other side changed or needs the
 * element. Theirs keep their order, followed by my new ones.
 */
const mergeItems = <T extends Item>(
  [base, mine, theirs]: readonly [readonly T[], readonly T[], readonly T[]],
  both: (base: T | undefined, mine: T, theirs: T) => T,
  isNeeded: (id: string) => boolean,
): T[] => {
  const [was, own, other] = [byId(base), byId(mine), byId(theirs)];
  const keptItems = theirs.flatMap((item): T[] => {
    const ours = own.get(item.id);
    const before = was.get(item.id);
    if (ours) return [both(before, ours, item)];
    return before === undefined || before.text !== item.text || isNeeded(item.id) ? [item] : [];
  });
  const mineOnly = mine.filter((item) => {
    if (other.has(item.id)) return false;
    const before = was.get(item.id);
    return before === undefined || before.text !== item.text || isNeeded(item.id);
  });
  return [...keptItems, ...mineOnly];
};

const mergeEdge = <T extends DocGraph["edges"][number]>(base: T | undefined, mine: T, theirs: T): T => {
  if (base === undefined || mine.text === theirs.text || theirs.text === base.text) return mine;
  if (mine.text === base.text) return theirs;
  // If both sides moved an edge's ends, mine wins.
  const { text } = mergeTexts(base.text, mine.text, theirs.text);
  return { ...readEdge(text), id: mine.id } as T;
};

/** Merges local and remote changes since `base`. */
export const mergeGraphs = (base: DocGraph, mine: DocGraph, theirs: DocGraph): MergeResult => merger(base, theirs)(mine);

/** Merges one remote graph into many local ones. */
export const merger = (base: DocGraph, theirs: DocGraph): ((mine: DocGraph) => MergeResult) => {
  const merge = remembered(mergeNode);
  return (mine) => mergeWith(merge, base, mine, theirs);
};

const mergeWith = (merge: MergeNode, base: DocGraph, mine: DocGraph, theirs: DocGraph): MergeResult => {
  const conflicts: Conflict[] = [];
  const needed = new Set([...addedEnds(base, mine), ...addedEnds(base, theirs)]);
  const nodes = mergeItems<DocGraph["nodes"][number]>(
    [base.nodes, mine.nodes, theirs.nodes],
    (was, own, other) => {
      if ("stranger" in own || "stranger" in other) return own.text === was?.text ? other : own;
      const merged = merge(was && !("stranger" in was) ? was : own, own, other);
      conflicts.push(...merged.conflicts);
      return merged.node;
    },
    (id) => needed.has(id),
  );
  const there = new Set(nodes.map(({ id }) => id));
  const edges = mergeItems<DocGraph["edges"][number]>([base.edges, mine.edges, theirs.edges], mergeEdge, () => false).filter((edge) => {
    if ("stranger" in edge) return true;
    // Edges of a removed node are removed with it. Edges that already lacked an end stay as saved.
    const missingEnds = [edge.source, edge.target].filter((id) => !there.has(id));
    return missingEnds.every((id) => !base.nodes.some((node) => node.id === id));
  });
  return { graph: { nodes, edges }, conflicts };
};

/** Resolves the given conflicts with their values. */
export const takeTheirs = (graph: DocGraph, conflicts: readonly Conflict[]): DocGraph => ({
  ...graph,
  nodes: graph.nodes.map((node) => {
    const own = conflicts.filter(({ nodeId }) => nodeId === node.id);
    if ("stranger" in node || own.length === 0) return node;
    return readNode(own.reduce((text, { path, theirs }) => withMember(text, path, theirs), node.text)) ?? node;
  }),
});
