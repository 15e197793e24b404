import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { request } from "../../../api/client";
import { Form } from "../../../parts/form";
import { SmallPage } from "../../../parts/small-page";
import { buttonClasses } from "../../../ui/button";
import { InputField } from "../../../ui/inputs/field";
import { Notice } from "../../../ui/notice";
import { COMMON } from "../../../messages/common";
import { FORGOT_PAGE } from "../../../messages/account";

/** Sends a link for a new password. */
export const ForgotPage = () => {
  const [sentTo, setSentTo] = useState<string>();
  const submit = async (data: FormData): Promise<void> => {
    const email = String(data.get("email"));
    await request("requestPasswordReset", { body: { email } });
    setSentTo(email);
  };
  return (
    <SmallPage title={FORGOT_PAGE.forgotYourPassword}>
      {sentTo === undefined ? (
        <Form action={FORGOT_PAGE.sendLink} submit={submit}>
          <InputField
            label={COMMON.email}
            hint={FORGOT_PAGE.intro}
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
          <Notice kind="ok" title={FORGOT_PAGE.checkYourEmail}>
            {FORGOT_PAGE.linkOnItsWay(sentTo)}
          </Notice>
        </div>
      )}
      <p className="mt-5 text-center text-sm">
        <Link to="/" className={buttonClasses("ghost", "sm")}>
          {FORGOT_PAGE.backToSignIn}
        </Link>
      </p>
    </SmallPage>
  );
};
