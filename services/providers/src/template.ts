import { member } from "@nodeloom/kernel";
import { INPUT_IN_TEXT, isEachMember, isInputMember, TYPE_OF_FILE, type EachMember, type InputMember } from "./entries/template";
import { ProviderError } from "./dialect";

/** Inserts inputs into the templates of registry entries: bodies, forms, queries and paths. */

type Inputs = Readonly<Record<string, unknown>>;

const ABSENT = Symbol("absent");

const inputValue = (inputs: Inputs, name: string): unknown => (Object.hasOwn(inputs, name) ? (inputs[name] ?? ABSENT) : ABSENT);
const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** A text with inputs. It is omitted if an input is missing. */
const filledText = (text: string, inputs: Inputs): unknown => {
  const names = [...text.matchAll(INPUT_IN_TEXT)].map(([, name]) => name!);
  if (names.some((name) => inputValue(inputs, name) === ABSENT)) return ABSENT;
  return text.replace(INPUT_IN_TEXT, (_, name: string) => asText(member(inputs, name)));
};

const filledInput = ({ $input: name, map, times }: InputMember, inputs: Inputs): unknown => {
  const value = inputValue(inputs, name);
  if (typeof value === "number" && times !== undefined) return value * times;
  const isNamed = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return map && isNamed && Object.hasOwn(map, String(value)) ? map[String(value)] : value;
};

/** Repeats the item of a list for each value of an input. */
const filledEach = ({ $each: name, item }: EachMember, inputs: Inputs): unknown[] => {
  const value = inputValue(inputs, name);
  if (value === ABSENT) return [];
  const types = [inputs[`${name}${TYPE_OF_FILE}`]].flat();
  return [value].flat().map((one, index) => filled(item, { ...inputs, [name]: one, [`${name}${TYPE_OF_FILE}`]: types[index] }));
};

const isEmpty = (value: unknown): boolean => typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** An object or list that becomes empty is omitted, unless it is empty in the template. */
const filled = (template: unknown, inputs: Inputs): unknown => {
  if (typeof template === "string") return filledText(template, inputs);
  if (typeof template !== "object" || template === null || isEmpty(template)) return template;
  if (isInputMember(template)) return filledInput(template, inputs);
  const value = Array.isArray(template)
    ? template.flatMap((item) => (isEachMember(item) ? filledEach(item, inputs) : [filled(item, inputs)])).filter((item) => item !== ABSENT)
    : Object.fromEntries(
        Object.entries(template)
          .map(([key, member]): [string, unknown] => [key, filled(member, inputs)])
          .filter(([, member]) => member !== ABSENT),
      );
  return isEmpty(value) ? ABSENT : value;
};

/**
 * Fills a template. `{ "$input": "name" }` becomes the input, and `"${name}s"` becomes text that contains it. If the input is missing, both
 * are omitted, together with parents that become empty.
 */
export const fillTemplate = (template: Readonly<Record<string, unknown>>, inputs: Inputs): Record<string, unknown> => {
  const body = filled(template, inputs);
  return body === ABSENT ? {} : (body as Record<string, unknown>);
};

/**
 * Fills inputs into a path. Inputs are escaped, so that each stays within one segment.
 * @throws ProviderError if an input is missing or would still change the path
 */
export const fillPath = (path: string, inputs: Inputs): string =>
  path.replace(INPUT_IN_TEXT, (_, name: string) => {
    const value = inputValue(inputs, name);
    if (value === ABSENT || value === "") throw new ProviderError("failed", `input ${name}: is needed`);
    const text = asText(value);
    if (text === "." || text === "..") throw new ProviderError("failed", `input ${name}: can't be a part of an address`);
    return encodeURIComponent(text);
  });
