import { useQuery } from "@tanstack/react-query";
import { InputField, type LabelProps } from "../../ui/inputs/field";
import { secondFactorQuery } from "./second-factor";
import { COMMON } from "../../messages/common";
import { PASSWORD_FIELD } from "../../messages/parts";

/** Hidden field with the account's address, for password managers. */
export const AccountOf = ({ email }: { email: string }) => (
  <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
);

export const PasswordField = ({ email }: { email: string }) => (
  <>
    <AccountOf email={email} />
    <InputField
      label={COMMON.password}
      data-first
      name="password"
      type="password"
      autoComplete="current-password"
      required
      maxLength={200}
    />
  </>
);

export const NewPasswordField = (props: Partial<LabelProps> & { name: string; autoFocus?: boolean }) => (
  <InputField
    label={PASSWORD_FIELD.newPassword}
    hint={PASSWORD_FIELD.hint}
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
    field: hasPassword ? <PasswordField email={email} /> : <p className="text-muted">{PASSWORD_FIELD.noPassword}</p>,
    bodyOf: (form: FormData) => (hasPassword ? { password: String(form.get("password")) } : {}),
  };
};
