import type { Model } from "@nodeloom/client";
import { readEmbedded, readForeign } from "@nodeloom/client/comfyui";
import { createWorkflow } from "../../api/workflow-remote";
import { members } from "../../document/graph";
import { WORKFLOW_IMPORT } from "../../messages/workflow-import";

/** Imports workflows from files. Loaded when a file is chosen, because few users of the list import one. */

/** Members copied to a duplicate. */
const COPIED = ["description", "tags", "nodes", "edges", "viewport", "cover"] as const;
const MEGABYTE = 1_000_000;
const MAX_IMPORT_BYTES = 8 * MEGABYTE;
const MAX_PICTURE_BYTES = 64 * MEGABYTE;

/** Creates a workflow from texts, so that its graph stays unchanged. */
const createFromText = async (text: string, name: string): Promise<string> => {
  const texts = members(text);
  const newMembers = new Map<string, string>([["name", JSON.stringify(name)]]);
  for (const member of COPIED) {
    const value = texts.get(member);
    if (value !== undefined && value !== "null") newMembers.set(member, value);
  }
  return createWorkflow(newMembers);
};

const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

const nameOfFile = ({ name }: File): string => name.replace(/\.(?:json|png|webp)$/i, "");

export interface ImportedWorkflow {
  slug: string;
  /** Set for a workflow of another program: which of its nodes were translated. */
  words?: string;
}

/**
 * Creates a workflow from an exported file, or from a picture or file of ComfyUI.
 * @param loadModels the models that foreign nodes can become, best first
 * @throws Error with words for people, NodeloomError
 */
export const importWorkflow = async (file: File, loadModels: () => Promise<readonly Model[]>): Promise<ImportedWorkflow> => {
  const isPicture = file.type.startsWith("image/");
  const most = isPicture ? MAX_PICTURE_BYTES : MAX_IMPORT_BYTES;
  const { pictureTooLarge, workflowTooLarge, noEmbeddedWorkflow, notJson, noNodes } = WORKFLOW_IMPORT;
  if (file.size > most) throw new Error((isPicture ? pictureTooLarge : workflowTooLarge)(file.name, most / MEGABYTE));
  const text = isPicture ? "" : await file.text();
  const value = isPicture ? await readEmbedded(new Uint8Array(await file.arrayBuffer())) : parsedJson(text);
  if (value === undefined) throw new Error((isPicture ? noEmbeddedWorkflow : notJson)(file.name));
  const foreign = readForeign(value, await loadModels());
  if (foreign && !foreign.graph) throw new Error(foreign.words);
  if (foreign) return { slug: await createFromText(JSON.stringify(foreign.graph), nameOfFile(file)), words: foreign.words };
  const { name, nodes } = (value ?? {}) as { name?: unknown; nodes?: unknown };
  if (!Array.isArray(nodes)) throw new Error(noNodes(file.name));
  return { slug: await createFromText(text, typeof name === "string" && name !== "" ? name : nameOfFile(file)) };
};
