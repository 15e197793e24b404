/** Graphs of ComfyUI in one form, for its editor's format and its API format. */

export interface Link {
  from: string;
  /** Index of the output. */
  slot: number;
}
export type Input = Link | { value: unknown };

export interface ComfyNode {
  id: string;
  type: string;
  title: string | undefined;
  /** 2: muted, 4: bypassed. */
  mode: number;
  /** Undefined in the API format. */
  place: { x: number; y: number } | undefined;
  inputs: ReadonlyMap<string, Input>;
  /** Values in the editor's order, because it doesn't save their names. */
  widgets: readonly unknown[];
  /** Types of the outputs; empty in the API format. */
  outputs: readonly string[];
}

export interface Area {
  title: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface ComfyGraph {
  nodes: readonly ComfyNode[];
  /** Groups of the editor, and the areas of expanded subgraphs. */
  groups: readonly Area[];
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
export const recordsOf = (value: unknown): Record<string, unknown>[] => listOf(value).filter(isRecord);
export const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
export const isLink = (input: Input | undefined): input is Link => input !== undefined && "from" in input;

/** A number in a pair: `[x, y]`, or `{"0": x, "1": y}` in old files. */
export const coordinate = (pair: unknown, index: number): number => {
  const value = Array.isArray(pair) ? (pair as unknown[])[index] : isRecord(pair) ? pair[String(index)] : undefined;
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
};

const apiInput = (value: unknown): Input =>
  Array.isArray(value) && value.length === 2 && typeof value[1] === "number" ? { from: String(value[0]), slot: value[1] } : { value };

/** Reads the API format: nodes by id, each with `class_type` and `inputs`. */
export const fromApi = (value: Record<string, unknown>): ComfyGraph | undefined => {
  const entries = Object.entries(value).filter((entry): entry is [string, Record<string, unknown>] => isRecord(entry[1]));
  if (entries.length === 0 || !entries.every(([, node]) => typeof node.class_type === "string" && isRecord(node.inputs))) return undefined;
  const nodes = entries.map(([id, { class_type: type, inputs, _meta: meta }]): ComfyNode => {
    const inputEntries = Object.entries(inputs as Record<string, unknown>).map(([name, input]) => [name, apiInput(input)] as const);
    const title = isRecord(meta) ? textOf(meta.title) : undefined;
    return { id, type: String(type), title, mode: 0, place: undefined, inputs: new Map(inputEntries), widgets: [], outputs: [] };
  });
  return { nodes, groups: [] };
};
