import { useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { request } from "../../api/client";
import { useWork } from "../../api/use-work";
import { Button } from "../../ui/button";
import { Field, Input } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";
import { Card } from "../../ui/page";
import { say } from "../../ui/overlays/toast";

/** Changes the password; every other session ends. */
export const PasswordForm = ({ email }: { email: string }) => {
  const client = useQueryClient();
  const { busy, failure, act } = useWork<"change" | "sign-out">();
  const change = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const data = new FormData(form);
    void act("change", async () => {
      await request("changePassword", { body: { current: String(data.get("current")), new: String(data.get("new")) } });
      form.reset();
      say("The password was changed. Every other session has ended.");
    });
  };
  const signOutEverywhere = (): void =>
    void act("sign-out", async () => {
      await request("logout", { body: { everywhere: true } });
      client.clear();
      client.setQueryData(["me"], null);
    });
  return (
    <Card title="Password and sessions">
      <form className="flex flex-col gap-4" onSubmit={change}>
        {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <Field label="Current password">
          {(attributes) => <Input {...attributes} name="current" type="password" autoComplete="current-password" required />}
        </Field>
        <Field label="New password" hint="At least 10 characters; not a common one.">
          {(attributes) => (
            <Input {...attributes} name="new" type="password" autoComplete="new-password" required minLength={10} maxLength={200} />
          )}
        </Field>
        <div className="flex flex-wrap gap-2">
          <Button type="submit" variant="primary" busy={busy !== undefined}>
            Change password
          </Button>
          <Button busy={busy !== undefined} onClick={signOutEverywhere}>
            Sign out everywhere
          </Button>
        </div>
      </form>
    </Card>
  );
};
