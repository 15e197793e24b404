const ABSENT = Symbol("absent");

const isEmpty = (value: unknown): boolean => typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** An object or list of the template of which nothing is left is absent, too; one that is empty in the template is meant. */
const filled = (template: unknown, inputs: Readonly<Record<string, unknown>>): unknown => {
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

/** Fills a body template with inputs: `{ "$input": "name" }` is that input, left out when it is absent, with what is empty then. */
export const fillBody = (template: Readonly<Record<string, unknown>>, inputs: Readonly<Record<string, unknown>>): unknown => {
  const body = filled(template, inputs);
  return body === ABSENT ? {} : body;
};
