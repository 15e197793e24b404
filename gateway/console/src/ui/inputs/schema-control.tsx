import type { ReactNode } from "react";
import { Check, Field, Input, SelectField, TextArea } from "./field";
import type { JsonSchema } from "./properties";
import { JsonInput, NumberField } from "./value-inputs";
import { SCHEMA_CONTROL } from "../../messages/ui";

/** Controls for JSON Schemas, which keep partly typed values as text. */
export interface ControlProps {
  name: string;
  label: ReactNode;
  hint?: ReactNode;
  aside?: ReactNode;
  schema: JsonSchema;
  value: unknown;
  disabled?: boolean | undefined;
  onChange: (value: unknown) => void;
  error?: string | undefined;
}

const LONG_TEXT = 200;

const boundsOf = ({ minimum, maximum }: JsonSchema): string | undefined => {
  if (typeof minimum === "number" && typeof maximum === "number") return SCHEMA_CONTROL.to(minimum, maximum);
  if (typeof minimum === "number") return SCHEMA_CONTROL.atLeast(minimum);
  return typeof maximum === "number" ? SCHEMA_CONTROL.atMost(maximum) : undefined;
};

const hintOf = (schema: JsonSchema): string | undefined => {
  const texts = [schema.description, boundsOf(schema)].filter((text) => typeof text === "string" && text !== "");
  return texts.length === 0 ? undefined : texts.join(" ");
};

export const SchemaControl = ({ label, hint, aside, schema, value, disabled, onChange, error }: ControlProps) => {
  const hintText = hint ?? hintOf(schema);
  const placeholder =
    schema.default === undefined ? undefined : typeof schema.default === "string" ? schema.default : JSON.stringify(schema.default);
  if (Array.isArray(schema.enum) && schema.enum.every((option) => typeof option === "string" || typeof option === "number"))
    return (
      <SelectField
        label={label}
        hint={hintText}
        aside={aside}
        error={error}
        disabled={disabled}
        value={value === undefined ? "" : JSON.stringify(value)}
        onText={(text) => onChange(text === "" ? undefined : (JSON.parse(text) as unknown))}
        options={(schema.enum as (string | number)[]).map((option) => [JSON.stringify(option), String(option)])}
      >
        <option value="">{placeholder === undefined ? SCHEMA_CONTROL.notSet : SCHEMA_CONTROL.default(placeholder)}</option>
      </SelectField>
    );
  if (schema.type === "boolean")
    return (
      <Check
        label={label}
        hint={hintText}
        disabled={disabled}
        checked={value === undefined ? schema.default === true : value === true}
        onCheck={onChange}
      />
    );
  if (schema.type === "number" || schema.type === "integer")
    return (
      <NumberField
        label={label}
        hint={hintText}
        aside={aside}
        error={error}
        disabled={disabled}
        placeholder={placeholder}
        value={value}
        onChange={onChange}
      />
    );
  if (schema.type === "string" || schema.format === "media") {
    // A pattern is for a code of one line, such as a color.
    const isCode = schema.format === "media" || typeof schema.pattern === "string";
    const long = !isCode && (typeof schema.maxLength !== "number" || schema.maxLength > LONG_TEXT);
    const text = typeof value === "string" ? value : "";
    const set = (typed: string): void => onChange(typed === "" ? undefined : typed);
    return (
      <Field label={label} hint={hintText} aside={aside} error={error}>
        {(attributes) =>
          long ? (
            <TextArea {...attributes} rows={4} disabled={disabled} placeholder={placeholder} value={text} onText={set} />
          ) : (
            <Input
              {...attributes}
              disabled={disabled}
              placeholder={placeholder ?? (schema.format === "media" ? SCHEMA_CONTROL.httpsOrMediaId : undefined)}
              value={text}
              onText={set}
            />
          )
        }
      </Field>
    );
  }
  return <JsonInput label={label} hint={hintText} value={value} disabled={disabled} onChange={onChange} />;
};
