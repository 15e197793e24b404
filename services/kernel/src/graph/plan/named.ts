import { kindOf } from "../kinds";
import { isRecord, type Graph } from "../types";
import { isMediaId } from "../values/media";
import { isBypassed } from "../wiring/bypass";
import { fallbackNames } from "./fallback-setting";
import { valueOf, type RunPlan } from "./plan-types";

/** Names of the models that a graph refers to. */
export const modelNames = (graph: Graph): string[] => [
  ...new Set(
    graph.nodes.flatMap((node) => {
      const { model } = node.data;
      const isCaller = kindOf(node.type)?.calls === "model" && !isBypassed(node);
      return isCaller && typeof model === "string" ? [model, ...fallbackNames(node)] : [];
    }),
  ),
];

export const mediaIds = (graph: Graph): string[] => [
  ...new Set(graph.nodes.flatMap((node) => (isBypassed(node) ? [] : (kindOf(node.type)?.mediaIds?.(node) ?? [])))),
];

const addIds = (value: unknown, ids: Set<string>): void => {
  if (isMediaId(value)) ids.add(value);
  else if (Array.isArray(value)) for (const one of value) addIds(one, ids);
  else if (isRecord(value)) for (const one of Object.values(value)) addIds(one, ids);
};

/** Literals in node data that could be file ids. Notes are skipped. */
export const literalMediaIds = ({ nodes }: Graph): Set<string> => {
  const ids = new Set<string>();
  for (const node of nodes) if (kindOf(node.type)?.runs !== false) addIds(node.data, ids);
  return ids;
};

/** Ids in steps without calls. A later node may use such a value as a file, which only the run decides. */
export const forwardedMediaIds = ({ steps }: Pick<RunPlan, "steps">): string[] => {
  const ids = new Set<string>();
  for (const { type, literals, sources } of steps) {
    const kind = kindOf(type);
    if (!kind?.evaluate) continue;
    for (const [name, value] of Object.entries(literals)) if (name !== kind.code) addIds(value, ids);
    for (const source of Object.values(sources).flat()) if (!("node" in source)) addIds(valueOf(source), ids);
  }
  return [...ids];
};
