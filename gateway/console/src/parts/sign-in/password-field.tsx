import { Field, Input } from "../../ui/inputs/field";

/** The account's password, once more. */
export const PasswordField = ({ email }: { email: string }) => (
  <>
    <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
    <Field label="Password">
      {(attributes) => (
        <Input {...attributes} data-first name="password" type="password" autoComplete="current-password" required maxLength={200} />
      )}
    </Field>
  </>
);
