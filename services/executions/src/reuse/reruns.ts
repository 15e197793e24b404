/** Prepares the planning of a rerun. */
import { DomainError, executionNotFound } from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import type { KeptGraph } from "../plan/kept-graphs";
import type { PlanningRequest } from "../plan/run-plan";
import { createPreview } from "./preview";
import type { StepReuseOptions } from "./step-reuse";
import { isFinal } from "../run/states";
import type { RunOutcomeView } from "../record/rows";
import type { Stores } from "../record/stores";
import type { Runner } from "../run/runner";

/** What is asked for beside the rerun itself. */
export interface Asked {
  runner: Runner;
  /** Empty: those of the named execution. */
  inputsJson: string;
  /** Of another graph. */
  version: string;
  /** The files that are reused are kept for the run. */
  pins: boolean;
}

export type Reruns = ReturnType<typeof createReruns>;

export const createReruns = ({ stores, ...options }: StepReuseOptions & { stores: Pick<Stores, "rows" | "payloads"> }) => {
  const readNamed = createReadNamed(stores);
  const preview = createPreview(options);

  return {
    /**
     * What planning a rerun needs besides its runner and its target.
     * @throws DomainError EXECUTION_NOT_FOUND, PRECONDITION_FAILED
     */
    planningOf: async (
      { executionId, nodes, reuse: requests, otherGraph }: executions.Rerun,
      { runner: { userId }, inputsJson, version, pins }: Asked,
    ): Promise<Pick<PlanningRequest, "inputsJson" | "version" | "rerun">> => {
      const named = await readNamed(executionId, userId, !otherGraph);
      const { graph, until, schemaJson, sources } = named;
      const reuse = { sources, again: nodes, requests };
      return {
        inputsJson: inputsJson || named.inputsJson,
        version,
        rerun: {
          ...(graph ? { graph } : {}),
          ...{ until, schemaJson },
          names: { nodes, reuse: requests },
          reuse: (plan, models, replan) => preview({ plan, models, replan, reuse, where: { userId, sources, pins } }),
        },
      };
    },
  };
};

/** What a rerun is one of: the named execution, and what of it and of those before it may be reused. */

/** Executions of a chain of reruns whose calls are reused. */
const MOST_SOURCES = 20;

const refused = (message: string): DomainError => new DomainError("precondition", "PRECONDITION_FAILED", message);

/** Whether completed calls of a run were charged: without the expected output all of it is free. */
const wasCharged = (row: RunOutcomeView): boolean =>
  isFinal(row) && !(row.status === "failed" && row.error?.code === "PROVIDER_RESPONSE_INCOMPLETE");

export interface NamedExecution {
  inputsJson: string;
  /** The graph that ran, where it is asked for, with its version (0: the draft); none of a model's run. */
  graph: (KeptGraph & { version: number }) | undefined;
  /** The node that it ran to, and the JSON Schema of its answer; empty: none. */
  until: string;
  schemaJson: string;
  /** Executions that calls are reused from, the nearest first. */
  sources: string[];
}

export type ReadNamed = ReturnType<typeof createReadNamed>;

export const createReadNamed =
  ({ rows, payloads }: Pick<Stores, "rows" | "payloads">) =>
  /** @throws DomainError EXECUTION_NOT_FOUND, also for another user's; PRECONDITION_FAILED while it is under way, or where what it ran is gone */
  async (executionId: string, userId: string, hasGraph: boolean): Promise<NamedExecution> => {
    const row = await rows.findOwned(executionId, userId);
    if (!row) throw executionNotFound();
    if (!isFinal(row)) throw refused("the execution is not over yet; it can be run again when it is");
    const chain = [executionId, ...(row.rerun?.sources ?? [])].slice(0, MOST_SOURCES);
    const [inputsJson, graphJson, schemaJson, earlier] = await Promise.all([
      row.inputs ? payloads.getText(row.inputs) : "{}",
      hasGraph && row.graph ? payloads.getText(row.graph) : null,
      row.schema ? payloads.getText(row.schema) : "",
      rows.ofUser(chain, userId),
    ]);
    if (inputsJson === null) throw refused("the inputs of the execution are not kept any more");
    if (schemaJson === null) throw refused("the schema of the execution's answer is not kept any more");
    if (hasGraph && row.workflowSlug !== null && graphJson === null)
      throw refused("the graph that the execution ran is not kept; name the workflow's version, such as draft");
    const charged = new Set(earlier.filter(wasCharged).map(({ _id }) => _id));
    const graph = graphJson === null ? undefined : { ...(JSON.parse(graphJson) as KeptGraph), version: row.version ?? 0 };
    // Another graph need not have the node.
    const until = hasGraph ? (row.until ?? "") : "";
    return { inputsJson, graph, until, schemaJson, sources: chain.filter((id) => charged.has(id)) };
  };
