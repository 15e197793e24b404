import type { ReactNode } from "react";
import { changed, references, type DeclaredField } from "./declared-values";
import { AreaField, Check, InputField, SelectField } from "./field";
import { JsonInput, NumberField } from "./value-inputs";
import { DECLARED_FORM } from "../../messages/declared-form";

export type { DeclaredField };

interface FileProps<T> {
  field: DeclaredField;
  label: string;
  accept: string;
  value: T;
  error: string | undefined;
  onChange: (value: T | undefined) => void;
}

/** Controls for a file and for a list of files, which depend on the right to upload. */
export interface FileControls {
  one: (props: FileProps<string>) => ReactNode;
  several: (props: FileProps<readonly string[]>) => ReactNode;
}

/** Accepted content types of file fields, by their type. */
const UPLOADS: Readonly<Record<string, string>> = {
  image_upload: "image/*",
  mask_upload: "image/*",
  video_upload: "video/*",
  audio_upload: "audio/*",
  model3d_upload: "model/*",
};

export const takesFile = ({ type }: DeclaredField): boolean => type in UPLOADS;

interface ControlProps {
  field: DeclaredField;
  value: unknown;
  error: string | undefined;
  set: (value: unknown) => void;
  files: FileControls;
}

const Control = ({ field, value, set, error, files }: ControlProps) => {
  const label = `${field.label || field.name}${field.required === true ? " *" : ""}`;
  const text = typeof value === "string" ? value : "";
  const accept = UPLOADS[field.type];
  if (accept !== undefined && field.multiple === true)
    return files.several({ field, label, accept, value: references(value), error, onChange: set });
  if (accept !== undefined) return files.one({ field, label, accept, value: text, error, onChange: set });
  // An emptied field would be omitted and take its default.
  const required = field.required === true && typeof field.default === "string";
  const typed = { label, error, value: text, required };
  switch (field.type) {
    case "number":
      return <NumberField label={label} error={error} value={value} onChange={set} />;
    case "boolean":
      return <Check label={label} checked={value === true} onCheck={set} />;
    case "select":
      return (
        <SelectField
          label={label}
          error={error}
          value={text}
          onText={(choice) => set(choice === "" ? undefined : choice)}
          options={field.options ?? []}
        >
          <option value="">{DECLARED_FORM.choose}</option>
        </SelectField>
      );
    case "json":
      return <JsonInput label={label} value={value} onChange={set} />;
    case "textarea":
      return <AreaField {...typed} rows={4} onText={set} />;
    default:
      return <InputField {...typed} onText={set} />;
  }
};

/** The problem of a field, or of the first unfit file of its list (`photos.2`). */
const problemOf = ({ name, multiple }: DeclaredField, errors: ReadonlyMap<string, string> | undefined): string | undefined => {
  const own = errors?.get(name);
  if (own !== undefined || multiple !== true) return own;
  const [path, message] = [...(errors ?? [])].find(([one]) => one.startsWith(`${name}.`)) ?? [];
  return path === undefined ? undefined : DECLARED_FORM.ofFile(Number(path.slice(name.length + 1)) + 1, message!);
};

export interface DeclaredFormProps {
  fields: readonly DeclaredField[];
  values: Readonly<Record<string, unknown>>;
  /** Problems by field name. */
  errors?: ReadonlyMap<string, string> | undefined;
  onChange: (values: Record<string, unknown>) => void;
  files: FileControls;
}

/** A control per declared input. */
export const DeclaredForm = ({ fields, values, errors, onChange, files }: DeclaredFormProps) => (
  <div className="flex flex-col gap-4">
    {fields.map((field) => (
      <Control
        key={field.name}
        field={field}
        value={values[field.name]}
        error={problemOf(field, errors)}
        files={files}
        set={(value) => onChange(changed(fields, values, field, value))}
      />
    ))}
    {fields.length === 0 && <p className="text-sm text-muted">{DECLARED_FORM.noInputs}</p>}
  </div>
);
