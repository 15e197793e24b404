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

/** Puts the workflows that a graph names in the place of the nodes that name them, as a planner has them. */

/** A graph with what stands in it, and whose the files are that the graphs inside it name. */
export interface Expanded {
  graph: ReadGraph;
  /** Owner of a file that a graph inside it names, where that is not the runner. */
  ownerOf(id: string): string | undefined;
}

const literalsOf = (cached: CachedGraph): ReadonlySet<string> => (cached.literalIds ??= literalMediaIds(cached.graph));

/** @param own the graph itself: ids that it names are none of the authors' of others */
export const expand = (
  graph: ReadGraph,
  own: CachedGraph,
  inner: InnerTask,
  { read, models, runnerId }: { read: (graph: TaskGraph) => CachedGraph; models: ReadonlyMap<string, ModelTerms>; runnerId: string },
): Expanded => {
  const { definitions, references } = inner;
  const isForeign = foreignKeys(inner, runnerId);
  const known = new Map(
    definitions.map((one) => {
      const cached = read(one.graph);
      const pinned = one.pinnedModels.flatMap(([task, name]): [string, ModelTerms][] => {
        const terms = models.get(name);
        return terms ? [[task, terms]] : [];
      });
      const { graph: chosen } = withChosenModels(cached.graph, new Map(pinned));
      const issues = isForeign.has(one.key) ? [...chosen.issues, ...foreignSecretIssues(chosen)] : chosen.issues;
      return [one.key, { cached, ownerId: one.ownerId, graph: { ...chosen, issues } }] as const;
    }),
  );
  const meanings = new Map(references.map(([within, nodeId, key]) => [`${within}\n${nodeId}`, key]));
  const whole = inlineWorkflows(
    graph,
    (within, nodeId) => {
      const key = meanings.get(`${within}\n${nodeId}`);
      const meant = key === undefined ? undefined : known.get(key);
      return key !== undefined && meant ? { key, graph: meant.graph } : undefined;
    },
    "",
  );
  const foreign = [...known.values()].filter(({ ownerId }) => ownerId !== runnerId);
  return {
    graph: { ...whole, issues: [...whole.issues] },
    ownerOf: (id) => (literalsOf(own).has(id) ? undefined : foreign.find(({ cached }) => literalsOf(cached).has(id))?.ownerId),
  };
};

/** Graphs as a planner has them. */

export type ReadGraph = Graph & { issues: GraphIssue[] };

/** A graph as it is kept between runs. */
export interface CachedGraph {
  graph: ReadGraph;
  /** Of its texts. */
  chars: number;
  /** Every text in it that could be the id of a file; read for the first run of somebody else. */
  literalIds?: ReadonlySet<string>;
}

/** Secrets are the runner's: a graph of somebody else's may name none of them, and neither may what stands in it. */

/** Nodes that name secrets, each an issue. Names are left out: they are the author's. */
export const foreignSecretIssues = ({ nodes }: Graph): GraphIssue[] =>
  nodes
    .filter((node) => kindOf(node.type)?.calls === "http" && !isBypassed(node) && secretsOfNode(node.data).length > 0)
    .map(({ id }) => ({ nodeId: id, ...finding("SECRET_FOREIGN") }));

/** Keys of the workflows inside a runner's own that are somebody else's, or stand in one that is. */
export const foreignKeys = ({ definitions, references }: InnerTask, runnerId: string): ReadonlySet<string> => {
  const keys = new Set(definitions.flatMap(({ key, ownerId }) => (ownerId === runnerId ? [] : [key])));
  let known = -1;
  while (keys.size > known) {
    known = keys.size;
    for (const [within, , key] of references) if (keys.has(within)) keys.add(key);
  }
  return keys;
};
