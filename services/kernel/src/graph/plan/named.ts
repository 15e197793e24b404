import { kindOf } from "../kinds";
import { isRecord, type Graph } from "../types";
import { isMediaId } from "../values/media";
import { isBypassed } from "../wiring/bypass";
import { fallbackNames } from "./fallback-setting";
import type { RunPlan } from "./plan-types";

/** What a graph or its plan names: models, and files by their ids. */

/** The distinct models a graph names. */
export const modelNames = (graph: Graph): string[] => [
  ...new Set(
    graph.nodes.flatMap((node) => {
      const { model } = node.data;
      const isCaller = kindOf(node.type)?.calls === "model" && !isBypassed(node);
      return isCaller && typeof model === "string" ? [model, ...fallbackNames(node)] : [];
    }),
  ),
];

/** The distinct uploaded files a graph names. */
export const mediaIds = (graph: Graph): string[] => [
  ...new Set(graph.nodes.flatMap((node) => (isBypassed(node) ? [] : (kindOf(node.type)?.mediaIds?.(node) ?? [])))),
];

const addIds = (value: unknown, ids: Set<string>): void => {
  if (isMediaId(value)) ids.add(value);
  else if (Array.isArray(value)) for (const one of value) addIds(one, ids);
  else if (isRecord(value)) for (const one of Object.values(value)) addIds(one, ids);
};

/** Every literal in the data of nodes that could be the id of a file. Notes are left out. */
export const literalMediaIds = ({ nodes }: Graph): Set<string> => {
  const ids = new Set<string>();
  for (const node of nodes) if (kindOf(node.type)?.runs !== false) addIds(node.data, ids);
  return ids;
};

/** Ids in steps without calls: what they pass on may be a file for a node behind them, which only the run knows. */
export const forwardedMediaIds = ({ steps }: Pick<RunPlan, "steps">): string[] => {
  const ids = new Set<string>();
  for (const { type, literals, sources } of steps) if (kindOf(type)?.evaluate) addIds([literals, Object.values(sources)], ids);
  return [...ids];
};
