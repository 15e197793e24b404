import { useQueryClient } from "@tanstack/react-query";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { Form } from "../../parts/form";
import { AccountOf, NewPasswordField } from "../../parts/sign-in/password-field";
import { Button } from "../../ui/button";
import { InputField } from "../../ui/inputs/field";
import { Card } from "../../ui/page";
import { PASSWORD_FORM } from "../../messages/account";

/** Changes the password and ends all other sessions. */
export const PasswordForm = ({ email }: { email: string }) => {
  const client = useQueryClient();
  const { busy, run } = useChange();
  const change = (data: FormData) =>
    request("changePassword", { body: { current: String(data.get("current")), new: String(data.get("new")) } });
  const signOutEverywhere = async (): Promise<void> => {
    await request("logout", { body: { everywhere: true } });
    client.clear();
    client.setQueryData(["me"], null);
  };
  return (
    <Card title={PASSWORD_FORM.passwordAndSessions}>
      <Form
        action={PASSWORD_FORM.changePassword}
        submit={change}
        successText={PASSWORD_FORM.passwordChanged}
        resets
        others={
          <Button busy={busy} onClick={() => void run(signOutEverywhere)}>
            {PASSWORD_FORM.signOutEverywhere}
          </Button>
        }
      >
        <AccountOf email={email} />
        <InputField label={PASSWORD_FORM.currentPassword} name="current" type="password" autoComplete="current-password" required />
        <NewPasswordField name="new" />
      </Form>
    </Card>
  );
};
