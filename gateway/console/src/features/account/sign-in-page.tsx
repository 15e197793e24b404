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
import { COMMON } from "../../messages/common";
import { SIGN_IN_PAGE } from "../../messages/account";

const MIN_PASSWORD = 10;

interface SignInErrors {
  message: string;
  email?: string | undefined;
  password?: string | undefined;
}

const failed = (error: unknown): SignInErrors => {
  const issues = issuesOf(error);
  const of = (path: string): string | undefined => issues.find((issue) => issue.path === path)?.message;
  return { message: messageOf(error), email: of("email"), password: of("password") };
};

/** Error of a provider's sign-in that failed. */
const failedBefore = (): SignInErrors | undefined => {
  const message = takeFailure();
  return message === undefined ? undefined : { message };
};

/**
 * Sign-in and registration, shown at the requested address.
 * @param suspended true if the signed-in account is suspended
 */
export const SignInPage = ({ suspended }: { suspended: boolean }) => {
  const client = useQueryClient();
  const { takesCode, signIn, startAgain } = useSignIn();
  const [isNew, setNew] = useState(false);
  const [failure, setFailure] = useState<SignInErrors | undefined>(failedBefore);
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
  const title = isNew ? SIGN_IN_PAGE.createAccount : COMMON.signIn;
  return (
    <SmallPage
      title={title}
      lead={isNew ? SIGN_IN_PAGE.awaitsApproval : SIGN_IN_PAGE.tagline}
      beside={
        <>
          <SignInPicture />
          <p className="mt-8 text-2xl font-semibold tracking-tight">{SIGN_IN_PAGE.pitchTitle}</p>
          <p className="mt-2 text-muted">{SIGN_IN_PAGE.pitchText}</p>
        </>
      }
      foot={
        <>
          {takesCode ? SIGN_IN_PAGE.notReceivingACode : isNew ? SIGN_IN_PAGE.alreadyHaveAnAccount : SIGN_IN_PAGE.newToNodeloom}{" "}
          <button
            type="button"
            className="font-medium text-accent-text underline underline-offset-2"
            onClick={() => {
              setNew(!isNew && !takesCode);
              startAgain();
              setFailure(undefined);
            }}
          >
            {takesCode ? SIGN_IN_PAGE.startOver : isNew ? COMMON.signIn : SIGN_IN_PAGE.createAccount}
          </button>
        </>
      }
    >
      {suspended && !failure && (
        <Notice kind="warn" title={SIGN_IN_PAGE.suspended} className="mb-5">
          {SIGN_IN_PAGE.suspendedHint}
        </Notice>
      )}
      <form onSubmit={submit} className="flex flex-col gap-4">
        {failure && <Notice kind="bad">{failure.message}</Notice>}
        {takesCode ? (
          <CodeField />
        ) : (
          <>
            <InputField
              label={COMMON.email}
              error={failure?.email}
              name="email"
              type="email"
              autoComplete="username"
              required
              autoFocus
              maxLength={254}
            />
            <InputField
              label={COMMON.password}
              aside={!isNew && <ForgotLink />}
              error={failure?.password}
              hint={isNew ? SIGN_IN_PAGE.atLeastCharacters(MIN_PASSWORD) : undefined}
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
