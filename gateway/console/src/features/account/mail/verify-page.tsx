import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { request } from "../../../api/client";
import { useWork } from "../../../api/use-work";
import { Button, buttonClasses } from "../../../ui/button";
import { Notice } from "../../../ui/notice";
import { Page } from "../../../ui/page";
import { tokenOfLink } from "../../../parts/small-page";
import { mailQuery } from "./queries";

/** Where the mailed link leads, for somebody who is signed in: a click proves the address. Opening the page alone does not. */
export const VerifyPage = () => {
  const client = useQueryClient();
  const [token] = useState(tokenOfLink);
  const [done, setDone] = useState(false);
  const { busy, failure, act } = useWork<"verify">();
  const verify = (): void =>
    void act("verify", async () => {
      await request("verifyAddress", { body: { token: token ?? "" } });
      history.replaceState(null, "", location.pathname);
      setDone(true);
      await client.invalidateQueries({ queryKey: mailQuery.queryKey });
    });
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
          <div className="flex flex-col items-start gap-4">
            {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
            <p className="text-sm text-muted">Confirm that the address of the account you are signed in to is yours.</p>
            <Button variant="primary" busy={busy !== undefined} onClick={verify}>
              Confirm the address
            </Button>
          </div>
        )}
      </div>
    </Page>
  );
};
