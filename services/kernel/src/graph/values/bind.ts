import { INEXACT_NUMBER, isInexactInteger } from "../../json-text";
import { LIMITS } from "../../limits";
import { ABSENT, isAbsent, withoutAbsent } from "./absent";
import { resultFamily } from "./media";
import type { MediaValue } from "./value";
import { BindError, elementsOfWork, type RunBudget } from "../budget";
import { asText, concatenated, fill, placed, withAddresses } from "./value";
import { shownName } from "../types";
import { valueOf, type PlanStep, type Source } from "../plan/plan-types";

/** Looks up an output that a node produced. */
export type Outputs = (nodeId: string, port: string) => unknown;

/** What flows into one port: a single source as it is, several as one list in edge order. */
export const portValue = (sources: readonly Source[], outputs: Outputs, budget?: RunBudget): unknown => {
  const values = sources.map((source) => ("node" in source ? outputs(source.node, source.port) : valueOf(source)));
  if (values.length === 1) return values[0];
  budget?.work(elementsOfWork(values.reduce<number>((sum, value) => sum + (Array.isArray(value) ? value.length : 1), 0)));
  return concatenated(values);
};

export interface Bound {
  /** The port values of each item. */
  items: Record<string, unknown>[];
  /** True when the node is mapped over a list: its output is then a list, too. */
  mapped: boolean;
  /** Where lists have items that were left out: the places of those that are there, and how many places there are. */
  places?: { of: readonly number[]; length: number };
}

/** Where an item stands in the lists that it is made of. */
export const placeOf = ({ places }: Bound, index: number): number => places?.of[index] ?? index;

/**
 * Spreads lists that flow into single-value ports over items; single values repeat.
 * @throws BindError when lists differ in length, are too long, or have more items than the run has set credits aside for.
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
  if (length > LIMITS.fanOutItems)
    throw new BindError(`a list of ${length} items flows into ${shownName(lists[0]![0])}: at most ${LIMITS.fanOutItems} are allowed`);
  const most = step.itemLimit ?? step.maxItems;
  if (most !== undefined && length > most)
    throw new BindError(`a list of ${length} items flows into ${shownName(lists[0]![0])}, where no more than ${most} may`);
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

/** A value for a port of numbers: text that is a number becomes it, and empty text becomes nothing. */
const asNumber = (port: string, value: unknown): unknown => {
  if (typeof value !== "string") return value;
  const text = value.trim();
  if (text === "") return undefined;
  const number = NUMBER.test(text) ? Number(text) : NaN;
  if (Number.isFinite(number)) {
    if (isInexactInteger(text)) throw new BindError(`${port}: ${INEXACT_NUMBER}`);
    return number;
  }
  const shown = text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
  throw new BindError(`${port}: must be a number, but is the text ${JSON.stringify(shown)}`, `${port}: must be a number`);
};

const portInput = (step: Pick<PlanStep, "textPorts" | "numberPorts" | "listPorts">, name: string, value: unknown): unknown => {
  const given = step.listPorts.includes(name) ? concatenated([value]).filter((one) => !isAbsent(one) && one !== null) : value;
  if (step.textPorts.includes(name)) return asText(given);
  return step.numberPorts?.includes(name) ? asNumber(name, given) : withAddresses(given);
};

/**
 * The inputs of one call of a model: templates filled, connected ports over literals.
 * @throws BindError when a text would be too large, or a text for a number is none.
 */
export const callInputs = (
  step: Pick<PlanStep, "literals" | "textPorts" | "numberPorts" | "inputNames" | "listPorts">,
  item: Readonly<Record<string, unknown>>,
  budget?: RunBudget,
): Record<string, unknown> => {
  // A map, because the names are the users' own.
  const inputs = new Map<string, unknown>();
  for (const [name, literal] of Object.entries(step.literals)) {
    const isTemplate = step.textPorts.includes(name) && typeof literal === "string";
    inputs.set(name, isTemplate ? fill(literal, (placeholder) => placed(item, placeholder), budget) : literal);
  }
  for (const [name, value] of Object.entries(item)) {
    if (!step.inputNames.includes(name) || value === undefined || value === null) continue;
    const given = portInput(step, name, value);
    if (given !== undefined) inputs.set(name, given);
  }
  const made = Object.fromEntries(inputs);
  return budget ? budget.value(made) : made;
};

/** The port values of an item, those of renamed ports under their other names, too. */
export const renamedItem = (
  item: Readonly<Record<string, unknown>>,
  renamed: Readonly<Record<string, string>> = {},
): Readonly<Record<string, unknown>> => {
  const more = Object.entries(renamed).flatMap(([name, other]) => (Object.hasOwn(item, name) ? [[other, item[name]] as const] : []));
  return more.length === 0 ? item : Object.fromEntries([...Object.entries(item), ...more]);
};

/** Values of items in the places that those have; the places of items that were left out are absent. */
export const inPlaces = (values: readonly unknown[], { places }: Pick<Bound, "places">): readonly unknown[] => {
  if (!places) return values;
  const all: unknown[] = Array.from({ length: places.length }, () => ABSENT);
  for (const [index, place] of places.of.entries()) all[place] = values[index];
  return all;
};

/** How many values each item gave, where all gave as many. */
const valuesEach = (values: readonly unknown[]): number => {
  const [first = 1, ...others] = new Set(
    values.filter((value) => !isAbsent(value)).map((value) => (Array.isArray(value) ? value.length : 1)),
  );
  return others.length === 0 ? first : 1;
};

/** The output of a node over all its items: one value, or a list in item order. An absent item takes the places of what it would have given. */
export const collect = (values: readonly unknown[], mapped: boolean): unknown => {
  if (!mapped) return values[0];
  if (!values.some(isAbsent)) return concatenated(values);
  const gap = Array.from({ length: valuesEach(values) }, () => ABSENT);
  return concatenated(values.map((value) => (isAbsent(value) ? gap : value)));
};

/** A generator's value: one file, or a list when it made several. */
export const mediaOutput = (files: readonly MediaValue[]): unknown => (files.length === 1 ? files[0] : [...files]);

const fileOf = (value: unknown): { url: string } | undefined => {
  if (typeof value === "string" && value !== "") return { url: value };
  const url = (value as { url?: unknown } | null | undefined)?.url;
  return typeof url === "string" ? { url } : undefined;
};

/** The run's result from what flows into the response-output ports. */
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
