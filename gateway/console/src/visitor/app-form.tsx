import type { App } from "@nodeloom/client";
import { DeclaredForm, takesFile, type DeclaredFormProps } from "../ui/inputs/declared-form";
import { FileField } from "./file-field";
import { APP_FORM } from "../messages/visitor";

type Values = Readonly<Record<string, unknown>>;

/** Initial values: saved, or else default values. If the visitor sends no file, the app's own files are used. */
export const firstValues = ({ fields, values }: App): Values =>
  Object.fromEntries(
    fields
      .filter((field) => !takesFile(field))
      .map((field): [string, unknown] => [field.name, values[field.name] ?? field.default])
      .filter(([, value]) => value !== undefined && value !== null),
  );

/** Inputs with a value. */
export const sentValues = (values: Values): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ""));

/** Required fields without a value. */
export const missing = ({ fields, values: saved }: App, values: Values): ReadonlyMap<string, string> =>
  new Map(
    fields
      .filter((field) => field.required === true && (values[field.name] ?? "") === "" && !(takesFile(field) && saved[field.name]))
      .map(({ name }) => [name, APP_FORM.fillIn]),
  );

export const AppForm = ({ app, ...form }: { app: App } & Omit<DeclaredFormProps, "fields" | "renderFile">) => (
  <DeclaredForm
    {...form}
    fields={app.fields}
    renderFile={({ field, label, accept, onChange }) => (
      <FileField label={label} accept={accept} hasDefault={Boolean(app.values[field.name])} onChange={onChange} />
    )}
  />
);
