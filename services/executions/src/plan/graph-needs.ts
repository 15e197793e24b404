/** Finds what a graph needs before it is planned: models, inner workflows, and the files that they name. */
import type { Grants } from "./grants";
import type { Definition, Definitions } from "./definitions";
import { findInlined, type InlinedTask, type InliningRequest } from "./inlined";
import type { TaskGraph } from "./planner/protocol";

export interface GraphNeeds {
  /** Models of the graph and of its inner workflows. */
  models: string[];
  /** Undefined if the graph has no workflow nodes. */
  inlined: InlinedTask | undefined;
}

/** @param saved with `needs` only if the graph is the saved one, without overriding settings */
export type FindNeeds = (saved: Definition, graph: TaskGraph, inlining: Omit<InliningRequest, "references">) => Promise<GraphNeeds>;

/** Also grants the runner the files that the graphs name. */
export const createFindNeeds =
  (definitions: Definitions, grants: Pick<Grants, "grantNamed">): FindNeeds =>
  async (saved, graph, inlining) => {
    const { ownerId, userId } = inlining;
    const { models, workflows: references } = await definitions.needs(saved, graph, userId);
    const inlined = references.length === 0 ? undefined : await findInlined(definitions, { ...inlining, references });
    const innerGraphs = (inlined?.inner.definitions ?? []).map((inner) => [inner.graph.nodesJson, inner.ownerId] as const);
    for (const [nodesJson, authorId] of [[graph.nodesJson, ownerId] as const, ...innerGraphs])
      await grants.grantNamed(nodesJson, authorId, userId);
    return { models: inlined ? [...new Set([...models, ...inlined.models])] : models, inlined };
  };
