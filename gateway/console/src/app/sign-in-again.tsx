import { useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { messageOf } from "../api/client";
import { meQuery } from "../api/queries";
import { resumeSession, useSession } from "../api/session";
import { Button } from "../ui/button";
import { Dialog } from "../ui/overlays/dialog";
import { InputField } from "../ui/inputs/field";
import { Notice } from "../ui/notice";
import { CodeField } from "../parts/sign-in/code-field";
import { ProviderButton } from "../parts/sign-in/provider-button";
import { useSignIn } from "../parts/sign-in/use-sign-in";

const FORM = "sign-in-again";

/** Asks for the password over the page when a session ended: what was typed stays where it is. */
export const SignInAgain = () => {
  const ended = useSession((state) => state.ended);
  const user = useSession((state) => state.user);
  const client = useQueryClient();
  const { takesCode, signIn, startAgain } = useSignIn();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  if (!ended || !user) return null;
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    setBusy(true);
    setFailure(undefined);
    try {
      if (!(await signIn(data))) return;
      const me = await client.fetchQuery({ ...meQuery, staleTime: 0 });
      // What is on the page is another account's.
      if (me?.user.id !== user.id) return location.reload();
      resumeSession();
      void client.invalidateQueries();
    } catch (error) {
      setFailure(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="Sign in again"
      onClose={() => {
        startAgain();
        useSession.setState({ ended: false });
      }}
      actions={
        <Button type="submit" form={FORM} variant="primary" busy={busy}>
          Sign in
        </Button>
      }
    >
      <form id={FORM} className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        <p className="text-sm text-muted">Your session has ended. Nothing you typed is lost: it goes on where you were.</p>
        {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
        {takesCode ? (
          <CodeField />
        ) : (
          <>
            <InputField
              label="Email"
              name="email"
              type="email"
              autoComplete="username"
              required
              maxLength={254}
              defaultValue={user.email}
            />
            <InputField
              label="Password"
              data-first
              name="password"
              type="password"
              autoComplete="current-password"
              required
              maxLength={200}
            />
          </>
        )}
      </form>
      {!takesCode && <ProviderButton />}
    </Dialog>
  );
};
