import { classes } from "../classes";

export interface SwitchProps {
  /** Accessible name. */
  label: string;
  isOn: boolean;
  disabled?: boolean;
  onChange: (isOn: boolean) => void;
}

export const Switch = ({ label, isOn, disabled, onChange }: SwitchProps) => (
  <input
    type="checkbox"
    role="switch"
    aria-label={label}
    title={label}
    checked={isOn}
    disabled={disabled}
    onChange={({ target }) => onChange(target.checked)}
    className={classes(
      "relative h-6 w-10 shrink-0 cursor-pointer appearance-none rounded-full bg-faint align-middle transition-colors checked:bg-accent",
      "before:absolute before:top-1 before:left-1 before:size-4 before:rounded-full before:bg-surface before:transition-transform checked:before:translate-x-4",
      // Fingers need 44 px.
      "after:absolute after:-inset-2.5",
      "disabled:cursor-not-allowed disabled:opacity-55",
    )}
  />
);
