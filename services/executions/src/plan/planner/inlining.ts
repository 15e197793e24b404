import {
  finding,
  type Graph,
  type GraphIssue,
  inlineWorkflows,
  isBypassed,
  kindOf,
  literalMediaIds,
  type ModelTerms,
  secretsOfNode,
  withChosenModels,
} from "@nodeloom/kernel";
import type { InnerTask, TaskGraph } from "./protocol";

/** Replaces workflow nodes with the graphs of their workflows, inside a planner. */

/** A graph with its workflows inlined, and the owners of the files that the inlined graphs use. */
export interface ExpandedGraph {
  graph: ReadGraph;
  /** Owner of a file that an inlined graph uses, if the owner isn't the runner. */
  ownerOf(id: string): string | undefined;
}

const literalsOf = (cached: CachedGraph): ReadonlySet<string> => (cached.literalIds ??= literalMediaIds(cached.graph));

/** @param own the outer graph; ids that it names don't refer to files of other authors */
export const expand = (
  graph: ReadGraph,
  own: CachedGraph,
  inner: InnerTask,
  { read, models, runnerId }: { read: (graph: TaskGraph) => CachedGraph; models: ReadonlyMap<string, ModelTerms>; runnerId: string },
): ExpandedGraph => {
  const { definitions, references } = inner;
  const isForeign = foreignKeys(inner, runnerId);
  const innerByKey = new Map(
    definitions.map((one) => {
      const cached = read(one.graph);
      const pinned = one.pinnedModels.flatMap(([task, name]): [string, ModelTerms][] => {
        const terms = models.get(name);
        return terms ? [[task, terms]] : [];
      });
      const { graph: chosenGraph } = withChosenModels(cached.graph, new Map(pinned));
      const issues = isForeign.has(one.key) ? [...chosenGraph.issues, ...foreignSecretIssues(chosenGraph)] : chosenGraph.issues;
      return [one.key, { cached, ownerId: one.ownerId, graph: { ...chosenGraph, issues } }] as const;
    }),
  );
  const meanings = new Map(references.map(([within, nodeId, key]) => [`${within}\n${nodeId}`, key]));
  const whole = inlineWorkflows(
    graph,
    (within, nodeId) => {
      const key = meanings.get(`${within}\n${nodeId}`);
      const innerGraph = key === undefined ? undefined : innerByKey.get(key);
      return key !== undefined && innerGraph ? { key, graph: innerGraph.graph } : undefined;
    },
    "",
  );
  const foreign = [...innerByKey.values()].filter(({ ownerId }) => ownerId !== runnerId);
  return {
    graph: { ...whole, issues: [...whole.issues] },
    ownerOf: (id) => (literalsOf(own).has(id) ? undefined : foreign.find(({ cached }) => literalsOf(cached).has(id))?.ownerId),
  };
};

export type ReadGraph = Graph & { issues: GraphIssue[] };

export interface CachedGraph {
  graph: ReadGraph;
  /** Characters of the graph's texts. */
  chars: number;
  /** All texts that could be file ids. Computed for the first run of another user. */
  literalIds?: ReadonlySet<string>;
}

/** Secrets belong to the runner. Another user's graph can't use a secret, and neither can its inner workflows. */

/** Returns an issue for each node that uses secrets. The issue omits the names of secrets, because they belong to the author. */
export const foreignSecretIssues = ({ nodes }: Graph): GraphIssue[] =>
  nodes
    .filter((node) => kindOf(node.type)?.calls === "http" && !isBypassed(node) && secretsOfNode(node.data).length > 0)
    .map(({ id }) => ({ nodeId: id, ...finding("SECRET_FOREIGN") }));

/** Keys of workflows that belong to other users or are inlined in such a workflow. */
export const foreignKeys = ({ definitions, references }: InnerTask, runnerId: string): ReadonlySet<string> => {
  const keys = new Set(definitions.flatMap(({ key, ownerId }) => (ownerId === runnerId ? [] : [key])));
  let knownCount = -1;
  while (keys.size > knownCount) {
    knownCount = keys.size;
    for (const [within, , key] of references) if (keys.has(within)) keys.add(key);
  }
  return keys;
};
