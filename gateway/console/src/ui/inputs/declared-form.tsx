import type { ReactNode } from "react";
import { AreaField, Check, InputField, SelectField } from "./field";
import { JsonInput, NumberField } from "./value-inputs";
import { DECLARED_FORM } from "../../messages/ui";

/** A declared input of a workflow or app. */
export interface DeclaredField {
  name: string;
  type: string;
  label?: string | undefined;
  default?: unknown;
  options?: string[];
  required?: boolean | undefined;
}

/** Control for a file, which depends on the right to upload. */
export type FileControl = (props: {
  field: DeclaredField;
  label: string;
  accept: string;
  value: string;
  error: string | undefined;
  onChange: (value: string | undefined) => void;
}) => ReactNode;

const UPLOADS: Readonly<Record<string, string>> = {
  image_upload: "image/*",
  mask_upload: "image/*",
  video_upload: "video/*",
  audio_upload: "audio/*",
};

export const takesFile = ({ type }: DeclaredField): boolean => type in UPLOADS;

interface ControlProps {
  field: DeclaredField;
  value: unknown;
  error: string | undefined;
  set: (value: unknown) => void;
  renderFile: FileControl;
}

const Control = ({ field, value, set, error, renderFile }: ControlProps) => {
  const label = `${field.label || field.name}${field.required === true ? " *" : ""}`;
  const text = typeof value === "string" ? value : "";
  const accept = UPLOADS[field.type];
  if (accept !== undefined) return renderFile({ field, label, accept, value: text, error, onChange: set });
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

export interface DeclaredFormProps {
  fields: readonly DeclaredField[];
  values: Readonly<Record<string, unknown>>;
  /** Problems by field name. */
  errors?: ReadonlyMap<string, string> | undefined;
  onChange: (values: Record<string, unknown>) => void;
  renderFile: FileControl;
}

/** A control per declared input. */
export const DeclaredForm = ({ fields, values, errors, onChange, renderFile }: DeclaredFormProps) => (
  <div className="flex flex-col gap-4">
    {fields.map((field) => (
      <Control
        key={field.name}
        field={field}
        value={values[field.name]}
        error={errors?.get(field.name)}
        renderFile={renderFile}
        set={(value) => onChange({ ...values, [field.name]: value })}
      />
    ))}
    {fields.length === 0 && <p className="text-sm text-muted">{DECLARED_FORM.noInputs}</p>}
  </div>
);
