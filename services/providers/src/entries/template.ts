/** Finds inputs in request templates of registry entries. */

/** An input in a text, as in `${seconds}s`. */
export const INPUT_IN_TEXT = /\$\{([A-Za-z_]\w*)\}/g;

/** Suffix for the content type of a file input: `{ "$input": "image.type" }`. */
export const TYPE_OF_FILE = ".type";

/** A template member that consists of one input. */
export interface InputMember {
  $input: string;
  /** Replacements for some of the input's values. */
  map?: Readonly<Record<string, unknown>>;
  /** Factor by which a number is multiplied. */
  times?: number;
}

/** A list member that is repeated for each value of an input. In it, the input's name means that value. */
export interface EachMember {
  $each: string;
  item: unknown;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isInputMember = (value: unknown): value is InputMember => isObject(value) && typeof value.$input === "string";
export const isEachMember = (value: unknown): value is EachMember => isObject(value) && typeof value.$each === "string";

interface NamedInput {
  name: string;
  path: (string | number)[];
}

const inputName = (name: string): string => (name.endsWith(TYPE_OF_FILE) ? name.slice(0, -TYPE_OF_FILE.length) : name);

export const inputsInTemplate = (template: unknown, path: (string | number)[] = []): NamedInput[] => {
  if (typeof template === "string") return [...template.matchAll(INPUT_IN_TEXT)].map(([, name]) => ({ name: name!, path }));
  if (Array.isArray(template)) return template.flatMap((item, index) => inputsInTemplate(item, [...path, index]));
  if (!isObject(template)) return [];
  if (isInputMember(template)) return [{ name: inputName(template.$input), path }];
  const each = isEachMember(template) ? [{ name: template.$each, path }] : [];
  const members = isEachMember(template) ? [["item", template.item] as const] : Object.entries(template);
  return [...each, ...members.flatMap(([name, member]) => inputsInTemplate(member, [...path, name]))];
};
