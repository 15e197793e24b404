import type { DataFile, MediaValue, RunPlan } from "@nodeloom/kernel";
import type { Refusal } from "../../run/types";
import type { CatalogModel } from "../model-catalog";

/** What planning asks a planner, here or in another thread, and what that answers. Plain values that can be cloned. */

/** A model as it was looked up. */
export type TaskModel = Pick<CatalogModel, "internalName" | "modality" | "providerKind" | "price" | "inputSchemaJson">;

/** A saved graph; its texts are sent only to a planner that does not have them. */
export interface TaskGraph {
  /** Changes with the graph. */
  key: string;
  /** Its texts are short, and nothing in them has to be compiled. */
  isBrief: boolean;
  texts?: { nodesJson: string; edgesJson: string };
  /** The node that the run goes to; without it everything runs. */
  until?: string;
  /** Somebody else's template: ids of files that it says itself may be its author's. */
  isForeign: boolean;
}

export interface PlanTask {
  target: { graph: TaskGraph } | { model: string };
  inputsJson: string;
  /** Enabled models that the graph names; null before they were looked up. */
  models: TaskModel[] | null;
  /** Files that were found, by id. */
  media: [string, MediaValue][];
  /** Ids that were looked up, found or not. */
  lookedUp: string[];
  markupPermille: number;
  /** What has become of data URLs that were asked for. */
  data?: [string, DataFile][];
  /** Short data URLs in the inputs, each standing for a long one: none may be anything but a file. */
  standIns?: string[];
  /** Nothing is stored for this plan: data URLs stay pending. */
  storesNothing?: boolean;
}

/** A file to look up. */
export interface WantedFile {
  id: string;
  /** The graph says the id itself. */
  isLiteral: boolean;
}

export interface Lookup {
  models: string[];
  media: WantedFile[];
  /** Data URLs to be stored: of a plan that is good but for them. */
  data?: string[];
}

export type PlanAnswer =
  /** The texts of the graph are needed. */
  | { answer: "texts" }
  /** What was taken out of the inputs is needed. */
  | { answer: "whole" }
  /** More has to be known. */
  | { answer: "lookup"; lookup: Lookup }
  /** Why nothing can be planned: the inputs, or the graph. */
  | { answer: "error"; error: Refusal }
  /**
   * `forwardedMediaIds`: ids that the graph says itself and that may turn out to be files only while it runs.
   * `fileInputs`: names of inputs that are files.
   */
  | { answer: "plan"; plan: RunPlan; forwardedMediaIds: string[]; fileInputs: string[] };

/** Plans one run, as far as it can with what it was given. */
export type Planner = (task: PlanTask, options: { userId: string }) => Promise<PlanAnswer>;

/** A task of a thread. */
export interface ThreadTask {
  /** Which the thread says when it begins. */
  id: number;
  task: PlanTask;
}
