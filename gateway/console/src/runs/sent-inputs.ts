import type { DeclaredField } from "../ui/inputs/declared-form";

/** Initial values: last typed, or else saved, or else default values. */
export const initialValues = (fields: readonly DeclaredField[], saved: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap(({ name, default: fallback }) => {
      const value = Object.hasOwn(saved, name) ? saved[name] : fallback;
      return value === undefined || value === null ? [] : [[name, value]];
    }),
  );

const WRITTEN: ReadonlySet<string> = new Set(["text", "textarea"]);

/** Types of fields that take files. */
const FILE = /_upload$/;

/** An emptied text is sent, because an omitted input would take its default. */
const isSent = ({ type, required, default: fallback }: DeclaredField, value: unknown): boolean =>
  value !== undefined && (value !== "" || (WRITTEN.has(type) && required !== true && typeof fallback === "string" && fallback !== ""));

/** An omitted input would take its default, so an emptied file is sent as null, and an emptied list of files as an empty list. */
const emptied = (field: DeclaredField): unknown[] => {
  const hasDefault = field.default !== undefined && field.default !== null;
  return FILE.test(field.type) && hasDefault ? [field.multiple === true ? [] : null] : [];
};

/** Inputs with a value. */
export const sentInputs = (fields: readonly DeclaredField[], values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap((field): [string, unknown][] => {
      const value = values[field.name];
      return (isSent(field, value) ? [value] : emptied(field)).map((sent) => [field.name, sent]);
    }),
  );
