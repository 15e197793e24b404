import { callsTransform, isRecord, type GraphNode, type JsonSchema } from "@nodeloom/kernel/graph";
import { settingAt, settingPath } from "./setting-path";
import { kindOf } from "./kinds";
import { capitalized } from "../ui/format";
import type { NodePorts } from "./ports";

export interface NodeSetting {
  name: string;
  label: string;
  path: readonly string[];
  schema: JsonSchema;
  value: unknown;
}

export const SEED = "seed";
/** The smallest upper bound of models' seeds. */
const SEEDS = 2 ** 31 - 1;

/** A random seed in the model's range. */
export const anySeed = ({ minimum, maximum }: JsonSchema): number => {
  const from = typeof minimum === "number" ? Math.max(0, minimum) : 0;
  const to = Math.min(typeof maximum === "number" ? maximum : SEEDS, SEEDS);
  return from + Math.floor(Math.random() * (to - from + 1));
};

/** Maximum number of settings on a node. */
const MOST = 4;
/** Longer texts don't fit into a line of a node. */
const SHORT_TEXT = 60;
/** Settings for experts, which only the panel shows. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  "prompt",
  "system",
  "operation",
  "sandbox",
  "temperature",
  "maxTokens",
  "topP",
  "top_p",
  "parallel_tool_calls",
]);

const isShort = ({ enum: options, type, format, maxLength }: JsonSchema): boolean => {
  if (format === "media") return false;
  if (Array.isArray(options)) return options.every((option) => typeof option === "string" || typeof option === "number");
  if (type === "string") return maxLength === undefined || (typeof maxLength === "number" && maxLength <= SHORT_TEXT);
  return type === "boolean" || type === "number" || type === "integer";
};

/** "Width (pixels)": the unit is in the hint. */
const UNIT = / \(.*\)$/;
/** Longer titles are sentences. */
const SHORT_TITLE = 14;

/** Label of a setting: a short title, else "Aspect ratio" from `aspect_ratio`. */
/** "Fail on status" from `failOnStatus` or `fail_on_status`. */
export const wordsOf = (name: string): string => {
  const words = name.replaceAll("_", " ").replaceAll(/([a-z])([A-Z])/g, "$1 $2");
  return capitalized(words.toLowerCase());
};

const settingLabel = (name: string, { title }: JsonSchema): string => {
  const withoutUnit = typeof title === "string" ? title.replace(UNIT, "") : undefined;
  if (withoutUnit !== undefined && withoutUnit.length <= SHORT_TITLE) return withoutUnit;
  return wordsOf(name);
};

/**
 * The first short settings of a model or an operation, in the order of its schema, which lists important ones first. A seed is always
 * included.
 */
export const mainSettings = (node: GraphNode, { schema, wired }: Pick<NodePorts, "schema" | "wired">): readonly NodeSetting[] => {
  if (kindOf(node.type).rules?.portsOfModel !== true && !callsTransform(node.type)) return [];
  const all = isRecord(schema?.properties) ? Object.entries(schema.properties) : [];
  const short = all.filter(
    (entry): entry is [string, JsonSchema] => isRecord(entry[1]) && !ELSEWHERE.has(entry[0]) && !wired.has(entry[0]) && isShort(entry[1]),
  );
  const seed = short.filter(([name]) => name === SEED);
  const others = short.filter(([name]) => name !== SEED).slice(0, MOST - seed.length);
  return [...others, ...seed].map(([name, property]) => {
    const path = settingPath(node, name);
    return { name, label: settingLabel(name, property), path, schema: property, value: settingAt(node, path) };
  });
};
