import { isRecord, type JsonSchema } from "@nodeloom/kernel/graph";
import { settingAt, settingPath } from "../../canvas/setting-path";
import { kindOf } from "../../canvas/kinds";
import { wordsOf } from "../../canvas/settings";
import { setData } from "../../document/edit";
import type { DocGraph, DocNode } from "../../document/graph";
import { propertiesOf } from "../../ui/inputs/properties";
import { COMMON } from "../../messages/common";
import { AXES } from "../../messages/editor/sweep";

/** Sweeps: one or two settings of a node, each with several values. */

/** Maximum variations of a sweep: as many as fit on a page and a person can compare. */
export const MOST_VARIATIONS = 36;
const MOST_SEED = 2 ** 31 - 1;
const LARGE_TEXT_CHARS = 60;

export type ValueKind = "choice" | "number" | "seed" | "text";

export interface Option {
  value: unknown;
  title: string;
}

export interface Setting {
  name: string;
  title: string;
  /** Path in the node's data. */
  path: readonly string[];
  kind: ValueKind;
  options: readonly Option[];
  isWhole: boolean;
  /** Bounds of a number or seed. */
  least: number | undefined;
  most: number | undefined;
}

export interface Axis {
  setting: Setting;
  values: readonly unknown[];
}

/** Settings of a node by path, in the form of batches: `{model, inputs: {seed}}`. */
export type Settings = Readonly<Record<string, unknown>>;

export interface Variation {
  settings: Settings;
  /** Index on each axis. */
  at: readonly number[];
}

const numberOr = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

const kindOfSchema = (name: string, schema: JsonSchema): ValueKind | undefined => {
  const isNumber = schema.type === "number" || schema.type === "integer";
  if (name === "seed" && isNumber) return "seed";
  if (Array.isArray(schema.enum) || schema.type === "boolean") return "choice";
  if (isNumber) return "number";
  return schema.type === "string" && schema.format !== "media" ? "text" : undefined;
};

const optionsOf = (schema: JsonSchema): Option[] => {
  if (schema.type === "boolean")
    return [
      { value: false, title: AXES.off },
      { value: true, title: AXES.on },
    ];
  return (Array.isArray(schema.enum) ? (schema.enum as unknown[]) : []).map((value) => ({ value, title: String(value) }));
};

const settingOf = (name: string, schema: JsonSchema, path: readonly string[]): Setting | undefined => {
  const kind = kindOfSchema(name, schema);
  if (kind === undefined) return undefined;
  return {
    ...{ name, path, kind, options: optionsOf(schema), isWhole: schema.type === "integer" },
    title: typeof schema.title === "string" ? schema.title : wordsOf(name),
    least: numberOr(schema.minimum),
    most: numberOr(schema.maximum),
  };
};

/** Sandbox behaviour is for tests, and list limits don't affect outputs. */
const NEVER: ReadonlySet<string> = new Set([
  ...["sandbox", "model", "inputs", "maxItems", "onItemError", "onRetired", "schema"],
  ...["prefer", "allow", "maxCredits"],
]);

/**
 * Settings that can vary.
 * @param schema inputs of the node's model
 * @param models alternative models
 * @param wired linked inputs, whose values come from other nodes
 */
export const settingsOf = (
  node: DocNode,
  schema: JsonSchema | undefined,
  models: readonly Option[],
  wired: ReadonlySet<string>,
): Setting[] => {
  const model: Setting = {
    ...{ name: "model", title: COMMON.model, path: ["model"], kind: "choice", options: models },
    ...{ isWhole: false, least: undefined, most: undefined },
  };
  const { rules } = kindOf(node.type);
  const ofKind = Object.entries(rules?.settings ?? {}).filter((entry): entry is [string, JsonSchema] => isRecord(entry[1]));
  const ofModel = propertiesOf(schema);
  const modelNames = new Set(ofModel.map(([name]) => name));
  const own = [...ofKind.filter(([name]) => !modelNames.has(name)), ...propertiesOf(rules?.schema?.(node))];
  const all = [
    ...ofModel.flatMap(([name, one]) => settingOf(name, one, settingPath(node, name)) ?? []),
    ...own.flatMap(([name, one]) => settingOf(name, one, [name]) ?? []),
  ];
  const free = all.filter(({ name }) => !NEVER.has(name) && !wired.has(name));
  return [...(models.length > 1 ? [model] : []), ...new Map(free.map((one) => [one.name, one])).values()];
};

