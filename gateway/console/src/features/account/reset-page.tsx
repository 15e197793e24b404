import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { SmallPage, tokenOfLink } from "../../parts/small-page";
import { request } from "../../api/client";
import { Form } from "../../parts/form";
import { NewPasswordField } from "../../parts/sign-in/password-field";
import { buttonClasses } from "../../ui/button";
import { Notice } from "../../ui/notice";
import { COMMON } from "../../messages/common";
import { RESET_PAGE } from "../../messages/account";

/** Page of an administrator's link: sets a new password once. The token follows the #, so that no server logs it. */
export const ResetPage = () => {
  const [token] = useState(tokenOfLink);
  const [isDone, setDone] = useState(false);
  const submit = async (data: FormData): Promise<void> => {
    await request("redeemPasswordReset", { body: { token: token ?? "", new: String(data.get("password")) } });
    history.replaceState(null, "", location.pathname);
    setDone(true);
  };
  return (
    <SmallPage title={RESET_PAGE.setANewPassword}>
      {isDone && (
        <Notice
          kind="ok"
          title={RESET_PAGE.passwordSet}
          actions={
            <Link to="/" className={buttonClasses("primary", "sm")}>
              {COMMON.signIn}
            </Link>
          }
        >
          {RESET_PAGE.allSessionsSignedOut}
        </Notice>
      )}
      {!isDone && token === undefined && <Notice kind="warn">{RESET_PAGE.linkIncomplete}</Notice>}
      {!isDone && token !== undefined && (
        <Form action={RESET_PAGE.setPassword} submit={submit}>
          <NewPasswordField name="password" autoFocus />
        </Form>
      )}
    </SmallPage>
  );
};
