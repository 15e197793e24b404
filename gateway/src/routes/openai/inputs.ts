import { invalidRequest, isRecord, type Issue, type JsonSchema } from "@nodeloom/kernel";
import { KINDS, NEUTRAL, SYNONYMS } from "./vocabulary";

/** Maps parameters of OpenAI's API to inputs of a model or workflow, using the schema. */

export type Parameters = Readonly<Record<string, unknown>>;

export interface InputOptions {
  /** Parameters that don't affect the output. */
  ignored?: ReadonlySet<string>;
  /** Inputs given by their own names, which take precedence over parameters. */
  own?: Parameters | undefined;
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

/** Inputs with a special meaning, whatever their type. */
const NOT_MAIN: ReadonlySet<string> = new Set(["system", "mask", "negativeprompt"]);

/** Finds the input for each parameter. If no input has the name of the main content, the first input of its type gets it. */
const placesOf = (properties: Properties, parameters: Parameters, own: Parameters): ReadonlyMap<string, string> => {
  const namedPlaces = Object.keys(parameters).flatMap((parameter): [string, string][] => {
    const property = propertyOf(properties, parameter);
    return property === undefined ? [] : [[parameter, property]];
  });
  const places = new Map(namedPlaces);
  const takenNames = new Set([...places.values(), ...Object.keys(own)]);
  for (const [parameter, kind] of KINDS) {
    if (parameters[parameter] === undefined || places.has(parameter)) continue;
    const free = ([name, schema]: [string, JsonSchema]): boolean =>
      !takenNames.has(name) && !NOT_MAIN.has(plain(name)) && isRecord(schema) && isOfKind(schema, kind);
    const [property] = Object.entries(properties).find(free) ?? [];
    if (property === undefined) continue;
    places.set(parameter, property);
    takenNames.add(property);
  }
  return places;
};

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

/** A pixel size for models that take width and height, or a known ratio. */
const sizeInputs = (properties: Properties, size: string): Parameters | undefined => {
  const [, width = 0, height = 0] = (SIZE.exec(size) ?? []).map(Number);
  if (width === 0 || height === 0) return undefined;
  if (Object.hasOwn(properties, "width") && Object.hasOwn(properties, "height")) return { width, height };
  const divisor = greatestDivisor(width, height);
  const ratioName = RATIO_NAMES.find((name) => Object.hasOwn(properties, name));
  const spelt = [`${width / divisor}:${height / divisor}`, `${width}:${height}`];
  const ratios = ratioName === undefined ? undefined : properties[ratioName]?.enum;
  const ratio = spelt.find((each) => !Array.isArray(ratios) || ratios.includes(each));
  return ratioName === undefined || ratio === undefined ? undefined : { [ratioName]: ratio };
};

const isNeutral = (name: string, value: unknown): boolean =>
  value === null || value === undefined || NEUTRAL.get(name)?.includes(value) === true;

const propertiesOf = ({ properties }: JsonSchema): Properties => (isRecord(properties) ? (properties as Properties) : {});

/** Wraps or unwraps a value in a list, as its property requires. */
const fitting = (property: JsonSchema | undefined, value: unknown): unknown => {
  const takesList = property?.type === "array";
  if (takesList) return Array.isArray(value) ? value : [value];
  return Array.isArray(value) && value.length === 1 ? (value as unknown[])[0] : value;
};

/**
 * Inputs for the given parameters. A parameter at its default value is dropped if no input matches it.
 * @param schema of the model's inputs, or of the workflow's fields
 * @throws DomainError INVALID_REQUEST, naming each parameter without an input
 */
export const inputsOf = (
  schema: JsonSchema,
  parameters: Parameters,
  { ignored = new Set(), own = {} }: InputOptions = {},
): Record<string, unknown> => {
  const properties = propertiesOf(schema);
  const places = placesOf(properties, parameters, own);
  const inputs: Record<string, unknown> = {};
  const issues: Issue[] = [];
  for (const [parameter, value] of Object.entries(parameters)) {
    if (value === undefined || value === null) continue;
    const property = places.get(parameter);
    const ofSize = parameter === "size" && property === undefined ? sizeInputs(properties, String(value)) : undefined;
    if (property !== undefined && !(isNeutral(parameter, value) && value === "auto" && parameter !== "tool_choice"))
      inputs[property] = fitting(properties[property], value);
    else if (ofSize) Object.assign(inputs, ofSize);
    else if (!ignored.has(parameter) && !isNeutral(parameter, value))
      issues.push({ path: parameter, message: "isn't supported by the target of `model`" });
  }
  if (issues.length > 0) throw invalidRequest(issues);
  return { ...inputs, ...own };
};
