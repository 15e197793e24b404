import { executionNotFound, preconditionFailed } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import type { KeptGraph } from "../plan/kept-graphs";
import { routedModels } from "../plan/models";
import type { PlanningRequest } from "../plan/run-plan";
import { createPreview } from "./preview";
import type { StepReuseOptions } from "./step-reuse";
import { checkNotEmptied } from "../run/refusals";
import { isFinal } from "../run/states";
import type { RunOutcomeView } from "../record/runs/rows";
import type { Stores } from "../record/stores";
import type { Runner } from "../run/runner";

export interface RerunRequest {
  runner: Runner;
  /** Empty to use the inputs of the earlier execution. */
  inputsJson: string;
  /** Version of another graph to run. */
  version: string;
  alias?: string | undefined;
  /** True to keep reused files for the run. */
  pins: boolean;
}

export type Reruns = ReturnType<typeof createReruns>;

export const createReruns = ({ stores, ...options }: StepReuseOptions & { stores: Pick<Stores, "rows" | "payloads"> }) => {
  const readNamed = createReadNamed(stores);
  const preview = createPreview(options);

  const sourcesOnly = async (sources: readonly string[], userId: string): Promise<NamedExecution> => ({
    ...{ inputsJson: "{}", alias: undefined, graph: undefined, until: "", schemaJson: "", keptModels: {}, retentionDays: undefined },
    sources: await chargedOf(stores.rows, sources.slice(0, MOST_SOURCES), userId),
  });

  return {
    /** @throws DomainError EXECUTION_NOT_FOUND, SOURCE_ERASED, PRECONDITION_FAILED */
    planningOf: async (
      { executionId, nodes, reuse: requests, otherGraph, sources: sourceIds }: executions.Rerun,
      { runner: { userId }, inputsJson, version, alias, pins }: RerunRequest,
    ): Promise<Pick<PlanningRequest, "inputsJson" | "version" | "alias" | "rerun">> => {
      const namedRun = await (executionId === "" ? sourcesOnly(sourceIds, userId) : readNamed(executionId, userId, !otherGraph));
      const { graph, until, schemaJson, sources, keptModels, retentionDays } = namedRun;
      const reuse = { sources, again: nodes, requests };
      return {
        inputsJson: inputsJson || namedRun.inputsJson,
        version,
        alias: graph ? namedRun.alias : alias,
        rerun: {
          ...(graph ? { graph } : {}),
          ...{ until, schemaJson, keptModels, retentionDays },
          names: { nodes, reuse: requests },
          reuse: (plan, models, replan) => preview({ plan, models, replan, reuse, where: { userId, sources, pins } }),
        },
      };
    },
  };
};

/** Resolves the source of a rerun: the named execution, and earlier executions whose calls can be reused. */

/** Maximum number of executions in a chain of reruns. */
const MOST_SOURCES = 20;

/** True if completed calls were charged. A run without the expected output is free. */
const wasCharged = (row: RunOutcomeView): boolean =>
  isFinal(row) && !(row.status === "failed" && row.error?.code === "PROVIDER_RESPONSE_INCOMPLETE");

export interface NamedExecution {
  inputsJson: string;
  /** Alias that selected its version; undefined if no alias was used. */
  alias: string | undefined;
  /** The graph and version, if requested (0: the draft); undefined for a model. */
  graph: (KeptGraph & { version: number }) | undefined;
  /** Last node to run, and JSON Schema of the answer; empty if not set. */
  until: string;
  schemaJson: string;
  /** Executions whose calls can be reused, in order of preference. */
  sources: string[];
  /** Models that it chose for nodes that name a task, by node. */
  keptModels: Record<string, string>;
  /** Days for which the execution is kept; undefined for the installation's default. */
  retentionDays: number | undefined;
}

/** Returns executions of a user whose completed calls were charged, in the given order. */
const chargedOf = async (rows: Pick<Stores["rows"], "ofUser">, ids: readonly string[], userId: string): Promise<string[]> => {
  const charged = new Set((await rows.ofUser(ids, userId)).filter(wasCharged).map(({ _id }) => _id));
  return ids.filter((id) => charged.has(id));
};

export type ReadNamed = ReturnType<typeof createReadNamed>;

export const createReadNamed =
  ({ rows, payloads }: Pick<Stores, "rows" | "payloads">) =>
  /**
   * @throws DomainError EXECUTION_NOT_FOUND, also for another user's execution; SOURCE_ERASED; PRECONDITION_FAILED if the execution is
   *   under way, or its graph or inputs are deleted
   */
  async (executionId: string, userId: string, hasGraph: boolean): Promise<NamedExecution> => {
    const row = await rows.findOwned(executionId, userId);
    if (!row) throw executionNotFound();
    if (!isFinal(row)) throw preconditionFailed("the execution isn't over yet: rerun it when it is");
    checkNotEmptied(row, "it can't be rerun");
    const chain = [executionId, ...(row.rerun?.sources ?? [])].slice(0, MOST_SOURCES);
    const [inputsJson, graphJson, schemaJson, sources] = await Promise.all([
      row.inputs ? payloads.getText(row.inputs) : "{}",
      hasGraph && row.graph ? payloads.getText(row.graph) : null,
      row.schema ? payloads.getText(row.schema) : "",
      chargedOf(rows, chain, userId),
    ]);
    if (inputsJson === null) throw preconditionFailed("the inputs of the execution were deleted at the end of their retention");
    if (schemaJson === null) throw preconditionFailed("the schema of the execution's answer was deleted at the end of its retention");
    if (hasGraph && row.workflowSlug !== null && graphJson === null)
      throw preconditionFailed("the graph that the execution ran was deleted: set the workflow's version, such as draft");
    const graph = graphJson === null ? undefined : { ...(JSON.parse(graphJson) as KeptGraph), version: row.version ?? 0 };
    // Another graph may not have the node.
    const until = hasGraph ? (row.until ?? "") : "";
    const { alias, retentionDays } = row;
    const keptModels = routedModels(row);
    return { inputsJson, graph, alias, until, schemaJson, sources, keptModels, retentionDays };
  };
