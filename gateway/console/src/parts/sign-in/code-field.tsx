import { InputField } from "../../ui/inputs/field";
import { CODE_FIELD } from "../../messages/parts";

/** Field for a second factor's code. */
export const CodeField = ({ hint = CODE_FIELD.hint }: { hint?: string }) => (
  <InputField
    label={CODE_FIELD.code}
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
