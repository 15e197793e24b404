import type { ReactNode } from "react";
import { Check, Field, Input, Select, TextArea } from "./field";
import type { JsonSchema } from "./properties";
import { JsonInput, NumberInput } from "./value-inputs";

/** Controls for values that a schema describes, and the texts that hold what is typed. */
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
  if (typeof minimum === "number" && typeof maximum === "number") return `${minimum} to ${maximum}`;
  if (typeof minimum === "number") return `at least ${minimum}`;
  return typeof maximum === "number" ? `at most ${maximum}` : undefined;
};

const hintOf = (schema: JsonSchema): string | undefined => {
  const texts = [schema.description, boundsOf(schema)].filter((text) => typeof text === "string" && text !== "");
  return texts.length === 0 ? undefined : texts.join(" ");
};

/** A control for one value of a JSON schema. */
export const SchemaControl = ({ label, hint, aside, schema, value, disabled, onChange, error }: ControlProps) => {
  const said = hint ?? hintOf(schema);
  const placeholder =
    schema.default === undefined ? undefined : typeof schema.default === "string" ? schema.default : JSON.stringify(schema.default);
  if (Array.isArray(schema.enum) && schema.enum.every((option) => typeof option === "string" || typeof option === "number"))
    return (
      <Field label={label} hint={said} aside={aside} error={error}>
        {(attributes) => (
          <Select
            {...attributes}
            disabled={disabled}
            value={value === undefined ? "" : JSON.stringify(value)}
            onChange={(event) => onChange(event.target.value === "" ? undefined : (JSON.parse(event.target.value) as unknown))}
          >
            <option value="">{placeholder === undefined ? "Not set" : `Default: ${placeholder}`}</option>
            {(schema.enum as (string | number)[]).map((option) => (
              <option key={String(option)} value={JSON.stringify(option)}>
                {String(option)}
              </option>
            ))}
          </Select>
        )}
      </Field>
    );
  if (schema.type === "boolean")
    return (
      <Check
        label={label}
        hint={said}
        disabled={disabled}
        checked={value === undefined ? schema.default === true : value === true}
        onChange={(event) => onChange(event.target.checked)}
      />
    );
  if (schema.type === "number" || schema.type === "integer")
    return (
      <Field label={label} hint={said} aside={aside} error={error}>
        {(attributes) => <NumberInput {...attributes} disabled={disabled} placeholder={placeholder} value={value} onChange={onChange} />}
      </Field>
    );
  if (schema.type === "string" || schema.format === "media") {
    const long = schema.format !== "media" && (typeof schema.maxLength !== "number" || schema.maxLength > LONG_TEXT);
    const text = typeof value === "string" ? value : "";
    const set = (typed: string): void => onChange(typed === "" ? undefined : typed);
    return (
      <Field label={label} hint={said} aside={aside} error={error}>
        {(attributes) =>
          long ? (
            <TextArea
              {...attributes}
              rows={4}
              disabled={disabled}
              placeholder={placeholder}
              value={text}
              onChange={(event) => set(event.target.value)}
            />
          ) : (
            <Input
              {...attributes}
              disabled={disabled}
              placeholder={placeholder ?? (schema.format === "media" ? "https://… or a media id" : undefined)}
              value={text}
              onChange={(event) => set(event.target.value)}
            />
          )
        }
      </Field>
    );
  }
  return <JsonInput label={label} hint={said} value={value} disabled={disabled} onChange={onChange} />;
};
