import type { DataFile, MediaValue, RunPlan, TaskRoute, WorkflowReference } from "@nodeloom/kernel";
import type { Refusal } from "../../run/types";
import type { CatalogModel } from "../model-catalog";

/** Messages between planning and a planner, in this thread or another: plain values that can be cloned. */

export type TaskModel = Pick<
  CatalogModel,
  "internalName" | "modality" | "providerKind" | "price" | "inputSchemaJson" | "outputs" | "fallback" | "retiresOn" | "successor"
>;

export interface TaskGraph {
  /** Changes if the graph changes. */
  key: string;
  nodesJson: string;
  edgesJson: string;
  /** Last node to run; if absent, all nodes run. */
  until?: string;
}

/** Inner workflows of a graph at any depth. */
export interface InnerTask {
  /** `pinnedModels`: for a version, models that its tasks resolved to when it was published. */
  definitions: { key: string; graph: TaskGraph; ownerId: string; pinnedModels: [task: string, model: string][] }[];
  /** Target of each workflow node, by the key of its graph. The outermost graph has no key. */
  references: [within: string, nodeId: string, key: string][];
}

export interface PlanTask {
  /** `isForeign`: another user's template; its file ids may belong to its author. `schemaJson`: JSON Schema for the model's answer. */
  target: { graph: TaskGraph; isForeign: boolean; inner?: InnerTask; runnerId?: string } | { model: string; schemaJson?: string };
  inputsJson: string;
  /** The model of a direct run, or the enabled models of the graph and their fallbacks. */
  models: TaskModel[];
  /** Names of all enabled models, if the graph uses a model that isn't enabled. */
  modelNames?: string[];
  /** Tasks that a version pins, by name: the model, or the reason why it isn't available. */
  autos?: [string, { model: string } | { problem: string }][];
  /** Models of tasks, by name. Those that can run are also in `models`. */
  routes?: [task: string, TaskRoute][];
  /** Models that an earlier run or plan of this run chose, by node. They are kept if they can run. */
  keptModels?: [nodeId: string, model: string][];
  /** Retired models that the graph uses, with the enabled model that replaces each. */
  retired?: [name: string, successor: string | undefined][];
  media: [string, MediaValue][];
  /** Ids that were looked up, found or not. */
  lookedUp: string[];
  markupPermille: number;
  /** Results for data URLs that were missing. */
  data?: [string, DataFile][];
  /** Short stand-ins for long data URLs. Each must be used as a file. */
  standIns?: string[];
  /** True if nothing is stored for this plan. Data URLs stay pending. */
  storesNothing?: boolean;
  /** Known outputs of nodes. These nodes don't run again. */
  knownOutputs?: KnownOutputs;
}

/** Outputs by node and port. */
export type KnownOutputs = [string, [string, unknown][]][];

export interface WantedFile {
  id: string;
  /** True if the file may belong to the author: the graph contains the id, and the runner's inputs don't. */
  isAuthors: boolean;
  /** Possible owner, if an inlined graph contains the id. */
  ownerId?: string;
}

/** Further values that a plan needs. */
export interface Missing {
  media?: WantedFile[];
  /** Data URLs to store. If absent, the plan is complete. */
  data?: string[];
  /** Set if the planner needs the originals of stand-ins. */
  wholeInputs?: true;
}

/** Answer if the inputs or the graph prevent planning. */
interface ErrorAnswer {
  answer: "error";
  error: Refusal;
}

/** `models`: names of models in the nodes to run. `workflows`: references of workflow nodes. */
export type NeedsAnswer = ErrorAnswer | { answer: "needs"; models: string[]; workflows: WorkflowReference[] };

/**
 * `forwardedMediaIds`: ids in the graph that may turn out to be files only during the run. `innerMediaIds`: ids in inlined graphs, with
 * their owners. `fileInputs`: names of file inputs.
 */
export type PlanAnswer =
  | ErrorAnswer
  | { answer: "missing"; missing: Missing }
  | { answer: "plan"; plan: RunPlan; forwardedMediaIds: string[]; innerMediaIds?: [ownerId: string, id: string][]; fileInputs: string[] };

export interface Caller {
  userId: string;
}

/** Plans runs. First ask which data a graph needs, look the data up, then plan. */
export interface Planner {
  needs(graph: TaskGraph, caller: Caller): Promise<NeedsAnswer>;
  plan(task: PlanTask, caller: Caller): Promise<PlanAnswer>;
}
