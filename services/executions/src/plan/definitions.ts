/** Reads saved graphs from the workflows service, once per run. */
import { createHash } from "node:crypto";
import { createSharedReads } from "@nodeloom/platform";
import type { WorkflowReference } from "@nodeloom/kernel";
import type { workflows as workflowsProto } from "@nodeloom/proto";
import { LRUCache } from "lru-cache";
import type { Workflows } from "../clients";
import { errorOf } from "../run/refusals";
import type { KeptVersion } from "./kept-graphs";
import type { Planner, TaskGraph } from "./planner/protocol";

export interface Definition {
  /** 0: the draft. */
  version: number;
  revision: number;
  createdBy: string;
  nodesJson: string;
  edgesJson: string;
  /** Needs of a full run; computed by the first one. */
  needs?: Needs;
}

/** Names of models, and references of workflow nodes. */
export interface Needs {
  models: string[];
  workflows: WorkflowReference[];
}

/** Selects a graph of a workflow: by a version's number, `draft` or `approved`, or else by an alias. */
export interface Selected {
  version: string;
  /** Empty or absent for `production`. */
  alias?: string | undefined;
  /** For a workflow inside another: `production` replaces an alias that it doesn't have. */
  orProduction?: boolean;
}

export interface Defined {
  saved: Definition;
  /** The alias that selected it; empty for a number and for the draft. */
  alias: string;
  graphHidden: boolean;
  /** For a version: the models that its tasks resolved to when it was published. */
  pinnedModels: Readonly<Record<string, string>>;
  /** Days for which the workflow's owner keeps runs; undefined for the installation's. */
  retentionDays: number | undefined;
  /** For a graph stored with an earlier run: changes with the graph. A saved graph changes with its revision. */
  key?: string;
}

export type Definitions = ReturnType<typeof createDefinitions>;

/** Characters of cached JSON. */
const CACHED_CHARS = 32 * 1024 * 1024;

/** Reads saved graphs for every run. An unchanged one isn't transferred again. */
export const createDefinitions = (workflows: Pick<Workflows, "getDefinition">, planner: Pick<Planner, "needs">) => {
  const cache = new LRUCache<string, Definition>({
    maxSize: CACHED_CHARS,
    sizeCalculation: ({ nodesJson, edgesJson }) => nodesJson.length + edgesJson.length + 1,
  });
  const reads = createSharedReads<workflowsProto.GetDefinitionResponse>();

  return {
    /**
     * @throws DomainError WORKFLOW_NOT_FOUND, VERSION_NOT_FOUND, ALIAS_NOT_FOUND
     */
    read: async (
      slug: string,
      userId: string,
      { version: selected, alias: named = "", orProduction = false }: Selected,
    ): Promise<Defined> => {
      const key = `${slug} ${selected} ${named}${orProduction ? "?" : ""}`;
      const cached = cache.get(key);
      const knownRevision = cached?.revision ?? 0;
      const answer = await reads(`${userId} ${key} ${knownRevision}`, () =>
        workflows.getDefinition({ slug, userId, knownRevision, version: selected, alias: named, orProduction }),
      );
      const { version, revision, createdBy, nodesJson, edgesJson, graphHidden, pinnedModels, retentionDays, alias = "" } = answer;
      // A version and the draft that it came from share graph and revision.
      if (answer.unchanged && cached) return { saved: Object.assign(cached, { version }), alias, graphHidden, pinnedModels, retentionDays };
      const saved = { version, revision, createdBy, nodesJson, edgesJson };
      cache.set(key, saved);
      return { saved, alias, graphHidden, pinnedModels, retentionDays };
    },

    /** Uses a graph stored with an earlier run in place of a saved one. */
    kept: ({ saved, alias, graphHidden, retentionDays }: Defined, { version, ...graph }: KeptVersion): Defined => {
      const { nodesJson, edgesJson, pinnedModels } = graph;
      const { createdBy, revision } = saved;
      const hash = createHash("sha256")
        .update(JSON.stringify([nodesJson, edgesJson, pinnedModels]))
        .digest("hex");
      return {
        saved: { version, revision, createdBy, nodesJson, edgesJson },
        alias,
        graphHidden,
        pinnedModels,
        retentionDays,
        key: `kept@${hash}`,
      };
    },

    /** Needs of a full run. A run of a part may need less and is judged by that. */
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
