/** Reads saved graphs from the workflows service, once per run. */
import { createHash } from "node:crypto";
import { createSharedReads } from "@nodeloom/platform";
import type { MediaUrls, WorkflowReference } from "@nodeloom/kernel";
import type { workflows as workflowsProto } from "@nodeloom/proto";
import { LRUCache } from "lru-cache";
import type { Workflows } from "../clients";
import { errorOf } from "../run/refusals";
import type { KeptVersion } from "./kept-graphs";
import type { Planner, TaskGraph } from "./planner/protocol";
import type { CanaryRun } from "../run/types";

/** Canaries of aliases: the hash of a run's id decides whether the run is the canary's. */

/** The canary of the alias that selected a graph. */
export type CanaryShare = workflowsProto.CanaryShare;

/** Selects the arm of a run. */
export type ArmOf = (canary: CanaryShare) => CanaryRun["arm"];

const PERCENT = 100;
const HASH_BYTES = 4;
const HASHES = 2 ** (8 * HASH_BYTES);

/** Returns the arm of a run. Attempts and replays of a run have the same arm, and other canaries select other runs. */
export const armOf =
  (executionId: string): ArmOf =>
  ({ id, percent }) => {
    const hash = createHash("sha256").update(`${id} ${executionId}`).digest().readUInt32BE();
    return (hash / HASHES) * PERCENT < percent ? "canary" : "base";
  };

/** A run's part in the comparison; `isLimited` if the canary's runs have a limit on their costs. */
export interface PlannedCanary extends CanaryRun {
  isLimited: boolean;
}

export interface Definition {
  /** Number of the version; 0 for the draft. */
  version: number;
  revision: number;
  createdBy: string;
  nodesJson: string;
  edgesJson: string;
  /** Requirements of a full run, computed by the first run. */
  needs?: Needs;
}

/** Names of models, and references of workflow nodes. */
export interface Needs {
  models: string[];
  workflows: WorkflowReference[];
}

/** Selects a graph of a workflow: a version number, `draft`, `approved`, or an alias. */
export interface GraphSelection {
  version: string;
  /** Alias; empty or absent for `production`. */
  alias?: string | undefined;
  /** For an inner workflow: true to use `production` if the workflow doesn't have the alias. */
  orProduction?: boolean;
}

export interface SelectedGraph {
  saved: Definition;
  /** The alias that selected the graph; empty for a number or the draft. */
  alias: string;
  graphHidden: boolean;
  /** For a version: models that its tasks resolved to when it was published. */
  pinnedModels: Readonly<Record<string, string>>;
  /** Days for which the workflow's owner keeps runs; undefined for the installation's default. */
  retentionDays: number | undefined;
  /** The canary of the alias. */
  canary?: CanaryShare | undefined;
  /** Cache key of a graph stored with an earlier run; it changes with the graph. A saved graph is cached by its revision. */
  key?: string;
}

export type Definitions = ReturnType<typeof createDefinitions>;

/** Maximum characters of cached JSON. */
const CACHED_CHARS = 32 * 1024 * 1024;

export interface DefinitionsOptions {
  workflows: Pick<Workflows, "getDefinition">;
  planner: Pick<Planner, "needs">;
  urls: Pick<MediaUrls, "current">;
}

/** Reads saved graphs for every run. An unchanged graph isn't transferred again. */
export const createDefinitions = ({ workflows, planner, urls }: DefinitionsOptions) => {
  const cache = new LRUCache<string, Definition>({
    maxSize: CACHED_CHARS,
    sizeCalculation: ({ nodesJson, edgesJson }) => nodesJson.length + edgesJson.length + 1,
  });
  const reads = createSharedReads<workflowsProto.GetDefinitionResponse>();

  /** Uses a graph stored with an earlier run instead of a saved graph. */
  const definitionOf = ({ saved, alias, graphHidden, retentionDays }: SelectedGraph, { version, ...graph }: KeptVersion): SelectedGraph => {
    const { edgesJson, pinnedModels } = graph;
    const nodesJson = urls.current(graph.nodesJson);
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
  };

  return {
    saved: definitionOf,

    /** Uses a graph that isn't saved. */
    unsaved: (ownerId: string, { nodesJson, edgesJson }: Pick<Definition, "nodesJson" | "edgesJson">): SelectedGraph => {
      const graph = { nodesJson, edgesJson, version: 0, pinnedModels: {} };
      const saved = { nodesJson, edgesJson, version: 0, revision: 0, createdBy: ownerId };
      return definitionOf({ saved, alias: "", graphHidden: false, pinnedModels: {}, retentionDays: undefined }, graph);
    },

    /**
     * @throws DomainError WORKFLOW_NOT_FOUND, VERSION_NOT_FOUND, ALIAS_NOT_FOUND
     */
    read: async (
      slug: string,
      userId: string,
      { version: selected, alias: aliasName = "", orProduction = false }: GraphSelection,
    ): Promise<SelectedGraph> => {
      const key = `${slug} ${selected} ${aliasName}${orProduction ? "?" : ""}`;
      const cached = cache.get(key);
      const knownRevision = cached?.revision ?? 0;
      const answer = await reads(`${userId} ${key} ${knownRevision}`, () =>
        workflows.getDefinition({ slug, userId, knownRevision, version: selected, alias: aliasName, orProduction }),
      );
      const { version, revision, createdBy, edgesJson, graphHidden, pinnedModels, retentionDays, canary, alias = "" } = answer;
      const about = { alias, graphHidden, pinnedModels, retentionDays, canary };
      // A version and its draft can share graph and revision.
      if (answer.unchanged && cached) return { saved: Object.assign(cached, { version }), ...about };
      const saved = { version, revision, createdBy, nodesJson: urls.current(answer.nodesJson), edgesJson };
      cache.set(key, saved);
      return { saved, ...about };
    },

    /** Returns the requirements of a full run. A partial run may need less and is checked separately. */
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
