import { invalidRequest, isRecord } from "@nodeloom/kernel";
import { LIMITS_OF_SERVERS } from "../servers/server-record";

/** comfyui/: workflows of ComfyUI, in the format that its API takes (Workflow → Export (API)). */

export interface WorkflowNode {
  id: string;
  classType: string;
  title: string;
  inputs: Readonly<Record<string, unknown>>;
}

const MAX_NODES = 500;

const refuse = (message: string): never => {
  throw invalidRequest([{ path: "workflow", message }]);
};

/** @throws DomainError INVALID_REQUEST that says what to export */
export const readWorkflow = (json: string): WorkflowNode[] => {
  if (json.length > LIMITS_OF_SERVERS.workflowChars) refuse(`must have at most ${LIMITS_OF_SERVERS.workflowChars} characters of JSON`);
  const workflow = JSON.parse(json) as unknown;
  if (!isRecord(workflow)) return refuse("must be an object of nodes");
  if (Array.isArray(workflow.nodes)) refuse("is a workflow as it is saved: export it by Workflow → Export (API)");
  const entries = Object.entries(workflow);
  if (entries.length === 0 || entries.length > MAX_NODES) refuse(`must have 1 to ${MAX_NODES} nodes`);
  return entries.map(([id, node]) => {
    if (!isRecord(node) || typeof node.class_type !== "string")
      return refuse(`node ${id} has no class_type: export it by Workflow → Export (API)`);
    const { _meta: meta, inputs } = node;
    const title = isRecord(meta) && typeof meta.title === "string" ? meta.title.trim() : "";
    return { id, classType: node.class_type, title, inputs: isRecord(inputs) ? inputs : {} };
  });
};

/** Nodes that give files, by their classes' names. */
const GIVING: readonly (readonly [RegExp, "image" | "video" | "audio"])[] = [
  [/^(?:VHS_VideoCombine|SaveVideo|SaveWEBM|SaveAnimated\w*)$/, "video"],
  [/^(?:Save|Preview)Audio\w*$/, "audio"],
  [/^(?:SaveImage|PreviewImage|Image Save)\w*$/i, "image"],
];

/** What a workflow makes: film before sound before pictures, since those of films show pictures, too. Undefined where no node is known. */
export const modalityOf = (nodes: readonly WorkflowNode[]): "image" | "video" | "audio" | undefined =>
  GIVING.find(([name]) => nodes.some(({ classType }) => name.test(classType)))?.[1];
