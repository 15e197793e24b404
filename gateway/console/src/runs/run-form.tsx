import type { InputField } from "@nodeloom/kernel/graph";
import type { SchemaField } from "@nodeloom/client";
import { Check, Field, Input, Select, TextArea } from "../ui/inputs/field";
import { JsonInput, NumberInput } from "../ui/inputs/value-inputs";
import { FileValue } from "../media/file-value";

type FormField = Pick<InputField | SchemaField, "name" | "type" | "label"> & {
  default?: unknown;
  options?: string[];
  required?: boolean | undefined;
  min?: number;
  max?: number;
};

export interface RunFormProps {
  fields: readonly FormField[];
  values: Readonly<Record<string, unknown>>;
  onChange: (values: Record<string, unknown>) => void;
  /** Problems by field name, as the service said them. */
  errors?: ReadonlyMap<string, string>;
  mayUpload?: boolean;
}

const UPLOADS: Readonly<Record<string, string>> = { image_upload: "image/*", video_upload: "video/*", audio_upload: "audio/*" };

const Control = ({
  field,
  value,
  set,
  error,
  mayUpload,
}: {
  field: FormField;
  value: unknown;
  set: (value: unknown) => void;
  error: string | undefined;
  mayUpload: boolean;
}) => {
  const label = field.required === true ? `${field.label || field.name} *` : field.label || field.name;
  const text = typeof value === "string" ? value : "";
  const accept = UPLOADS[field.type];
  if (accept !== undefined)
    return <FileValue label={label} value={text} onChange={set} accept={accept} error={error} isOffered={mayUpload} />;
  switch (field.type) {
    case "number":
      return (
        <Field label={label} error={error}>
          {(attributes) => <NumberInput {...attributes} value={value} onChange={set} />}
        </Field>
      );
    case "boolean":
      return <Check label={label} checked={value === true} onChange={(event) => set(event.target.checked)} />;
    case "select":
      return (
        <Field label={label} error={error}>
          {(attributes) => (
            <Select {...attributes} value={text} onChange={(event) => set(event.target.value === "" ? undefined : event.target.value)}>
              <option value="">Choose…</option>
              {(field.options ?? []).map((option) => (
                <option key={option}>{option}</option>
              ))}
            </Select>
          )}
        </Field>
      );
    case "json":
      return <JsonInput label={label} value={value} onChange={set} />;
    case "textarea":
      return (
        <Field label={label} error={error}>
          {(attributes) => <TextArea {...attributes} rows={4} value={text} onChange={(event) => set(event.target.value)} />}
        </Field>
      );
    default:
      return (
        <Field label={label} error={error}>
          {(attributes) => <Input {...attributes} value={text} onChange={(event) => set(event.target.value)} />}
        </Field>
      );
  }
};

/** The form of a workflow's inputs. */
export const RunForm = ({ fields, values, onChange, errors, mayUpload = true }: RunFormProps) => (
  <div className="flex flex-col gap-4">
    {fields.map((field) => (
      <Control
        key={field.name}
        field={field}
        value={values[field.name]}
        error={errors?.get(field.name)}
        mayUpload={mayUpload}
        set={(value) => onChange({ ...values, [field.name]: value })}
      />
    ))}
    {fields.length === 0 && <p className="text-sm text-muted">This workflow has no inputs to fill in.</p>}
  </div>
);

/** Values to begin with: what was filled in last, else what is saved, else the defaults. */
export const initialValues = (fields: readonly FormField[], saved: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap(({ name, default: fallback }) => {
      const value = Object.hasOwn(saved, name) ? saved[name] : fallback;
      return value === undefined || value === null ? [] : [[name, value]];
    }),
  );

/** What is sent: values that are set. */
export const sentInputs = (fields: readonly FormField[], values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(fields.flatMap(({ name }) => (values[name] === undefined || values[name] === "" ? [] : [[name, values[name]]])));
