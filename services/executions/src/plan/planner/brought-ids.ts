import type { InputField } from "@nodeloom/kernel";

/** Ids of files that a run's inputs bring. */

/** Shorter texts may be words that an id happens to contain. */
const ID_PART_CHARS = 8;

/** Texts of a runner's inputs, however deep; a field's default is the author's own, also when it is sent. */
const givenTexts = (given: Readonly<Record<string, unknown>>, fields: readonly InputField[]): string[] => {
  const defaults = new Map(fields.map((field) => [field.name, field.default]));
  const pending: unknown[] = Object.entries(given)
    .filter(([name, value]) => !defaults.has(name) || defaults.get(name) !== value)
    .map(([, value]) => value);
  const texts: string[] = [];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "object" && value !== null) for (const one of Object.values(value)) pending.push(one);
  }
  return texts;
};

/**
 * Tells which ids a runner's inputs bring, whole or in parts. Such an id never means a file of a template's author: to know
 * it from reading the template gives no right to the file.
 */
export const broughtIds = (given: Readonly<Record<string, unknown>>, fields: readonly InputField[]): ((id: string) => boolean) => {
  let texts: string[] | undefined;
  return (id) => {
    texts ??= givenTexts(given, fields);
    return texts.some((text) => text.includes(id) || (text.length >= ID_PART_CHARS && id.includes(text)));
  };
};
