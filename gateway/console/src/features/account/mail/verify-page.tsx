import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { request } from "../../../api/client";
import { Form } from "../../../parts/form";
import { tokenOfLink } from "../../../parts/small-page";
import { buttonClasses } from "../../../ui/button";
import { Notice } from "../../../ui/notice";
import { Page } from "../../../ui/page";

/** Target of the mailed link for a signed-in person: a click confirms the address, opening the page doesn't. */
export const VerifyPage = () => {
  const [token] = useState(tokenOfLink);
  const [done, setDone] = useState(false);
  const verify = async (): Promise<void> => {
    await request("verifyAddress", { body: { token: token ?? "" } });
    history.replaceState(null, "", location.pathname);
    setDone(true);
  };
  return (
    <Page title="Confirm your address">
      <div className="max-w-lg">
        {done ? (
          <Notice
            kind="ok"
            title="The address is confirmed"
            actions={
              <Link to="/" className={buttonClasses("primary", "sm")}>
                Go on
              </Link>
            }
          >
            Notices can be mailed to it now. Which ones, your account page says.
          </Notice>
        ) : token === undefined ? (
          <Notice kind="warn">This address lacks the token of the link. Open the whole link that was mailed to you.</Notice>
        ) : (
          <Form action="Confirm the address" reads={["mail"]} submit={verify}>
            <p className="text-sm text-muted">Confirm that the address of the account you are signed in to is yours.</p>
          </Form>
        )}
      </div>
    </Page>
  );
};
