import type { App } from "@nodeloom/client";
import { Check, Field, Input, Select, TextArea } from "../ui/inputs/field";
import { JsonInput, NumberInput } from "../ui/inputs/value-inputs";
import { FileField } from "./file-field";

type AppField = App["fields"][number];
type Values = Readonly<Record<string, unknown>>;

const UPLOADS: Readonly<Record<string, string>> = { image_upload: "image/*", video_upload: "video/*", audio_upload: "audio/*" };

const isFile = ({ type }: AppField): boolean => type in UPLOADS;

/** Values to begin with: what is saved, else the defaults. Files of the app's are taken where none is sent. */
export const firstValues = ({ fields, values }: App): Values =>
  Object.fromEntries(
    fields
      .filter((field) => !isFile(field))
      .map((field): [string, unknown] => [field.name, values[field.name] ?? field.default])
      .filter(([, value]) => value !== undefined && value !== null),
  );

/** What is sent: values that are set. */
export const sentValues = (values: Values): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ""));

/** Fields that must be filled in and are not. */
export const missing = ({ fields, values: saved }: App, values: Values): ReadonlyMap<string, string> =>
  new Map(
    fields
      .filter((field) => field.required === true && (values[field.name] ?? "") === "" && !(isFile(field) && saved[field.name]))
      .map(({ name }) => [name, "Fill this in."]),
  );

const Control = ({
  field,
  app,
  value,
  set,
  error,
}: {
  field: AppField;
  app: App;
  value: unknown;
  set: (value: unknown) => void;
  error: string | undefined;
}) => {
  const label = `${field.label || field.name}${field.required === true ? " *" : ""}`;
  const text = typeof value === "string" ? value : "";
  const accept = UPLOADS[field.type];
  if (accept !== undefined) return <FileField label={label} accept={accept} hasDefault={Boolean(app.values[field.name])} onChange={set} />;
  if (field.type === "boolean") return <Check label={label} checked={value === true} onChange={(event) => set(event.target.checked)} />;
  if (field.type === "json") return <JsonInput label={label} value={value} onChange={set} />;
  return (
    <Field label={label} error={error}>
      {(attributes) => {
        const typed = { ...attributes, value: text, onChange: (event: { target: { value: string } }) => set(event.target.value) };
        switch (field.type) {
          case "number":
            return <NumberInput {...attributes} value={value} onChange={set} />;
          case "textarea":
            return <TextArea {...typed} rows={4} />;
          case "select":
            return (
              <Select {...typed}>
                <option value="">Choose…</option>
                {(field.options ?? []).map((option) => (
                  <option key={option}>{option}</option>
                ))}
              </Select>
            );
          default:
            return <Input {...typed} />;
        }
      }}
    </Field>
  );
};

/** The form of an app's inputs. */
export const AppForm = ({
  app,
  values,
  errors,
  onChange,
}: {
  app: App;
  values: Values;
  errors: ReadonlyMap<string, string>;
  onChange: (values: Values) => void;
}) => (
  <div className="flex flex-col gap-4">
    {app.fields.map((field) => (
      <Control
        key={field.name}
        field={field}
        app={app}
        value={values[field.name]}
        error={errors.get(field.name)}
        set={(value) => onChange({ ...values, [field.name]: value })}
      />
    ))}
  </div>
);
