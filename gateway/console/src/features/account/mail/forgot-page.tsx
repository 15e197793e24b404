import { Link } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import { request } from "../../../api/client";
import { useWork } from "../../../api/use-work";
import { Button, buttonClasses } from "../../../ui/button";
import { Field, Input } from "../../../ui/inputs/field";
import { Notice } from "../../../ui/notice";
import { SmallPage } from "../../../parts/small-page";

/** Has a link mailed that sets a new password. */
export const ForgotPage = () => {
  const { busy, failure, act } = useWork<"send">();
  const [sentTo, setSentTo] = useState<string>();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const email = String(new FormData(event.currentTarget).get("email"));
    void act("send", async () => {
      await request("requestPasswordReset", { body: { email } });
      setSentTo(email);
    });
  };
  return (
    <SmallPage title="Forgot your password?">
      {sentTo === undefined ? (
        <form className="flex flex-col gap-4" onSubmit={submit}>
          {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
          <Field label="Email" hint="A link that sets a new password is mailed to it.">
            {(attributes) => <Input {...attributes} name="email" type="email" autoComplete="username" required autoFocus maxLength={254} />}
          </Field>
          <Button type="submit" variant="primary" busy={busy !== undefined}>
            Mail me a link
          </Button>
        </form>
      ) : (
        <div role="status">
          <Notice kind="ok" title="Look into your mail">
            If an account with a password has the address {sentTo}, a link is on its way to it. It works once, for an hour. Another one can
            be asked for in five minutes.
          </Notice>
        </div>
      )}
      <p className="mt-5 text-center text-sm">
        <Link to="/" className={buttonClasses("ghost", "sm")}>
          Back to signing in
        </Link>
      </p>
    </SmallPage>
  );
};
