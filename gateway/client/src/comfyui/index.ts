import { convert, MOST_IMPORTED, type Conversion } from "./convert";
import { fromApi, isRecord } from "./graph";
import type { ImportModel } from "./models";
import { convertN8n } from "./n8n";
import { fromEditor } from "./subgraphs";

export { readEmbedded } from "./embedded";
export type { ImportModel } from "./models";

/** Workflows of other editors, converted as far as possible. */
export interface Foreign extends Conversion {
  from: "ComfyUI" | "n8n";
}

/**
 * Reads a ComfyUI workflow in its editor's or API format, or the body of `POST /prompt`, or an n8n workflow.
 * @param models models of the service, best first; or the name of an image model if no others are known
 * @returns undefined for any other value
 */
export const readForeign = (value: unknown, models?: readonly ImportModel[] | string): Foreign | undefined => {
  const n8n = convertN8n(value, MOST_IMPORTED);
  if (n8n) return { from: "n8n", ...n8n };
  if (!isRecord(value)) return undefined;
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
