import type { Execution } from "@nodeloom/client";
import { makesResult } from "@nodeloom/kernel/graph";
import { edgesOf, type DocGraph } from "../document/graph";
import { familyOfUrl, safeUrl, type MediaFamily } from "../api/media-url";

/** A file that a run made. */
export interface OutputFile {
  url: string;
  family: MediaFamily | undefined;
}

const FAMILIES: ReadonlyMap<string, MediaFamily> = new Map([
  ["images", "image"],
  ["image", "image"],
  ["videos", "video"],
  ["video", "video"],
  ["audios", "audio"],
  ["audio", "audio"],
]);

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const familyOfType = (contentType: unknown): MediaFamily | undefined => {
  const family = typeof contentType === "string" ? contentType.split("/")[0] : undefined;
  return family === "image" || family === "video" || family === "audio" ? family : undefined;
};

const MAX_DEPTH = 6;

/** Every file of ours (or https) inside a value. */
export const filesIn = (value: unknown, name = "", depth = 0): OutputFile[] => {
  if (depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((item) => filesIn(item, name, depth + 1));
  if (!isRecord(value)) return [];
  const url = typeof value.url === "string" ? safeUrl(value.url) : undefined;
  if (url !== undefined) return [{ url, family: familyOfType(value.contentType) ?? FAMILIES.get(name) ?? familyOfUrl(url) }];
  return Object.entries(value).flatMap(([member, inner]) => filesIn(inner, member, depth + 1));
};

/** What of a result is no file: texts and other values, by name. */
export const valuesIn = (result: Readonly<Record<string, unknown>>): [string, unknown][] =>
  Object.entries(result).filter(
    ([, value]) => filesIn(value).length === 0 && value !== undefined && !(Array.isArray(value) && value.length === 0),
  );

/** What the nodes gave at which a run ended: those that led to no other of it. */
export const endOutputs = (graph: DocGraph, { nodes }: Execution): { id: string; outputs: Readonly<Record<string, unknown>> }[] => {
  const ran = new Set(nodes.map(({ id }) => id));
  const leads = new Set(edgesOf(graph).flatMap(({ source, target }) => (ran.has(target) ? [source] : [])));
  return nodes.flatMap(({ id, outputs }) => (outputs === undefined || leads.has(id) ? [] : [{ id, outputs }]));
};

/** Files by the node that made them: as the execution says, else as far as the result's edges tell. */
export const filesByNode = (graph: DocGraph, execution: Execution | undefined): ReadonlyMap<string, OutputFile[]> => {
  const files = new Map<string, OutputFile[]>();
  if (!execution) return files;
  for (const node of execution.nodes) {
    const own = filesIn((node as { outputs?: unknown }).outputs);
    if (own.length > 0) files.set(node.id, own);
  }
  for (const node of graph.nodes) {
    if ("stranger" in node || !makesResult(node.type)) continue;
    const made = filesIn(execution.result);
    if (made.length > 0) files.set(node.id, made);
    for (const name of ["images", "videos", "audios"]) {
      const edges = edgesOf(graph).filter((edge) => edge.target === node.id && edge.targetHandle === name);
      const [only] = edges;
      const found = filesIn({ [name]: execution.result?.[name] });
      if (only && edges.length === 1 && !files.has(only.source) && found.length > 0) files.set(only.source, found);
    }
  }
  return files;
};
