import { convert, type Conversion } from "./convert";
import { fromApi, isRecord } from "./graph";
import type { ImportModel } from "./models";
import { listed } from "./report";
import { fromEditor } from "./subgraphs";

export { readEmbedded } from "./embedded";
export type { ImportModel } from "./models";

/** Workflows of other editors: ComfyUI's are converted, n8n's are recognised. */
export interface Foreign extends Conversion {
  from: "ComfyUI" | "n8n";
}

const fromN8n = (value: unknown): Foreign | undefined => {
  if (!isRecord(value) || !Array.isArray(value.nodes) || !isRecord(value.connections)) return undefined;
  const types = value.nodes.flatMap((node) => (isRecord(node) && typeof node.type === "string" ? [node.type] : []));
  if (types.length === 0 || !types.some((type) => /^(@?n8n|n8n-nodes)[-./]/.test(type))) return undefined;
  const names = types.map((type) => type.split(".").at(-1) ?? type);
  const words = `This is an n8n workflow (${listed(names)}). Its nodes call other services and don't run here. Build the media part here, and call it from n8n with an HTTP Request node.`;
  return { from: "n8n", graph: undefined, words };
};

/**
 * Reads a ComfyUI workflow in its editor's or API format, or the body of `POST /prompt`; recognises n8n workflows.
 * @param models models of the service, best first; or the name of an image model if no others are known
 * @returns undefined for any other value
 */
export const readForeign = (value: unknown, models?: readonly ImportModel[] | string): Foreign | undefined => {
  const n8n = fromN8n(value);
  if (n8n || !isRecord(value)) return n8n;
  // `extra_pnginfo` has the workflow in the editor's format, with positions, groups and notes.
  const extraWorkflow =
    isRecord(value.extra_data) && isRecord(value.extra_data.extra_pnginfo) ? value.extra_data.extra_pnginfo.workflow : undefined;
  const bodies = [extraWorkflow, value, value.prompt, value.workflow].filter(isRecord);
  for (const body of bodies) {
    const graph = fromEditor(body) ?? fromApi(body);
    if (graph && graph.nodes.length > 0) return { from: "ComfyUI", ...convert(graph, models) };
  }
  return undefined;
};
