const ABSENT = Symbol("absent");

/** An input inside a text, as in `${seconds}s`. */
const INSIDE = /\$\{([A-Za-z_]\w*)\}/g;

/** A text with inputs in it, which is absent when one of them is. */
const filledText = (text: string, inputs: Readonly<Record<string, unknown>>): unknown => {
  const names = [...text.matchAll(INSIDE)].map(([, name]) => name!);
  if (names.some((name) => (inputs[name] ?? undefined) === undefined)) return ABSENT;
  return text.replace(INSIDE, (_, name: string) => {
    const value = inputs[name];
    return typeof value === "string" ? value : JSON.stringify(value);
  });
};

const isEmpty = (value: unknown): boolean => typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** An object or list of the template of which nothing is left is absent, too; one that is empty in the template is meant. */
const filled = (template: unknown, inputs: Readonly<Record<string, unknown>>): unknown => {
  if (typeof template === "string") return filledText(template, inputs);
  if (typeof template !== "object" || template === null || isEmpty(template)) return template;
  const name = (template as { $input?: unknown }).$input;
  if (typeof name === "string") return inputs[name] ?? ABSENT;
  const value = Array.isArray(template)
    ? template.map((item) => filled(item, inputs)).filter((item) => item !== ABSENT)
    : Object.fromEntries(
        Object.entries(template)
          .map(([key, member]): [string, unknown] => [key, filled(member, inputs)])
          .filter(([, member]) => member !== ABSENT),
      );
  return isEmpty(value) ? ABSENT : value;
};

/**
 * Fills a body template with inputs: `{ "$input": "name" }` is that input, and `"${name}s"` a text with it; both are left out when it is
 * absent, with what is empty then.
 */
export const fillBody = (template: Readonly<Record<string, unknown>>, inputs: Readonly<Record<string, unknown>>): unknown => {
  const body = filled(template, inputs);
  return body === ABSENT ? {} : body;
};
