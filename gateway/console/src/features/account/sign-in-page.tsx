import { useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { CodeField } from "../../parts/sign-in/code-field";
import { takeFailure } from "../../parts/sign-in/outcome";
import { SignInPicture } from "./sign-in-picture";
import { ProviderButton } from "../../parts/sign-in/provider-button";
import { credentialsOf, useSignIn } from "../../parts/sign-in/use-sign-in";
import { SmallPage } from "../../parts/small-page";
import { issuesOf, messageOf, request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { Button } from "../../ui/button";
import { InputField } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";
import { ForgotLink } from "./mail/forgot-link";

const MIN_PASSWORD = 10;

interface Failed {
  message: string;
  email?: string | undefined;
  password?: string | undefined;
}

const failed = (error: unknown): Failed => {
  const issues = issuesOf(error);
  const of = (path: string): string | undefined => issues.find((issue) => issue.path === path)?.message;
  return { message: messageOf(error), email: of("email"), password: of("password") };
};

/** Failure of a provider's sign-in. */
const failedBefore = (): Failed | undefined => {
  const message = takeFailure();
  return message === undefined ? undefined : { message };
};

/** Sign-in and registration, shown at the requested address. @param suspended the signed-in account is suspended */
export const SignInPage = ({ suspended }: { suspended: boolean }) => {
  const client = useQueryClient();
  const { takesCode, signIn, startAgain } = useSignIn();
  const [isNew, setNew] = useState(false);
  const [failure, setFailure] = useState<Failed | undefined>(failedBefore);
  const { busy, send } = useChange();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    setFailure(undefined);
    void send(async () => {
      try {
        if (isNew) await request("register", { body: credentialsOf(data) });
        if (await signIn(data)) await client.resetQueries();
      } catch (error) {
        setFailure(failed(error));
      }
    });
  };
  const title = isNew ? "Create an account" : "Sign in";
  return (
    <SmallPage
      title={title}
      lead={isNew ? "An administrator approves new accounts before they can run anything." : "Build, run and watch media pipelines."}
      beside={
        <>
          <SignInPicture />
          <p className="mt-8 text-2xl font-semibold tracking-tight">Pipelines of words, pictures, clips and sound.</p>
          <p className="mt-2 text-muted">Draw them on a canvas, see what each step makes and costs, and call them as an API.</p>
        </>
      }
      foot={
        <>
          {takesCode ? "The code does not come?" : isNew ? "You have an account?" : "New here?"}{" "}
          <button
            type="button"
            className="font-medium text-accent-text underline underline-offset-2"
            onClick={() => {
              setNew(!isNew && !takesCode);
              startAgain();
              setFailure(undefined);
            }}
          >
            {takesCode ? "Start again" : isNew ? "Sign in" : "Create an account"}
          </button>
        </>
      }
    >
      {suspended && !failure && (
        <Notice kind="warn" title="Your account is suspended" className="mb-5">
          An administrator can let it in again. Here you can sign in with another account.
        </Notice>
      )}
      <form onSubmit={submit} className="flex flex-col gap-4">
        {failure && <Notice kind="bad">{failure.message}</Notice>}
        {takesCode ? (
          <CodeField />
        ) : (
          <>
            <InputField
              label="Email"
              error={failure?.email}
              name="email"
              type="email"
              autoComplete="username"
              required
              autoFocus
              maxLength={254}
            />
            <InputField
              label="Password"
              aside={!isNew && <ForgotLink />}
              error={failure?.password}
              hint={isNew ? `At least ${MIN_PASSWORD} characters.` : undefined}
              name="password"
              type="password"
              autoComplete={isNew ? "new-password" : "current-password"}
              required
              minLength={isNew ? MIN_PASSWORD : 1}
              maxLength={200}
            />
          </>
        )}
        <Button type="submit" variant="primary" busy={busy}>
          {title}
        </Button>
      </form>
      {!takesCode && !isNew && <ProviderButton />}
    </SmallPage>
  );
};
