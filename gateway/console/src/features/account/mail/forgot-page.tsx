import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { request } from "../../../api/client";
import { Form } from "../../../parts/form";
import { SmallPage } from "../../../parts/small-page";
import { buttonClasses } from "../../../ui/button";
import { InputField } from "../../../ui/inputs/field";
import { Notice } from "../../../ui/notice";

/** Sends a link for a new password. */
export const ForgotPage = () => {
  const [sentTo, setSentTo] = useState<string>();
  const submit = async (data: FormData): Promise<void> => {
    const email = String(data.get("email"));
    await request("requestPasswordReset", { body: { email } });
    setSentTo(email);
  };
  return (
    <SmallPage title="Forgot your password?">
      {sentTo === undefined ? (
        <Form action="Mail me a link" submit={submit}>
          <InputField
            label="Email"
            hint="A link that sets a new password is mailed to it."
            name="email"
            type="email"
            autoComplete="username"
            required
            autoFocus
            maxLength={254}
          />
        </Form>
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
