import type { DataFile, MediaValue, RunPlan, WorkflowReference } from "@nodeloom/kernel";
import type { Refusal } from "../../run/types";
import type { CatalogModel } from "../model-catalog";

/** Messages between planning and a planner, in this thread or another: plain values that can be cloned. */

export type TaskModel = Pick<
  CatalogModel,
  "internalName" | "modality" | "providerKind" | "price" | "inputSchemaJson" | "outputs" | "fallback" | "retiresOn" | "successor"
>;

export interface TaskGraph {
  /** Changes with the graph. */
  key: string;
  nodesJson: string;
  edgesJson: string;
  /** Node that the run goes to; without it everything runs. */
  until?: string;
}

/** Workflows inside a graph, at any depth. */
export interface InnerTask {
  /** `pinnedModels`: for a version, what its tasks resolved to when it was published. */
  definitions: { key: string; graph: TaskGraph; ownerId: string; pinnedModels: [task: string, model: string][] }[];
  /** Meaning of each workflow node, by the key of its graph; the outermost graph has no key. */
  references: [within: string, nodeId: string, key: string][];
}

export interface PlanTask {
  /** `isForeign`: another user's template; file ids in it may be its author's. `schemaJson`: JSON Schema for the model's answer. */
  target: { graph: TaskGraph; isForeign: boolean; inner?: InnerTask; runnerId?: string } | { model: string; schemaJson?: string };
  inputsJson: string;
  /** The model; or the enabled models that the graph names, and their fallbacks. */
  models: TaskModel[];
  /** All enabled models, if the graph names one that isn't. */
  modelNames?: string[];
  /** Resolved tasks by name: a model, or the reason why there is none. */
  autos?: [string, { model: string } | { problem: string }][];
  /** Retired models that the graph names, with the enabled model that replaces each. */
  retired?: [name: string, successor: string | undefined][];
  /** Files that were found, by id. */
  media: [string, MediaValue][];
  /** Ids that were looked up, found or not. */
  lookedUp: string[];
  markupPermille: number;
  /** Results for data URLs that were missing. */
  data?: [string, DataFile][];
  /** Short data URLs that stand for long ones; each must be used as a file. */
  standIns?: string[];
  /** Nothing is stored for this plan: data URLs stay pending. */
  storesNothing?: boolean;
  /** Known outputs of nodes, which don't run again. */
  given?: GivenOutputs;
}

/** By node and port. */
export type GivenOutputs = [string, [string, unknown][]][];

export interface WantedFile {
  id: string;
  /** It may be the author's: the graph names the id, and the runner's inputs don't. */
  isAuthors: boolean;
  /** Possible owner, if an inlined graph names the id. */
  ownerId?: string;
}

/** Further values that a plan needs. */
export interface Missing {
  media?: WantedFile[];
  /** Data URLs to store. Otherwise the plan is complete. */
  data?: string[];
  /** The planner needs the originals of stand-ins. */
  wholeInputs?: true;
}

/** Nothing can be planned, because of the inputs or the graph. */
interface Refused {
  answer: "error";
  error: Refusal;
}

/** `models`: names of models in the nodes to run. `workflows`: references of workflow nodes. */
export type NeedsAnswer = Refused | { answer: "needs"; models: string[]; workflows: WorkflowReference[] };

/**
 * `forwardedMediaIds`: ids in the graph that may turn out to be files only during the run. `innerMediaIds`: the ones in inlined graphs,
 * with owners. `fileInputs`: names of file inputs.
 */
export type PlanAnswer =
  | Refused
  | { answer: "missing"; missing: Missing }
  | { answer: "plan"; plan: RunPlan; forwardedMediaIds: string[]; innerMediaIds?: [ownerId: string, id: string][]; fileInputs: string[] };

export interface Caller {
  userId: string;
}

/** Plans runs. First ask what a graph needs, look that up, then plan. */
export interface Planner {
  needs(graph: TaskGraph, caller: Caller): Promise<NeedsAnswer>;
  plan(task: PlanTask, caller: Caller): Promise<PlanAnswer>;
}
