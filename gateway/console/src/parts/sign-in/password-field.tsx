import { useQuery } from "@tanstack/react-query";
import { InputField, type Labelled } from "../../ui/inputs/field";
import { secondFactorQuery } from "./second-factor";

/** Address of the account, for password managers. */
export const AccountOf = ({ email }: { email: string }) => (
  <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
);

export const PasswordField = ({ email }: { email: string }) => (
  <>
    <AccountOf email={email} />
    <InputField label="Password" data-first name="password" type="password" autoComplete="current-password" required maxLength={200} />
  </>
);

export const NewPasswordField = (props: Partial<Labelled> & { name: string; autoFocus?: boolean }) => (
  <InputField
    label="New password"
    hint="At least 10 characters; not a common one."
    type="password"
    autoComplete="new-password"
    required
    minLength={10}
    maxLength={200}
    {...props}
  />
);

/** Asks again for the account's password, if it has one, before a deletion. */
export const useConfirmation = (email: string) => {
  const { data } = useQuery(secondFactorQuery);
  const hasPassword = data?.hasPassword ?? true;
  return {
    field: hasPassword ? (
      <PasswordField email={email} />
    ) : (
      <p className="text-muted">Your account has no password: sign in again within ten minutes before you delete it.</p>
    ),
    bodyOf: (form: FormData) => (hasPassword ? { password: String(form.get("password")) } : {}),
  };
};
