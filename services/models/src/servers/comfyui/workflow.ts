import { invalidRequest, isRecord } from "@nodeloom/kernel";
import { LIMITS_OF_SERVERS } from "../server-record";

/** Reads ComfyUI workflows in API format (Workflow → Export (API)). */

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

/** @throws DomainError INVALID_REQUEST with the format to export */
export const readWorkflow = (json: string): WorkflowNode[] => {
  if (json.length > LIMITS_OF_SERVERS.workflowChars) refuse(`must have at most ${LIMITS_OF_SERVERS.workflowChars} characters of JSON`);
  const workflow = JSON.parse(json) as unknown;
  if (!isRecord(workflow)) return refuse("must be an object of nodes");
  if (Array.isArray(workflow.nodes)) refuse("is in the editor's format: export it by Workflow → Export (API)");
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

/** Node classes that save files. Animated WebP and PNG files count as images. */
const KEEPING: readonly (readonly [RegExp, Modality])[] = [
  [/^(?:VHS_VideoCombine|SaveVideo|SaveWEBM)$/, "video"],
  [/^(?:Save|Preview)Audio\w*$/, "audio"],
  [/^(?:SaveImage|PreviewImage|Image Save|SaveAnimated)\w*$/i, "image"],
];
/** Node classes that stream their result to a browser and save no file. */
const SENDING = /^(?:\w+_)?(?:Save|Send)\w*WebSocket$/i;

const keptBy = ({ classType, inputs }: WorkflowNode): Modality | undefined => {
  const { format } = inputs;
  // This class also saves GIF and animated WebP.
  if (classType === "VHS_VideoCombine" && typeof format === "string" && format.startsWith("image/")) return "image";
  return KEEPING.find(([name]) => name.test(classType))?.[1];
};

/**
 * Returns the modality of a workflow; undefined without a known output node. Video takes precedence over audio, and audio over image,
 * because video workflows also save previews.
 */
export const modalityOf = (nodes: readonly WorkflowNode[]): Modality | undefined => {
  const keptKinds = new Set(nodes.map(keptBy));
  return KEEPING.map(([, modality]) => modality).find((modality) => keptKinds.has(modality));
};

/** Returns the nodes whose outputs aren't connected. */
const lastNodes = (nodes: readonly WorkflowNode[]): WorkflowNode[] => {
  const feedingIds = new Set(
    nodes.flatMap(({ inputs }) => Object.values(inputs).flatMap((value) => (Array.isArray(value) ? [String(value[0])] : []))),
  );
  return nodes.filter(({ id }) => !feedingIds.has(id));
};

/** True if a workflow can produce the modality through a known output node or an unknown final node. */
export const mayMake = (nodes: readonly WorkflowNode[], modality: Modality): boolean =>
  nodes.some((node) => keptBy(node) === modality) || lastNodes(nodes).some((node) => keptBy(node) === undefined);

/** @throws DomainError INVALID_REQUEST for nodes whose results can't be fetched */
export const assertKeepsFiles = (nodes: readonly WorkflowNode[]): void => {
  const sending = nodes.find(({ classType }) => SENDING.test(classType));
  if (sending) refuse(`node ${sending.id} (${sending.classType}) saves no file: use SaveImage instead, and export the workflow again`);
};
