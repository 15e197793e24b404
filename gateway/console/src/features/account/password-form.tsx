import { useQueryClient } from "@tanstack/react-query";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { Form } from "../../parts/form";
import { AccountOf, NewPasswordField } from "../../parts/sign-in/password-field";
import { Button } from "../../ui/button";
import { InputField } from "../../ui/inputs/field";
import { Card } from "../../ui/page";

/** Changes the password; all other sessions end. */
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
    <Card title="Password and sessions">
      <Form
        action="Change password"
        submit={change}
        done="The password was changed. Every other session has ended."
        resets
        others={
          <Button busy={busy} onClick={() => void run(signOutEverywhere)}>
            Sign out everywhere
          </Button>
        }
      >
        <AccountOf email={email} />
        <InputField label="Current password" name="current" type="password" autoComplete="current-password" required />
        <NewPasswordField name="new" />
      </Form>
    </Card>
  );
};
