/** What planning does for reruns. */
import { invalidRequest, type RunPlan } from "@nodeloom/kernel";
import type { KeptVersion } from "./kept-graphs";
import type { CatalogModel } from "./model-catalog";
import type { GivenOutputs } from "./planner/protocol";
import type { Reuse } from "../run/types";

/** A rerun's plan, and what of it is reused. */
export interface PlannedReuse {
  plan: RunPlan;
  reuse: Reuse;
  /** Keys of calls for which nothing is held: they are reused, or never made. */
  free: ReadonlySet<string>;
  /** Nodes of which only the run knows whether their calls are reused: what they are given is yet to be made. */
  open: ReadonlySet<string>;
  /** What calls that are reused have cost, in micro-dollars, by their keys. */
  saved: ReadonlyMap<string, number>;
}

/** Plans again with what nodes are known to give. @throws DomainError */
export type Replan = (given: GivenOutputs) => Promise<RunPlan>;

export interface RerunPlan {
  /** The graph that the earlier run had, with its version (0: the draft); without it the workflow's. */
  graph?: KeptVersion;
  /** The node that the earlier run ran to, and the JSON Schema of its answer: they hold where none is asked for. */
  until?: string;
  schemaJson?: string;
  /** What its author names nodes for. */
  names: { nodes: readonly string[]; reuse: readonly string[] };
  /** Looks for what a plan can reuse. @throws DomainError INVALID_REQUEST for nodes that it doesn't have */
  reuse(plan: RunPlan, models: ReadonlyMap<string, CatalogModel>, replan: Replan): Promise<PlannedReuse>;
}

const FOREIGN = "can't be given for a workflow that is somebody else's";

/** Nodes of another's graph are not the runner's to choose. @throws DomainError INVALID_REQUEST */
export const checkForeign = (rerun: Pick<RerunPlan, "names"> | undefined, until: string): void => {
  const given = Object.entries({ ...rerun?.names, until });
  const paths = given.flatMap(([name, { length }]) => (length > 0 ? [name] : []));
  if (paths.length > 0) throw invalidRequest(paths.map((path) => ({ path, message: FOREIGN })));
};
