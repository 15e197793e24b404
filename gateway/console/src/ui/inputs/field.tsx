import { useId, type ComponentProps, type ReactNode } from "react";
import { classes } from "../classes";

const BOX =
  "w-full rounded-lg border border-line-strong bg-surface px-2.5 text-sm text-text transition-colors hover:border-muted focus-visible:border-accent focus-visible:outline-2 focus-visible:outline-offset-0 focus-visible:outline-accent-text/40 disabled:opacity-60 aria-invalid:border-bad";

export interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: string | undefined;
  /** Shown beside the label, on the right. */
  aside?: ReactNode;
  className?: string;
  children: (attributes: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }) => ReactNode;
}

/** A control with label, hint and error. */
export const Field = ({ label, hint, error, aside, className, children }: FieldProps) => {
  const id = useId();
  const notes = [hint === undefined ? "" : `${id}-hint`, error === undefined ? "" : `${id}-error`].filter(Boolean).join(" ");
  return (
    <div className={classes("flex min-w-0 flex-col gap-1", className)}>
      <div className="flex items-baseline justify-between gap-2">
        <label htmlFor={id} className="min-w-0 text-[13px] font-medium text-text wrap-anywhere">
          {label}
        </label>
        {aside}
      </div>
      {children({ id, ...(notes === "" ? {} : { "aria-describedby": notes }), ...(error === undefined ? {} : { "aria-invalid": true }) })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-xs text-faint wrap-anywhere">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} role="alert" className="text-xs text-bad wrap-anywhere">
          {error}
        </p>
      )}
    </div>
  );
};

/** Handlers that receive the text instead of the event. */
interface TextHandlers {
  onText?: ((text: string) => void) | undefined;
}
const typing = ({ onText }: TextHandlers): { onChange?: (event: { target: { value: string } }) => void } =>
  onText === undefined ? {} : { onChange: ({ target }) => onText(target.value) };

export type InputProps = ComponentProps<"input"> & TextHandlers;
export const Input = ({ className, onText, ...rest }: InputProps) => (
  <input dir="auto" {...rest} {...typing({ onText })} className={classes(BOX, "h-9", className)} />
);

export type AreaProps = ComponentProps<"textarea"> & TextHandlers;
export const TextArea = ({ className, onText, ...rest }: AreaProps) => (
  <textarea rows={4} dir="auto" {...rest} {...typing({ onText })} className={classes(BOX, "block resize-y py-2 leading-snug", className)} />
);

/** Options: values with or without separate titles. */
export type Options = readonly (string | readonly [value: string, title: string])[];
export type SelectProps = ComponentProps<"select"> & TextHandlers & { options?: Options };
export const Select = ({ className, children, onText, options = [], ...rest }: SelectProps) => (
  <select {...rest} {...typing({ onText })} className={classes(BOX, "h-9 pr-1.5", className)}>
    {children}
    {options.map((option) => {
      const [value, title] = typeof option === "string" ? [option, option] : option;
      return (
        <option key={value} value={value}>
          {title}
        </option>
      );
    })}
  </select>
);

export type LabelProps = Omit<FieldProps, "children" | "className">;
export const InputField = ({ label, hint, error, aside, ...rest }: LabelProps & InputProps) => (
  <Field {...{ label, hint, error, aside }}>{(attributes) => <Input {...attributes} {...rest} />}</Field>
);
export const AreaField = ({ label, hint, error, aside, ...rest }: LabelProps & AreaProps) => (
  <Field {...{ label, hint, error, aside }}>{(attributes) => <TextArea {...attributes} {...rest} />}</Field>
);
export const SelectField = ({ label, hint, error, aside, ...rest }: LabelProps & SelectProps) => (
  <Field {...{ label, hint, error, aside }}>{(attributes) => <Select {...attributes} {...rest} />}</Field>
);

export interface CheckProps extends Omit<ComponentProps<"input">, "type"> {
  label: ReactNode;
  hint?: ReactNode;
  onCheck?: (isOn: boolean) => void;
}

export const Check = ({ label, hint, className, onCheck, ...rest }: CheckProps) => (
  <label className={classes("flex min-w-0 max-md:min-w-11 cursor-pointer items-start gap-2 text-sm max-md:py-3", className)}>
    <input
      type="checkbox"
      {...rest}
      {...(onCheck && { onChange: ({ target }) => onCheck(target.checked) })}
      className="mt-0.5 size-4 shrink-0 accent-accent"
    />
    <span className="min-w-0">
      <span className="wrap-anywhere">{label}</span>
      {hint !== undefined && <span className="block text-xs text-faint">{hint}</span>}
    </span>
  </label>
);
