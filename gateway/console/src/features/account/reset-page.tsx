import { Link } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import { Logo } from "../../app/navigation";
import { messageOf, request } from "../../api/client";
import { Button, buttonClasses } from "../../ui/button";
import { Field, Input } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";
import { useTitle } from "../../ui/use-title";

const TOKEN = /^#token=(.+)$/;

/** Where an administrator's link leads: a new password, once. The token stands behind the #, so that no server logs it. */
export const ResetPage = () => {
  const [token] = useState(() => TOKEN.exec(location.hash)?.[1]);
  const [failure, setFailure] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const password = String(new FormData(event.currentTarget).get("password"));
    setBusy(true);
    setFailure(undefined);
    try {
      await request("redeemPasswordReset", { body: { token: decodeURIComponent(token ?? ""), new: password } });
      history.replaceState(null, "", location.pathname);
      setDone(true);
    } catch (error) {
      setFailure(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  useTitle("Set a new password");
  return (
    <main className="flex min-h-full items-center justify-center px-4 py-10">
      <div className="w-full max-w-sm">
        <div className="mb-8 flex justify-center">
          <Logo />
        </div>
        <div className="rounded-2xl border bg-surface p-6 shadow-panel">
          <h1 className="mb-4 text-lg font-semibold">Set a new password</h1>
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
            <form className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
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
              <Button type="submit" variant="primary" busy={busy}>
                Set the password
              </Button>
            </form>
          )}
        </div>
      </div>
    </main>
  );
};
