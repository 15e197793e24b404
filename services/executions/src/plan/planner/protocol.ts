import type { DataFile, MediaValue, RunPlan, WorkflowReference } from "@nodeloom/kernel";
import type { Refusal } from "../../run/types";
import type { CatalogModel } from "../model-catalog";

/** What planning asks a planner, in this thread or another, and what that answers: plain values that can be cloned. */

/** What a plan has to know of a model. */
export type TaskModel = Pick<
  CatalogModel,
  "internalName" | "modality" | "providerKind" | "price" | "inputSchemaJson" | "outputs" | "fallback"
>;

/** A saved graph. */
export interface TaskGraph {
  /** Changes with the graph. */
  key: string;
  nodesJson: string;
  edgesJson: string;
  /** The node that the run goes to; without it everything runs. */
  until?: string;
}

/** Workflows that stand in a graph, to any depth. */
export interface InnerTask {
  /** `pinnedModels`: of a version, what its tasks became when it was published. */
  definitions: { key: string; graph: TaskGraph; ownerId: string; pinnedModels: [task: string, model: string][] }[];
  /** What each node means, by the key of the graph that it is in; the outermost has none. */
  references: [within: string, nodeId: string, key: string][];
}

export interface PlanTask {
  /**
   * `isForeign`: the graph is somebody else's template, and ids of files in it may be its author's. `schemaJson`: the JSON Schema that
   * the model's answer must fit.
   */
  target: { graph: TaskGraph; isForeign: boolean; inner?: InnerTask; runnerId?: string } | { model: string; schemaJson?: string };
  inputsJson: string;
  /** The model, or those enabled that the graph names, and those that may come in their places. */
  models: TaskModel[];
  /** All enabled models, where one that the graph names is not among them. */
  modelNames?: string[];
  /** What tasks that the graph names have become, by name: a model, or the reason why there is none. */
  autos?: [string, { model: string } | { problem: string }][];
  /** Files that were found, by id. */
  media: [string, MediaValue][];
  /** Ids that were looked up, found or not. */
  lookedUp: string[];
  markupPermille: number;
  /** What has become of data URLs that were missing. */
  data?: [string, DataFile][];
  /** Short data URLs in the inputs, each standing for a long one: none may be anything but a file. */
  standIns?: string[];
  /** Nothing is stored for this plan: data URLs stay pending. */
  storesNothing?: boolean;
  /** What nodes are known to give, by port, without being run. */
  given?: GivenOutputs;
}

/** Values that nodes give, by node and by port. */
export type GivenOutputs = [string, [string, unknown][]][];

/** A file to look up. */
export interface WantedFile {
  id: string;
  /** It may be the author's: the graph says the id itself, and the runner's inputs don't. */
  isAuthors: boolean;
  /** Whose it may be, where a graph inside the author's says the id. */
  ownerId?: string;
}

/** What a plan has to know besides. */
export interface Missing {
  media?: WantedFile[];
  /** Data URLs to be stored: of a plan that is good but for them. */
  data?: string[];
  /** What stand-ins stand for. */
  wholeInputs?: true;
}

/** Why nothing can be planned: the inputs, or the graph. */
interface Refused {
  answer: "error";
  error: Refusal;
}

/** `models`: the names of the models that the nodes to run name. `workflows`: what those name that stand for workflows. */
export type NeedsAnswer = Refused | { answer: "needs"; models: string[]; workflows: WorkflowReference[] };

/**
 * `forwardedMediaIds`: ids that the graph says itself and that may turn out to be files only while it runs.
 * `innerMediaIds`: the same of graphs inside it, with their owners. `fileInputs`: names of inputs that are files.
 */
export type PlanAnswer =
  | Refused
  | { answer: "missing"; missing: Missing }
  | { answer: "plan"; plan: RunPlan; forwardedMediaIds: string[]; innerMediaIds?: [ownerId: string, id: string][]; fileInputs: string[] };

export interface Caller {
  userId: string;
}

/** Plans runs. Who plans a graph asks what it needs, looks that up, and has the run planned. */
export interface Planner {
  needs(graph: TaskGraph, caller: Caller): Promise<NeedsAnswer>;
  plan(task: PlanTask, caller: Caller): Promise<PlanAnswer>;
}
