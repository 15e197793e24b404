import { invalidRequest, isRecord, type Issue, type JsonSchema } from "@nodeloom/kernel";
import { KINDS, NEUTRAL, SYNONYMS } from "./vocabulary";

/** Parameters of OpenAI's API as inputs of a model or a workflow, by what these take. */

export type Given = Readonly<Record<string, unknown>>;

export interface InputOptions {
  /** Parameters that say nothing about what is made. */
  ignored?: ReadonlySet<string>;
  /** Inputs that are given by their own names, which come before parameters. */
  own?: Given | undefined;
}

const SIZE = /^(\d+)x(\d+)$/;
const RATIO_NAMES = ["aspect_ratio", "ratio"];

type Properties = Readonly<Record<string, JsonSchema>>;

const plain = (name: string): string => name.replaceAll("_", "").toLowerCase();

const propertyOf = (properties: Properties, parameter: string): string | undefined =>
  [...(SYNONYMS.get(parameter) ?? []), ...Object.keys(properties).filter((name) => plain(name) === plain(parameter))].find((name) =>
    Object.hasOwn(properties, name),
  );

const isOfKind = (schema: JsonSchema, kind: string): boolean => {
  const isText = schema.type === "string" && [schema.format, schema.enum, schema.pattern].every((rule) => rule === undefined);
  if (kind === "text") return isText;
  const { contentMediaType } = isRecord(schema.items) ? schema.items : schema;
  return typeof contentMediaType === "string" && contentMediaType.startsWith(`${kind}/`);
};

/** Inputs that are about something else, whatever their kind. */
const NOT_MAIN: ReadonlySet<string> = new Set(["system", "mask", "negativeprompt"]);

/** The input of each parameter. What a run is about goes to the first input of its kind where none is called so. */
const placesOf = (properties: Properties, given: Given, own: Given): ReadonlyMap<string, string> => {
  const named = Object.keys(given).flatMap((parameter): [string, string][] => {
    const property = propertyOf(properties, parameter);
    return property === undefined ? [] : [[parameter, property]];
  });
  const places = new Map(named);
  const taken = new Set([...places.values(), ...Object.keys(own)]);
  for (const [parameter, kind] of KINDS) {
    if (given[parameter] === undefined || places.has(parameter)) continue;
    const free = ([name, schema]: [string, JsonSchema]): boolean =>
      !taken.has(name) && !NOT_MAIN.has(plain(name)) && isRecord(schema) && isOfKind(schema, kind);
    const [property] = Object.entries(properties).find(free) ?? [];
    if (property === undefined) continue;
    places.set(parameter, property);
    taken.add(property);
  }
  return places;
};

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

/** A size in pixels for models that take it as width and height, or as a ratio that they know. */
const sizeInputs = (properties: Properties, size: string): Given | undefined => {
  const [, width = 0, height = 0] = (SIZE.exec(size) ?? []).map(Number);
  if (width === 0 || height === 0) return undefined;
  if (Object.hasOwn(properties, "width") && Object.hasOwn(properties, "height")) return { width, height };
  const divisor = greatestDivisor(width, height);
  const named = RATIO_NAMES.find((name) => Object.hasOwn(properties, name));
  const spelt = [`${width / divisor}:${height / divisor}`, `${width}:${height}`];
  const known = named === undefined ? undefined : properties[named]?.enum;
  const ratio = spelt.find((each) => !Array.isArray(known) || known.includes(each));
  return named === undefined || ratio === undefined ? undefined : { [named]: ratio };
};

const isNeutral = (name: string, value: unknown): boolean =>
  value === null || value === undefined || NEUTRAL.get(name)?.includes(value) === true;

const propertiesOf = ({ properties }: JsonSchema): Properties => (isRecord(properties) ? (properties as Properties) : {});

/** A value as its property takes it: a list where it takes lists, else one. */
const fitting = (property: JsonSchema | undefined, value: unknown): unknown => {
  const takesList = property?.type === "array";
  if (takesList) return Array.isArray(value) ? value : [value];
  return Array.isArray(value) && value.length === 1 ? (value as unknown[])[0] : value;
};

/**
 * The inputs that parameters mean. Those at their defaults are left out where there is no such input.
 * @param schema of the model's inputs, or of the workflow's fields
 * @throws DomainError INVALID_REQUEST, naming each parameter that there is no input for
 */
export const inputsOf = (
  schema: JsonSchema,
  given: Given,
  { ignored = new Set(), own = {} }: InputOptions = {},
): Record<string, unknown> => {
  const properties = propertiesOf(schema);
  const places = placesOf(properties, given, own);
  const inputs: Record<string, unknown> = {};
  const issues: Issue[] = [];
  for (const [parameter, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue;
    const property = places.get(parameter);
    const ofSize = parameter === "size" && property === undefined ? sizeInputs(properties, String(value)) : undefined;
    if (property !== undefined && !(isNeutral(parameter, value) && value === "auto" && parameter !== "tool_choice"))
      inputs[property] = fitting(properties[property], value);
    else if (ofSize) Object.assign(inputs, ofSize);
    else if (!ignored.has(parameter) && !isNeutral(parameter, value))
      issues.push({ path: parameter, message: "is not supported by what `model` names" });
  }
  if (issues.length > 0) throw invalidRequest(issues);
  return { ...inputs, ...own };
};
