import type { App } from "@nodeloom/client";
import { DeclaredForm, takesFile, type DeclaredFormProps } from "../ui/inputs/declared-form";
import { FileField } from "./file-field";
import { APP_FORM } from "../messages/visitor";

type Values = Readonly<Record<string, unknown>>;

/** True if the app has files of its own for a field. */
const hasDefault = ({ values }: App, { name }: { name: string }): boolean => {
  const own = values[name];
  return Array.isArray(own) ? own.length > 0 : Boolean(own);
};

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
export const missing = (app: App, values: Values): ReadonlyMap<string, string> =>
  new Map(
    app.fields
      .filter((field) => field.required === true && (values[field.name] ?? "") === "" && !(takesFile(field) && hasDefault(app, field)))
      .map(({ name }) => [name, APP_FORM.fillIn]),
  );

export const AppForm = ({ app, values, onChange, ...form }: { app: App } & Omit<DeclaredFormProps, "fields" | "files">) => (
  <DeclaredForm
    {...form}
    values={values}
    onChange={onChange}
    fields={app.fields}
    files={{
      one: ({ field, label, accept, error, onChange: change }) => (
        <FileField
          {...{ label, accept, error }}
          hasDefault={hasDefault(app, field)}
          mayBeEmpty={field.required !== true}
          onFiles={(files) => change(files?.[0])}
          onNone={() => onChange({ ...values, [field.name]: null })}
        />
      ),
      several: ({ field, label, accept, error, onChange: change }) => (
        <FileField
          {...{ label, accept, error }}
          most={field.maxItems}
          hasDefault={hasDefault(app, field)}
          mayBeEmpty={field.required !== true}
          onFiles={change}
          onNone={() => onChange({ ...values, [field.name]: [] })}
        />
      ),
    }}
  />
);
