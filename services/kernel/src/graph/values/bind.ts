import { INEXACT_NUMBER, isInexactInteger } from "../../text/json-text";
import { LIMITS } from "../../limits";
import { ABSENT, isAbsent, withoutAbsent } from "./absent";
import { resultFamily } from "./media";
import type { MediaValue } from "./value";
import { BindError, elementsOfWork, type RunBudget } from "../budget";
import { asText, concatenated, fill, isMedia, placed, withAddresses } from "./value";
import { shownName } from "../../text/shown-name";
import { valueOf, type PlanStep, type Source } from "../plan/plan-types";

export type Outputs = (nodeId: string, port: string) => unknown;

/** The value at a port: one source unchanged, or several sources as a list in edge order. */
export const portValue = (sources: readonly Source[], outputs: Outputs, budget?: RunBudget): unknown => {
  const values = sources.map((source) => ("node" in source ? outputs(source.node, source.port) : valueOf(source)));
  if (values.length === 1) return values[0];
  budget?.work(elementsOfWork(values.reduce<number>((sum, value) => sum + (Array.isArray(value) ? value.length : 1), 0)));
  return concatenated(values);
};

export interface Bound {
  items: Record<string, unknown>[];
  /** True if the node runs once per item of a list. Its output is then a list. */
  mapped: boolean;
  /** If items were skipped: the list positions of the remaining items, and the list's length. */
  places?: { of: readonly number[]; length: number };
}

/** The item's position in its source lists. */
export const placeOf = ({ places }: Bound, index: number): number => places?.of[index] ?? index;

/**
 * Turns lists at single-value ports into items; single values repeat for each item.
 * @throws BindError if lists differ in length, are too long, or have more items than the hold covers
 */
export const bindItems = (
  step: Pick<PlanStep, "sources" | "listPorts"> & { maxItems?: number; itemLimit?: number },
  outputs: Outputs,
  budget?: RunBudget,
): Bound => {
  const values = Object.entries(step.sources).map(([port, sources]): [string, unknown] => [port, portValue(sources, outputs, budget)]);
  const lists = values.filter(([port, value]) => Array.isArray(value) && !step.listPorts.includes(port)) as [string, unknown[]][];
  if (lists.length === 0) return { items: [Object.fromEntries(values)], mapped: false };
  const length = lists[0]![1].length;
  const other = lists.find(([, list]) => list.length !== length);
  if (other)
    throw new BindError(
      `lists of ${length} and ${other[1].length} items flow into ${shownName(lists[0]![0])} and ${shownName(other[0])}: their lengths must agree`,
    );
  const most = step.itemLimit ?? step.maxItems ?? LIMITS.fanOutItems;
  if (length > LIMITS.fanOutItems && most === LIMITS.fanOutItems)
    throw new BindError(`a list of ${length} items flows into ${shownName(lists[0]![0])}: at most ${LIMITS.fanOutItems} are allowed`);
  if (length > most) throw new BindError(`${shownName(lists[0]![0])} gets a list of ${length} items; at most ${most} are allowed`);
  budget?.work(elementsOfWork(length * values.length));
  const mappedPorts = new Set(lists.map(([port]) => port));
  const all = Array.from({ length }, (_, index) => index);
  const of = all.filter((index) => !lists.some(([, list]) => isAbsent(list[index])));
  const items = of.map((index) =>
    Object.fromEntries(values.map(([port, value]) => [port, mappedPorts.has(port) ? (value as unknown[])[index] : value])),
  );
  return { items, mapped: true, ...(of.length < length ? { places: { of, length } } : {}) };
};

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
const SHOWN_CHARS = 40;

/** Converts a value for a number port: numeric text becomes a number, empty text becomes undefined. */
const asNumber = (port: string, value: unknown): unknown => {
  if (typeof value !== "string") return value;
  const text = value.trim();
  if (text === "") return undefined;
  const number = NUMBER.test(text) ? Number(text) : NaN;
  if (Number.isFinite(number)) {
    if (isInexactInteger(text)) throw new BindError(`${port}: ${INEXACT_NUMBER}`);
    return number;
  }
  const shownText = text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
  throw new BindError(`${port}: must be a number, but is the text ${JSON.stringify(shownText)}`, `${port}: must be a number`);
};

