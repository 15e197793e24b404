import { inlineWorkflows, literalMediaIds, withChosenModels, type ModelTerms } from "@nodeloom/kernel";
import type { InnerTask, TaskGraph } from "./protocol";
import type { CachedGraph, ReadGraph } from "./read-graph";
import { foreignKeys, foreignSecretIssues } from "./secrets";

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
