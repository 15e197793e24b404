import { invalidRequest, isRecord, type Issue, type JsonSchema } from "@nodeloom/kernel";

/** Parameters of OpenAI's API as inputs of a model or a workflow, by what these take. */

export type Given = Readonly<Record<string, unknown>>;

/** What a parameter is called in models' schemas, in order of preference, besides its own name in any spelling. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    prompt: ["prompt", "text"],
    input: ["prompt", "text", "input"],
    n: ["count", "num_images"],
    size: ["size", "image_size", "resolution"],
    max_tokens: ["maxTokens"],
    max_completion_tokens: ["maxTokens"],
    file: ["audio"],
    image: ["image", "images"],
  }),
);
/** What a parameter means where it is as if it weren't given. */
const NEUTRAL: ReadonlyMap<string, readonly unknown[]> = new Map(
  Object.entries({
    n: [1],
    size: ["auto"],
    quality: ["auto"],
    background: ["auto"],
    moderation: ["auto"],
    style: ["vivid"],
    speed: [1],
    temperature: [1, "0"],
    top_p: [1],
    presence_penalty: [0],
    frequency_penalty: [0],
  }),
);
const SIZE = /^(\d+)x(\d+)$/;
const RATIO_NAMES = ["aspect_ratio", "ratio"];

type Properties = Readonly<Record<string, JsonSchema>>;

const plain = (name: string): string => name.replaceAll("_", "").toLowerCase();

const propertyOf = (properties: Properties, parameter: string): string | undefined =>
  [...(SYNONYMS.get(parameter) ?? []), ...Object.keys(properties).filter((name) => plain(name) === plain(parameter))].find((name) =>
    Object.hasOwn(properties, name),
  );

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
 * @param ignored parameters that say nothing about what is made
 * @throws DomainError INVALID_REQUEST, naming each parameter that there is no input for
 */
export const inputsOf = (schema: JsonSchema, given: Given, ignored: ReadonlySet<string> = new Set()): Record<string, unknown> => {
  const properties = propertiesOf(schema);
  const inputs: Record<string, unknown> = {};
  const issues: Issue[] = [];
  for (const [parameter, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue;
    const property = propertyOf(properties, parameter);
    const ofSize = parameter === "size" && property === undefined ? sizeInputs(properties, String(value)) : undefined;
    if (property !== undefined && !(isNeutral(parameter, value) && value === "auto"))
      inputs[property] = fitting(properties[property], value);
    else if (ofSize) Object.assign(inputs, ofSize);
    else if (!ignored.has(parameter) && !isNeutral(parameter, value))
      issues.push({ path: parameter, message: "is not supported by what `model` names" });
  }
  if (issues.length > 0) throw invalidRequest(issues);
  return inputs;
};
