import type { PlanStep } from "../plan/plan-types";
import { isFileType, schemaPorts } from "../wiring/ports";
import type { JsonSchema } from "../prices/price";
import { isRecord } from "../types";
import { isMedia, member } from "./value";

export interface NamedAddress {
  name: string;
  url: string;
}

const HTTP_URL = /^\s*https?:[^\s]*\s*$/i;

/** Strings of a JSON value that consist of one http(s) URL. */
function* addressesIn(value: unknown): Iterable<string> {
  if (typeof value === "string") {
    if (HTTP_URL.test(value)) yield value.trim();
  } else if (Array.isArray(value)) for (const one of value) yield* addressesIn(one);
  else if (isRecord(value)) for (const one of Object.values(value)) yield* addressesIn(one);
}

/**
 * URLs in a model's inputs: files, and strings inside JSON. URLs within a longer text are excluded, because the model doesn't fetch them.
 */
export function* inputAddresses(schema: JsonSchema, inputs: Readonly<Record<string, unknown>>): Iterable<NamedAddress> {
  const types = new Map(schemaPorts(schema).map(([name, { type }]) => [name, type]));
  for (const [name, value] of Object.entries(inputs)) {
    const type = types.get(name) ?? "any";
    if (type === "any" || isFileType(type)) for (const url of addressesIn(isMedia(value) ? value.url : value)) yield { name, url };
  }
}

/** URLs in a step's calls that are known before the run. */
export function* stepAddresses(step: Pick<PlanStep, "literals" | "sources" | "inputNames">, schema: JsonSchema): Iterable<NamedAddress> {
  yield* inputAddresses(schema, step.literals);
  for (const name of step.inputNames) {
    for (const source of member(step.sources, name) ?? []) if ("value" in source) yield* inputAddresses(schema, { [name]: source.value });
  }
}