export const randomSeeds = ({ least, most }: Setting, count: number, random: () => number = Math.random): number[] => {
  const [from, to] = [Math.max(0, least ?? 0), Math.min(MOST_SEED, most ?? MOST_SEED)];
  const seeds = new Set<number>();
  const seedCount = Math.min(count, to - from + 1);
  while (seeds.size < seedCount) seeds.add(from + Math.floor(random() * (to - from + 1)));
  return [...seeds];
};

/** Typed values of a setting: comma-separated numbers, or one text per line. Returns the problem for invalid values. */
export const typedValues = (setting: Setting, typed: string): { values: unknown[]; problem?: string } => {
  const parts = typed
    .split(setting.kind === "text" ? "\n" : /[,;\s]/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
  if (setting.kind === "text") return { values: [...new Set(parts)] };
  const values = [...new Set(parts.map(Number))];
  const { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY, isWhole } = setting;
  const bad = parts.find((part) => !Number.isFinite(Number(part)) || (isWhole && !Number.isInteger(Number(part))));
  if (bad !== undefined) return { values: [], problem: AXES.notANumber(bad, isWhole) };
  const outside = values.find((value) => value < least || value > most);
  return outside === undefined ? { values } : { values: [], problem: AXES.isntBetweenAnd(outside, least, most) };
};

const withSetting = (settings: Settings, [first, second]: readonly string[], value: unknown): Settings => {
  if (first === undefined) return settings;
  if (second === undefined) return { ...settings, [first]: value };
  return { ...settings, [first]: { ...(isRecord(settings[first]) ? settings[first] : {}), [second]: value } };
};

/** All combinations of values, row by row. */
export const variationsOf = (axes: readonly Axis[]): Variation[] =>
  axes.reduce<Variation[]>(
    (before, { setting, values }) =>
      before.flatMap(({ settings, at }) =>
        values.map((value, index) => ({ settings: withSetting(settings, setting.path, value), at: [...at, index] })),
      ),
    [{ settings: {}, at: [] }],
  );

/** Settings as paths and values. `inputs` is split into its members, as in batches. */
export const pathsOf = (settings: Settings): [path: string[], value: unknown][] =>
  Object.entries(settings).flatMap(([name, value]): [string[], unknown][] =>
    name === "inputs" && isRecord(value)
      ? Object.entries(value).map(([input, one]): [string[], unknown] => [[name, input], one])
      : [[[name], value]],
  );

/** A copy of the graph with a variation's settings. */
export const withVariation = (graph: DocGraph, nodeId: string, settings: Settings): DocGraph =>
  pathsOf(settings).reduce((next, [path, value]) => setData(next, nodeId, path, value), graph);

export const hasSettings = (node: DocNode, settings: Settings): boolean =>
  pathsOf(settings).every(([path, value]) => JSON.stringify(settingAt(node, path)) === JSON.stringify(value));

/** Heading for a value. */
export const valueWords = (value: unknown): string => {
  if (typeof value === "boolean") return value ? "on" : "off";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > LARGE_TEXT_CHARS ? `${text.slice(0, LARGE_TEXT_CHARS)}…` : text;
};

/** Display names of models. */
export type Titles = ReadonlyMap<unknown, string>;

/** Heading such as "Seed 4". A model's heading is its name only. */
const settingWords = (name: string, value: unknown, titles: Titles): string =>
  name === "model" ? (titles.get(value) ?? valueWords(value)) : `${wordsOf(name)} ${valueWords(value)}`;

/** Text such as "Sandbox Image · Seed 4". */
export const settingsWords = (settings: Settings, titles: Titles): string =>
  pathsOf(settings)
    .map(([path, value]) => settingWords(path.at(-1) ?? "", value, titles))
    .join(" · ");

export interface Layout {
  rows: string[];
  columns: string[];
  /** Indexes of variations by row and column. */
  cells: number[][];
}

/** Rows and columns of a sweep with two settings; undefined for other sweeps. */
export const tableOf = (all: readonly Settings[], titles: Titles): Layout | undefined => {
  const [first] = all;
  const paths = first ? pathsOf(first).map(([path]) => path.join(".")) : [];
  if (paths.length !== 2) return undefined;
  const valuesAt = (index: number): string[] => [...new Set(all.map((one) => JSON.stringify(pathsOf(one)[index]?.[1])))];
  const [rows, columns] = [valuesAt(0), valuesAt(1)];
  if (rows.length * columns.length !== all.length || rows.length < 2 || columns.length < 2) return undefined;
  const cells = rows.map((_, row) => columns.map((_column, column) => row * columns.length + column));
  const name = (index: number, json: string): string =>
    settingWords(paths[index]!.split(".").at(-1) ?? "", JSON.parse(json) as unknown, titles);
  return { rows: rows.map((json) => name(0, json)), columns: columns.map((json) => name(1, json)), cells };
};
