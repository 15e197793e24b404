/** Saved graphs, read from the workflows service at every run. */
import { createHash } from "node:crypto";
import { createSharedReads } from "@nodeloom/platform";
import type { WorkflowReference } from "@nodeloom/kernel";
import type { workflows as workflowsProto } from "@nodeloom/proto";
import { LRUCache } from "lru-cache";
import type { Workflows } from "../clients";
import { errorOf } from "../run/refusals";
import type { KeptVersion } from "./kept-graphs";
import type { Planner, TaskGraph } from "./planner/protocol";

/** A saved graph as the workflows service keeps it. */
export interface Definition {
  /** 0: the draft. */
  version: number;
  revision: number;
  createdBy: string;
  nodesJson: string;
  edgesJson: string;
  /** What a run of all of it needs; asked for by its first. */
  needs?: Needs;
}

/** What a run of a graph needs: names of models, and what its workflow nodes name. */
export interface Needs {
  models: string[];
  workflows: WorkflowReference[];
}

/** A saved graph as one run has it. */
export interface Defined {
  saved: Definition;
  graphHidden: boolean;
  /** Of a version: what its tasks became when it was published. */
  pinnedModels: Readonly<Record<string, string>>;
  /** Of a graph that was kept with an earlier run: changes with it. Saved graphs change with their revision. */
  key?: string;
}

export type Definitions = ReturnType<typeof createDefinitions>;

/** Of the cached definitions' JSON texts. */
const CACHED_CHARS = 32 * 1024 * 1024;

/** Reads saved graphs at every run. One that has not changed since is not sent again. */
export const createDefinitions = (workflows: Pick<Workflows, "getDefinition">, planner: Pick<Planner, "needs">) => {
  const cache = new LRUCache<string, Definition>({
    maxSize: CACHED_CHARS,
    sizeCalculation: ({ nodesJson, edgesJson }) => nodesJson.length + edgesJson.length + 1,
  });
  const reads = createSharedReads<workflowsProto.GetDefinitionResponse>();

  return {
    /**
     * @param selected a version: a number, `draft`, or empty for the newest
     * @throws DomainError WORKFLOW_NOT_FOUND, VERSION_NOT_FOUND
     */
    read: async (slug: string, userId: string, selected: string): Promise<Defined> => {
      const key = `${slug} ${selected}`;
      const cached = cache.get(key);
      const knownRevision = cached?.revision ?? 0;
      const answer = await reads(`${userId} ${key} ${knownRevision}`, () =>
        workflows.getDefinition({ slug, userId, knownRevision, version: selected }),
      );
      const { version, revision, createdBy, nodesJson, edgesJson, graphHidden, pinnedModels } = answer;
      // A version and the draft that it was have the same graph and the same revision.
      if (answer.unchanged && cached) return { saved: Object.assign(cached, { version }), graphHidden, pinnedModels };
      const saved = { version, revision, createdBy, nodesJson, edgesJson };
      cache.set(key, saved);
      return { saved, graphHidden, pinnedModels };
    },

    /** A graph that was kept with an earlier run, in place of a saved one, with a key that changes with it. */
    kept: ({ saved, graphHidden }: Defined, { version, ...graph }: KeptVersion): Defined => {
      const { nodesJson, edgesJson, pinnedModels } = graph;
      const { createdBy, revision } = saved;
      const hash = createHash("sha256")
        .update(JSON.stringify([nodesJson, edgesJson, pinnedModels]))
        .digest("hex");
      return { saved: { version, revision, createdBy, nodesJson, edgesJson }, graphHidden, pinnedModels, key: `kept@${hash}` };
    },

    /** What a run of a graph needs. A run of a part may need less, and is judged by that. */
    needs: async (saved: Definition, graph: TaskGraph, userId: string): Promise<Needs> => {
      if (graph.until === undefined && saved.needs) return saved.needs;
      const answer = await planner.needs(graph, { userId });
      if (answer.answer === "error") throw errorOf(answer.error);
      const { models, workflows } = answer;
      if (graph.until === undefined) saved.needs = { models, workflows };
      return { models, workflows };
    },
  };
};
