import { modelNodeType, RESULT_TYPE } from "@nodeloom/kernel/graph";
import { FILE_TYPE, TEXT_TYPE } from "../kinds/looks";
import { readComfy, type ComfyNode } from "./comfy";

/** An imported graph: the convertible part, and a report of the rest. */
export interface Foreign {
  from: "ComfyUI" | "n8n";
  /** In the API's form; undefined if nothing can be converted. */
  graph: { nodes: object[]; edges: object[] } | undefined;
  /** Report for the user. */
  words: string;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const SHOWN = 6;
const COLUMN = 340;
const ROW = 300;

/** "KSampler, 2 × LoraLoader and 3 others". */
const listed = (types: readonly string[]): string => {
  const counts = new Map<string, number>();
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
  const names = [...counts].map(([type, count]) => (count > 1 ? `${count} × ${type}` : type));
  return names.length > SHOWN ? `${names.slice(0, SHOWN).join(", ")} and ${names.length - SHOWN} others` : names.join(", ");
};

/** Counterparts of ComfyUI nodes; parts that a model here includes have none. */
type Role = "text" | "picture" | "file" | "result" | "inside";
const ROLES: readonly (readonly [RegExp, Role])[] = [
  [/^(CLIPTextEncode|PrimitiveString|StringConstant|Text)/, "text"],
  [/^(KSampler|SamplerCustom|UltimateSDUpscale)/, "picture"],
  [/^(LoadImage|LoadVideo|LoadAudio|VHS_LoadVideo)/, "file"],
  [/^(SaveImage|PreviewImage|SaveAnimated|SaveVideo|VHS_VideoCombine)/, "result"],
  [
    /^(CheckpointLoader|UNETLoader|CLIPLoader|DualCLIPLoader|VAE|EmptyLatent|EmptySD3|ModelSampling|FluxGuidance|ConditioningZeroOut)/,
    "inside",
  ],
  [/^(BasicGuider|BasicScheduler|RandomNoise|KSamplerSelect|LatentUpscale|Reroute|PrimitiveNode)/, "inside"],
];
const roleOf = ({ type }: ComfyNode): Role | undefined => ROLES.find(([pattern]) => pattern.test(type))?.[1];

const TYPES = { text: TEXT_TYPE, picture: modelNodeType("image"), file: FILE_TYPE, result: RESULT_TYPE } as const;
const COLUMNS = { text: 0, file: 0, picture: 1, result: 2 } as const;
type Shown = keyof typeof TYPES;

const valueOf = ({ inputs, widgets }: ComfyNode, name: string): unknown => {
  const input = inputs.get(name);
  return input && "value" in input ? input.value : widgets[0];
};

const dataOf = (node: ComfyNode, role: Shown, model: string | undefined): object => {
  const label = node.title === undefined || node.title === node.type ? {} : { label: node.title };
  const text = valueOf(node, "text");
  const seed = valueOf(node, "seed");
  switch (role) {
    case "text":
      return { ...label, text: typeof text === "string" ? text : "" };
    case "picture":
      return { ...label, ...(model === undefined ? {} : { model }), inputs: typeof seed === "number" && seed < 2 ** 31 ? { seed } : {} };
    case "file":
      return { label: node.title ?? String(valueOf(node, "image") ?? "File"), mediaId: "" };
    default:
      return label;
  }
};

/** Ports of links: inputs of a picture, and contents of a result. */
const INPUTS: Readonly<Record<string, string>> = { positive: "prompt", guider: "prompt", latent_image: "image", images: "images" };
const OUTPUTS: Readonly<Record<Shown, string>> = { text: "text", picture: "image", file: "media", result: "" };
const TAKES: Readonly<Record<string, readonly Shown[]>> = { prompt: ["text"], image: ["file", "picture"], images: ["picture", "file"] };

const fromComfy = (nodes: readonly ComfyNode[], model: string | undefined): Foreign => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const shown = nodes.flatMap((node) => {
    const role = roleOf(node);
    return role !== undefined && role !== "inside" ? [{ node, role: role as Shown }] : [];
  });
  const roles = new Map(shown.map(({ node, role }) => [node.id, role]));
  const left = nodes.filter((node) => roleOf(node) === undefined).map(({ type }) => type);
  /** Source of a link, through nodes that aren't converted. */
  const originOf = (from: string, wanted: readonly Shown[], seen: ReadonlySet<string> = new Set()): string | undefined => {
    const role = roles.get(from);
    if (role !== undefined && wanted.includes(role)) return from;
    const node = byId.get(from);
    if (role !== undefined || !node || seen.has(from)) return undefined;
    for (const input of node.inputs.values()) {
      const found = "from" in input ? originOf(input.from, wanted, new Set(seen).add(from)) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const edges = shown.flatMap(({ node }) =>
    [...node.inputs].flatMap(([name, input]) => {
      const target = INPUTS[name];
      const source = "from" in input && target !== undefined ? originOf(input.from, TAKES[target]!) : undefined;
      if (source === undefined) return [];
      return { source: `comfy-${source}`, sourceHandle: OUTPUTS[roles.get(source)!], target: `comfy-${node.id}`, targetHandle: target };
    }),
  );
  const rows = [0, 0, 0];
  const made = shown.map(({ node, role }) => {
    const column = COLUMNS[role];
    const position = { x: column * COLUMN, y: rows[column]! * ROW };
    rows[column]! += 1;
    return { id: `comfy-${node.id}`, type: TYPES[role], position, data: dataOf(node, role, model) };
  });
  const rest = left.length === 0 ? "" : ` Nothing here is like ${listed(left)}.`;
  if (made.length === 0)
    return {
      from: "ComfyUI",
      graph: undefined,
      words: `This is a graph of ComfyUI, and none of its ${nodes.length} nodes has a counterpart here.${rest}`,
    };
  const words = `A graph of ComfyUI: ${made.length} of ${nodes.length} nodes stand here. Loaders, latents and decoders are inside of models here; choose a model for each picture.${rest}`;
  return { from: "ComfyUI", graph: { nodes: made, edges: edges.map((edge, index) => ({ id: `comfy-link-${index}`, ...edge })) }, words };
};

const fromN8n = (value: unknown): Foreign | undefined => {
  if (!isRecord(value) || !Array.isArray(value.nodes) || !isRecord(value.connections)) return undefined;
  const types = value.nodes.flatMap((node) => (isRecord(node) && typeof node.type === "string" ? [node.type] : []));
  if (types.length === 0 || !types.some((type) => /^(@?n8n|n8n-nodes)[-./]/.test(type))) return undefined;
  const names = types.map((type) => type.split(".").at(-1) ?? type);
  const words = `This is a workflow of n8n (${listed(names)}). Its nodes work on other services and don't run here: build the media part here, and call it from n8n with an HTTP Request node.`;
  return { from: "n8n", graph: undefined, words };
};

/** Reads a ComfyUI or n8n graph; undefined for other JSON. @param model model for pictures */
export const readForeign = (value: unknown, model: string | undefined): Foreign | undefined => {
  const n8n = fromN8n(value);
  if (n8n) return n8n;
  const comfy = readComfy(value);
  return comfy && fromComfy(comfy, model);
};
