import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { SmallPage, tokenOfLink } from "../../parts/small-page";
import { request } from "../../api/client";
import { Form } from "../../parts/form";
import { NewPasswordField } from "../../parts/sign-in/password-field";
import { buttonClasses } from "../../ui/button";
import { Notice } from "../../ui/notice";

/** Target of an administrator's link: sets a new password, once. The token follows the #, so that no server logs it. */
export const ResetPage = () => {
  const [token] = useState(tokenOfLink);
  const [done, setDone] = useState(false);
  const submit = async (data: FormData): Promise<void> => {
    await request("redeemPasswordReset", { body: { token: token ?? "", new: String(data.get("password")) } });
    history.replaceState(null, "", location.pathname);
    setDone(true);
  };
  return (
    <SmallPage title="Set a new password">
      {done && (
        <Notice
          kind="ok"
          title="The password was set"
          actions={
            <Link to="/" className={buttonClasses("primary", "sm")}>
              Sign in
            </Link>
          }
        >
          Every session of the account has ended.
        </Notice>
      )}
      {!done && token === undefined && (
        <Notice kind="warn">This address lacks the token of the link. Open the whole link that you were given.</Notice>
      )}
      {!done && token !== undefined && (
        <Form action="Set the password" submit={submit}>
          <NewPasswordField name="password" autoFocus />
        </Form>
      )}
    </SmallPage>
  );
};
