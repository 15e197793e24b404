import { invalidRequest, type RunPlan } from "@nodeloom/kernel";
import type { KeptVersion } from "./kept-graphs";
import type { CatalogModel } from "./model-catalog";
import type { KnownOutputs } from "./planner/protocol";
import type { Reuse } from "../run/types";

export interface PlannedReuse {
  plan: RunPlan;
  reuse: Reuse;
  /** Keys of calls without a hold, because they are reused or never made. */
  free: ReadonlySet<string>;
  /** Nodes whose reuse is decided during the run, because their inputs don't exist yet. */
  open: ReadonlySet<string>;
  /** Cost of reused calls in micro-dollars, by key. */
  saved: ReadonlyMap<string, number>;
}

/** Plans again with known outputs of nodes. @throws DomainError */
export type Replan = (reusedOutputs: KnownOutputs) => Promise<RunPlan>;

export interface RerunPlan {
  /** Graph and version of the earlier run (0: the draft); undefined to use the workflow's graph. */
  graph?: KeptVersion;
  /** Node and JSON Schema of the earlier run, used as defaults for this run. */
  until?: string;
  schemaJson?: string;
  /** Days for which the earlier run is kept. */
  retentionDays?: number | undefined;
  /** Models that the earlier run chose for nodes that name a task, by node. */
  keptModels?: Readonly<Record<string, string>>;
  /** Node names as the graph's author writes them. */
  names: { nodes: readonly string[]; reuse: readonly string[] };
  /** Finds results that a plan can reuse. @throws DomainError INVALID_REQUEST for unknown nodes */
  reuse(plan: RunPlan, models: ReadonlyMap<string, CatalogModel>, replan: Replan): Promise<PlannedReuse>;
}

const FOREIGN = "can't be set for a workflow that you don't own";

/** Rejects a choice of nodes in another user's graph. @throws DomainError INVALID_REQUEST */
export const checkForeign = (rerun: Pick<RerunPlan, "names"> | undefined, until: string): void => {
  const rerunNames = Object.entries({ ...rerun?.names, until });
  const paths = rerunNames.flatMap(([name, { length }]) => (length > 0 ? [name] : []));
  if (paths.length > 0) throw invalidRequest(paths.map((path) => ({ path, message: FOREIGN })));
};
