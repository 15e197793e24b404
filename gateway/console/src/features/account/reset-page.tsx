import { Link } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import { SmallPage, tokenOfLink } from "../../parts/small-page";
import { request } from "../../api/client";
import { useWork } from "../../api/use-work";
import { Button, buttonClasses } from "../../ui/button";
import { Field, Input } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";

/** Where an administrator's link leads: a new password, once. The token stands behind the #, so that no server logs it. */
export const ResetPage = () => {
  const [token] = useState(tokenOfLink);
  const [done, setDone] = useState(false);
  const { busy, failure, act } = useWork<"reset">();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const password = String(new FormData(event.currentTarget).get("password"));
    void act("reset", async () => {
      await request("redeemPasswordReset", { body: { token: token ?? "", new: password } });
      history.replaceState(null, "", location.pathname);
      setDone(true);
    });
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
        <form className="flex flex-col gap-4" onSubmit={submit}>
          {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
          <Field label="New password" hint="At least 10 characters; not a common one.">
            {(attributes) => (
              <Input
                {...attributes}
                name="password"
                type="password"
                autoComplete="new-password"
                required
                minLength={10}
                maxLength={200}
                autoFocus
              />
            )}
          </Field>
          <Button type="submit" variant="primary" busy={busy !== undefined}>
            Set the password
          </Button>
        </form>
      )}
    </SmallPage>
  );
};