const portInput = (step: Pick<PlanStep, "textPorts" | "numberPorts" | "listPorts">, name: string, value: unknown): unknown => {
  const presentValue = step.listPorts.includes(name) ? concatenated([value]).filter((one) => !isAbsent(one) && one !== null) : value;
  if (step.textPorts.includes(name)) return asText(presentValue);
  return step.numberPorts?.includes(name) ? asNumber(name, presentValue) : withAddresses(presentValue);
};

/**
 * Inputs of one model call. Templates are filled, and connected ports override literals.
 * @throws BindError if a text is too large, or if the text for a number isn't numeric
 */
export const callInputs = (
  step: Pick<PlanStep, "literals" | "textPorts" | "numberPorts" | "inputNames" | "listPorts">,
  item: Readonly<Record<string, unknown>>,
  budget?: RunBudget,
): Record<string, unknown> => {
  // A map, because users choose its keys.
  const inputs = new Map<string, unknown>();
  for (const [name, literal] of Object.entries(step.literals)) {
    const isTemplate = step.textPorts.includes(name) && typeof literal === "string";
    inputs.set(name, isTemplate ? fill(literal, (placeholder) => placed(item, placeholder), budget) : literal);
  }
  for (const [name, value] of Object.entries(item)) {
    if (!step.inputNames.includes(name) || value === undefined || value === null) continue;
    const boundInput = portInput(step, name, value);
    if (boundInput !== undefined) inputs.set(name, boundInput);
  }
  const inputValues = Object.fromEntries(inputs);
  return budget ? budget.value(inputValues) : inputValues;
};

/** Port values of an item. Renamed ports appear under both names. */
export const renamedItem = (
  item: Readonly<Record<string, unknown>>,
  renamed: Readonly<Record<string, string>> = {},
): Readonly<Record<string, unknown>> => {
  const more = Object.entries(renamed).flatMap(([name, other]) => (Object.hasOwn(item, name) ? [[other, item[name]] as const] : []));
  return more.length === 0 ? item : Object.fromEntries([...Object.entries(item), ...more]);
};

/** Values at their list positions. The positions of skipped items are marked absent. */
export const inPlaces = (values: readonly unknown[], { places }: Pick<Bound, "places">): readonly unknown[] => {
  if (!places) return values;
  const all: unknown[] = Array.from({ length: places.length }, () => ABSENT);
  for (const [index, place] of places.of.entries()) all[place] = values[index];
  return all;
};

/** Number of values per item if it is equal for all items; otherwise 1. */
const valuesEach = (values: readonly unknown[]): number => {
  const [first = 1, ...others] = new Set(
    values.filter((value) => !isAbsent(value)).map((value) => (Array.isArray(value) ? value.length : 1)),
  );
  return others.length === 0 ? first : 1;
};

/** The output over all items: one value, or a list in item order. A skipped item leaves as many gaps as each other item has values. */
export const collect = (values: readonly unknown[], mapped: boolean): unknown => {
  if (!mapped) return values[0];
  if (!values.some(isAbsent)) return concatenated(values);
  const gap = Array.from({ length: valuesEach(values) }, () => ABSENT);
  return concatenated(values.map((value) => (isAbsent(value) ? gap : value)));
};

/** The value of a generator: one file, or a list of several files. */
export const mediaOutput = (files: readonly MediaValue[]): unknown => (files.length === 1 ? files[0] : [...files]);

const fileOf = (value: unknown): Pick<MediaValue, "id" | "url"> | undefined => {
  if (typeof value === "string" && value !== "") return { url: value };
  if (isMedia(value) && value.id) return { url: value.url, id: value.id };
  const url = (value as { url?: unknown } | null | undefined)?.url;
  return typeof url === "string" ? { url } : undefined;
};

export const buildResult = (
  ports: Readonly<Record<string, readonly Source[]>>,
  outputs: Outputs,
  budget?: RunBudget,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(ports).map(([name, sources]) => {
      const value = withoutAbsent(portValue(sources, outputs, budget));
      if (resultFamily(name) !== undefined)
        return [
          name,
          concatenated([value])
            .map(fileOf)
            .filter((file) => file !== undefined),
        ];
      return [name, name === "text" ? asText(value) : (value ?? null)];
    }),
  );
