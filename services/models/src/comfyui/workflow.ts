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

export const MODALITIES = ["image", "video", "audio"] as const;
export type Modality = (typeof MODALITIES)[number];

/** Nodes that keep files, by their classes' names. Animated WebP and PNG files are pictures. */
const KEEPING: readonly (readonly [RegExp, Modality])[] = [
  [/^(?:VHS_VideoCombine|SaveVideo|SaveWEBM)$/, "video"],
  [/^(?:Save|Preview)Audio\w*$/, "audio"],
  [/^(?:SaveImage|PreviewImage|Image Save|SaveAnimated)\w*$/i, "image"],
];
/** Nodes that send what they make to an open page, and keep no file. */
const SENDING = /^(?:\w+_)?(?:Save|Send)\w*WebSocket$/i;

const keptBy = ({ classType, inputs }: WorkflowNode): Modality | undefined => {
  const { format } = inputs;
  // This one also makes GIF and animated WebP.
  if (classType === "VHS_VideoCombine" && typeof format === "string" && format.startsWith("image/")) return "image";
  return KEEPING.find(([name]) => name.test(classType))?.[1];
};

/** What a workflow makes: film before sound before pictures, since workflows of films also show pictures. Undefined where no node is known. */
export const modalityOf = (nodes: readonly WorkflowNode[]): Modality | undefined => {
  const kept = new Set(nodes.map(keptBy));
  return KEEPING.map(([, modality]) => modality).find((modality) => kept.has(modality));
};

/** Nodes whose outputs no other node takes. */
const lastNodes = (nodes: readonly WorkflowNode[]): WorkflowNode[] => {
  const taken = new Set(
    nodes.flatMap(({ inputs }) => Object.values(inputs).flatMap((value) => (Array.isArray(value) ? [String(value[0])] : []))),
  );
  return nodes.filter(({ id }) => !taken.has(id));
};

/** Whether a workflow may make files of a kind: by a node that keeps such, or by one that is not known. */
export const mayMake = (nodes: readonly WorkflowNode[], modality: Modality): boolean =>
  nodes.some((node) => keptBy(node) === modality) || lastNodes(nodes).some((node) => keptBy(node) === undefined);

/** @throws DomainError INVALID_REQUEST for nodes whose results can't be fetched */
export const assertKeepsFiles = (nodes: readonly WorkflowNode[]): void => {
  const sending = nodes.find(({ classType }) => SENDING.test(classType));
  if (sending) refuse(`node ${sending.id} (${sending.classType}) keeps no file: use SaveImage in its place, and export the workflow again`);
};
