import type { KnownSource, RunPlan, Source } from "./plan-types";
import { isRecord } from "../types";

/**
 * A plan repeats a known value wherever it is used, so an input of 250 kB would be sent and stored many times. Long texts that occur more
 * than once are therefore stored once in `shared` and referenced.
 */

const MIN_CHARS = 1_024;
/** Prefix of references. Texts of the plan that start with it are escaped. */
const MARK = "\u0000shared:";
const AS_IT_IS = "=";

type Replace = (text: string) => string;

type KnownValue = Extract<KnownSource, { value: unknown }>["value"];

/** Maps the texts of a value. Returns the same object if no text changes. @throws TypeError for values that JSON drops or replaces */
const mapTexts = (value: unknown, replace: Replace): KnownValue => {
  if (typeof value === "string") return replace(value);
  if (value === undefined || typeof value === "symbol")
    throw new TypeError(`a plan has the value ${String(value)}, which JSON can't represent`);
  if (Array.isArray(value)) {
    const items = value as unknown[];
    const mapped = items.map((item) => mapTexts(item, replace));
    return mapped.every((item, index) => item === items[index]) ? items : mapped;
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([name, member]): [string, unknown] => [name, mapTexts(member, replace)]);
  return entries.every(([name, member]) => member === value[name]) ? value : Object.fromEntries(entries);
};

const mapSources = (sources: Readonly<Record<string, readonly Source[]>>, replace: Replace): Record<string, Source[]> =>
  Object.fromEntries(
    Object.entries(sources).map(([port, several]) => [
      port,
      several.map((one) => ("value" in one ? { value: mapTexts(one.value, replace) } : one)),
    ]),
  );

const mapPlan = ({ steps, output, ...rest }: RunPlan, replace: Replace): RunPlan => ({
  ...rest,
  steps: steps.map((step) => ({
    ...step,
    literals: mapTexts(step.literals, replace) as Record<string, unknown>,
    sources: mapSources(step.sources, replace),
    ...(step.fallback
      ? { fallback: step.fallback.map((one) => ({ ...one, literals: mapTexts(one.literals, replace) as Record<string, unknown> })) }
      : {}),
  })),
  output: mapSources(output, replace),
});

/** Moves repeated texts of a plan to `shared`, for transport and storage. */
export const shareTexts = (plan: RunPlan): RunPlan => {
  const uses = new Map<string, number>();
  let isMarked = false;
  mapPlan(plan, (text) => {
    isMarked ||= text.startsWith(MARK);
    if (text.length >= MIN_CHARS) uses.set(text, (uses.get(text) ?? 0) + 1);
    return text;
  });
  const shared = [...uses].filter(([, times]) => times > 1).map(([text]) => text);
  if (shared.length === 0 && !isMarked) return plan;
  const places = new Map(shared.map((text, index) => [text, index]));
  const replaced = mapPlan(plan, (text) => {
    const place = places.get(text);
    if (place !== undefined) return `${MARK}${place}`;
    return text.startsWith(MARK) ? `${MARK}${AS_IT_IS}${text}` : text;
  });
  return { ...replaced, shared };
};

/** Reverses `shareTexts`. */
export const withSharedTexts = (plan: RunPlan): RunPlan => {
  const { shared, ...rest } = plan;
  if (!shared) return plan;
  return mapPlan(rest, (text) => {
    if (!text.startsWith(MARK)) return text;
    const place = text.slice(MARK.length);
    return place.startsWith(AS_IT_IS) ? place.slice(AS_IT_IS.length) : (shared[Number(place)] ?? "");
  });
};
