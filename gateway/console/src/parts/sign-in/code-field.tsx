import { InputField } from "../../ui/inputs/field";

/** Field for a second factor's code. */
export const CodeField = ({ hint = "Six digits from your authenticator, or one of your recovery codes." }: { hint?: string }) => (
  <InputField
    label="Code"
    hint={hint}
    data-first
    name="code"
    autoComplete="one-time-code"
    autoCapitalize="none"
    spellCheck={false}
    required
    autoFocus
    maxLength={40}
  />
);
