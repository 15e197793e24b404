/** Reads ComfyUI graphs, saved by its editor or for its API, into one form: a class and inputs per node. */

export interface ComfyNode {
  id: string;
  type: string;
  title: string | undefined;
  /** A link is the id of its source node. */
  inputs: ReadonlyMap<string, { from: string } | { value: unknown }>;
  /** Values in the editor's order; their names aren't saved. */
  widgets: readonly unknown[];
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const apiInput = (value: unknown): { from: string } | { value: unknown } =>
  Array.isArray(value) && value.length === 2 && typeof value[1] === "number" ? { from: String(value[0]) } : { value };

/** API format: nodes by id, each with `class_type` and `inputs`. */
const fromApi = (value: Record<string, unknown>): ComfyNode[] | undefined => {
  const entries = Object.entries(value).filter((entry): entry is [string, Record<string, unknown>] => isRecord(entry[1]));
  if (entries.length === 0 || !entries.every(([, node]) => typeof node.class_type === "string" && isRecord(node.inputs))) return undefined;
  return entries.map(([id, { class_type: type, inputs, _meta: meta }]) => ({
    id,
    type: String(type),
    title: isRecord(meta) ? textOf(meta.title) : undefined,
    inputs: new Map(Object.entries(inputs as Record<string, unknown>).map(([name, input]) => [name, apiInput(input)])),
    widgets: [],
  }));
};

/** Source nodes by link id: `[id, from, slot, to, slot, type]`, or an object. */
const linkSources = (links: readonly unknown[]): ReadonlyMap<string, string> =>
  new Map(
    links.flatMap((link): [string, string][] => {
      if (Array.isArray(link)) return [[String(link[0]), String(link[1])]];
      return isRecord(link) ? [[String(link.id), String(link.origin_id)]] : [];
    }),
  );

/** Editor format: `nodes` with widgets and slots, and `links`. */
const fromEditor = ({ nodes, links }: Record<string, unknown>): ComfyNode[] | undefined => {
  if (!Array.isArray(nodes) || !Array.isArray(links)) return undefined;
  const read = nodes.filter(isRecord);
  if (read.length === 0 || !read.every(({ type, pos }) => typeof type === "string" && pos !== undefined)) return undefined;
  const sources = linkSources(links);
  return read.map(({ id, type, title, inputs, widgets_values: widgets }) => {
    const slots = (Array.isArray(inputs) ? (inputs as unknown[]) : []).filter(isRecord);
    const linked = slots.flatMap(({ name, link }): [string, { from: string }][] => {
      const from = link === null || link === undefined ? undefined : sources.get(String(link as number));
      return from === undefined ? [] : [[String(name), { from }]];
    });
    return {
      id: String(id),
      type: String(type),
      title: textOf(title),
      inputs: new Map(linked),
      widgets: Array.isArray(widgets) ? (widgets as unknown[]) : [],
    };
  });
};

/** Nodes of a ComfyUI graph; undefined for other values. */
export const readComfy = (value: unknown): ComfyNode[] | undefined => (isRecord(value) ? (fromApi(value) ?? fromEditor(value)) : undefined);
