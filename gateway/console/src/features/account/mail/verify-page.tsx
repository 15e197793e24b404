import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { request } from "../../../api/client";
import { Form } from "../../../parts/form";
import { tokenOfLink } from "../../../parts/small-page";
import { buttonClasses } from "../../../ui/button";
import { Notice } from "../../../ui/notice";
import { Page } from "../../../ui/page";
import { COMMON } from "../../../messages/common";
import { VERIFY_PAGE } from "../../../messages/account";

/** Page of the emailed link for a signed-in person. Only a click confirms the address. */
export const VerifyPage = () => {
  const [token] = useState(tokenOfLink);
  const [isDone, setDone] = useState(false);
  const verify = async (): Promise<void> => {
    await request("verifyAddress", { body: { token: token ?? "" } });
    history.replaceState(null, "", location.pathname);
    setDone(true);
  };
  return (
    <Page title={VERIFY_PAGE.confirmYourEmailAddress}>
      <div className="max-w-lg">
        {isDone ? (
          <Notice
            kind="ok"
            title={VERIFY_PAGE.emailAddressConfirmed}
            actions={
              <Link to="/" className={buttonClasses("primary", "sm")}>
                {COMMON.continue}
              </Link>
            }
          >
            {VERIFY_PAGE.confirmedHint}
          </Notice>
        ) : token === undefined ? (
          <Notice kind="warn">{VERIFY_PAGE.linkIncomplete}</Notice>
        ) : (
          <Form action={VERIFY_PAGE.confirmEmailAddress} reads={["mail"]} submit={verify}>
            <p className="text-sm text-muted">{VERIFY_PAGE.question}</p>
          </Form>
        )}
      </div>
    </Page>
  );
};
