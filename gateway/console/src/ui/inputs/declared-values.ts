/** A declared input of a workflow or app. */
export interface DeclaredField {
  name: string;
  type: string;
  label?: string | undefined;
  default?: unknown;
  options?: string[];
  required?: boolean | undefined;
  /** True for a list of files, of at most `maxItems`. */
  multiple?: boolean | undefined;
  maxItems?: number | undefined;
}

/** References of a list of files. A stored file is shown by its address. */
export const references = (value: unknown): string[] =>
  (Array.isArray(value) ? (value as unknown[]) : []).map((item) =>
    typeof item === "object" && item !== null && "url" in item ? String(item.url) : String(item),
  );

type Values = Readonly<Record<string, unknown>>;

/**
 * The values after a change. A form whose text has a line for each example file describes these files: once none of them is left,
 * its unchanged example texts are emptied.
 */
export const changed = (
  fields: readonly DeclaredField[],
  before: Values,
  { name, default: given }: DeclaredField,
  value: unknown,
): Record<string, unknown> => {
  const values = { ...before, [name]: value };
  const [examples, files] = [references(given), references(value)];
  if (examples.length < 2 || files.length === 0 || files.some((file) => examples.includes(file))) return values;
  const texts = fields.filter(({ type }) => type.startsWith("text"));
  if (!texts.some(({ default: text }) => String(text).split("\n").length === examples.length)) return values;
  const unchanged = texts.filter((text) => values[text.name] === text.default);
  return { ...values, ...Object.fromEntries(unchanged.map((text) => [text.name, ""])) };
};
