import { parseExact } from "@nodeloom/kernel/json-text";
import { useEffect, useId, useRef, useState, type ComponentProps, type ReactNode } from "react";
import { classes } from "../classes";
import { AreaField, Field, Input, type LabelProps } from "./field";
import { VALUE_INPUTS } from "../../messages/ui";

/** Value of typed text: a number, undefined if empty, or "none" for other text. */
const numberOf = (typed: string): number | undefined | "none" => {
  if (typed.trim() === "") return undefined;
  const number = Number(typed);
  return Number.isFinite(number) ? number : "none";
};

interface NumberProps extends Omit<ComponentProps<"input">, "value" | "onChange"> {
  value: unknown;
  onChange: (value: number | undefined) => void;
}

/** A text field that keeps invalid text while it is typed. */
export const NumberInput = ({ value, onChange, ...rest }: NumberProps) => {
  const [text, setText] = useState(typeof value === "number" ? String(value) : "");
  const lastValue = useRef(value);
  useEffect(() => {
    if (value !== lastValue.current) setText(typeof value === "number" ? String(value) : "");
    lastValue.current = value;
  }, [value]);
  const problem = numberOf(text) === "none" ? VALUE_INPUTS.invalidNumber : undefined;
  const note = useId();
  return (
    <>
      <Input
        {...rest}
        {...(problem === undefined ? {} : { "aria-invalid": true, "aria-describedby": classes(rest["aria-describedby"], note) })}
        inputMode="decimal"
        value={text}
        onChange={(event) => {
          const { value: typed } = event.target;
          setText(typed);
          const number = numberOf(typed);
          if (number === "none") return;
          lastValue.current = number;
          onChange(number);
        }}
      />
      {problem !== undefined && (
        <p id={note} role="alert" className="text-xs text-bad">
          {problem}
        </p>
      )}
    </>
  );
};

export const NumberField = ({ label, hint, error, aside, ...rest }: LabelProps & NumberProps) => (
  <Field {...{ label, hint, error, aside }}>{(attributes) => <NumberInput {...attributes} {...rest} />}</Field>
);

/** Edits any JSON as text. Malformed text is kept and reported. */
export const JsonInput = ({
  label,
  hint,
  value,
  disabled,
  onChange,
  rows = 5,
}: {
  label: ReactNode;
  hint?: ReactNode;
  value: unknown;
  disabled?: boolean | undefined;
  onChange: (value: unknown) => void;
  rows?: number;
}) => {
  const valueText = value === undefined ? "" : JSON.stringify(value, undefined, 2);
  const [text, setText] = useState(valueText);
  const [error, setError] = useState<string>();
  const lastText = useRef(valueText);
  useEffect(() => {
    if (valueText !== lastText.current) setText(valueText);
    lastText.current = valueText;
  }, [valueText]);
  const type = (typed: string): void => {
    setText(typed);
    try {
      const parsed = typed.trim() === "" ? undefined : parseExact(typed);
      lastText.current = parsed === undefined ? "" : JSON.stringify(parsed, undefined, 2);
      setError(undefined);
      onChange(parsed);
    } catch {
      setError(VALUE_INPUTS.invalidJson);
    }
  };
  return (
    <AreaField
      label={label}
      hint={hint}
      error={error}
      rows={rows}
      spellCheck={false}
      className="font-mono text-xs!"
      disabled={disabled}
      value={text}
      onText={type}
    />
  );
};
