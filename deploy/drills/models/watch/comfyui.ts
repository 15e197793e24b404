import type { Offer } from "./sources";

/** Models that a running ComfyUI offers through its partner nodes, which call companies' APIs. */

interface NodeInfo {
  api_node?: boolean;
  deprecated?: boolean;
  python_module?: string;
  input?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export const COMFYUI = "comfyui";
const DEADLINE_MS = 60_000;
const PARTNER = /^comfy_api_nodes\.nodes_(\w+)$/;
const MODEL_INPUTS: readonly string[] = ["model", "model_name", "model_id", "model_version"];

/** Choices of an input: its first part is a list of texts, or a kind of list with `options`, texts or objects with a `key`. */
const choicesOf = (input: unknown): string[] => {
  const [kind, settings] = Array.isArray(input) ? (input as [unknown, { options?: unknown } | undefined]) : [];
  const choices: unknown = Array.isArray(kind) ? kind : settings?.options;
  if (!Array.isArray(choices)) return [];
  return choices
    .map((one: unknown) => (typeof one === "string" ? one : String((one as { key?: unknown } | null)?.key ?? "")))
    .filter(Boolean);
};

const modelsOf = ({ input = {} }: NodeInfo): string[] =>
  Object.values(input).flatMap((group) => MODEL_INPUTS.flatMap((name) => choicesOf(group[name])));

/** A name without case, punctuation and the account or region before its last slash. Companies and ComfyUI write one model differently. */
export const plainName = (id: string): string => {
  const name = id.slice(id.lastIndexOf("/") + 1);
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
};

/**
 * Models of a node list, as `/object_info` of ComfyUI returns it, that have none of the given names.
 * @throws Error if the list has no partner nodes
 */
export const offersIn = (nodes: Readonly<Record<string, NodeInfo>>, plainNames: ReadonlySet<string>): Offer[] => {
  const partners = Object.values(nodes).filter(({ api_node: isPartner, deprecated }) => isPartner === true && deprecated !== true);
  if (partners.length === 0) throw new Error("comfyui: no partner nodes were found; was it started with --disable-api-nodes?");
  const ids = partners.flatMap((node) => {
    const partner = PARTNER.exec(node.python_module ?? "")?.[1] ?? "other";
    return modelsOf(node).flatMap((model) => (plainNames.has(plainName(model)) ? [] : [`${partner}/${model}`]));
  });
  return [...new Set(ids)].map((id) => ({ company: COMFYUI, id, source: "ComfyUI", costs: {} }));
};

/** Reads the node list of a running ComfyUI. @throws Error if it can't be read */
export const fetchNodes = async (address: string): Promise<Readonly<Record<string, NodeInfo>>> => {
  try {
    const response = await fetch(new URL("/object_info", address), { signal: AbortSignal.timeout(DEADLINE_MS) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return (await response.json()) as Readonly<Record<string, NodeInfo>>;
  } catch (error) {
    throw new Error(`comfyui: the node list of ${address} can't be read: ${(error as Error).message}`, { cause: error });
  }
};
