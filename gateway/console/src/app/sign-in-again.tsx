import { useQueryClient } from "@tanstack/react-query";
import { FormDialog } from "../parts/form";
import { meQuery } from "../api/queries";
import { resumeSession, useSession } from "../api/session";
import { InputField } from "../ui/inputs/field";
import { CodeField } from "../parts/sign-in/code-field";
import { ProviderButton } from "../parts/sign-in/provider-button";
import { useSignIn } from "../parts/sign-in/use-sign-in";
import { COMMON } from "../messages/common";
import { SIGN_IN_AGAIN } from "../messages/app";

/** Asks for the password above the page after a session has ended, so that no input is lost. */
export const SignInAgain = () => {
  const hasEnded = useSession((state) => state.ended);
  const user = useSession((state) => state.user);
  const client = useQueryClient();
  const { takesCode, signIn, startAgain } = useSignIn();
  if (!hasEnded || !user) return null;
  const submit = async (data: FormData): Promise<false> => {
    if (!(await signIn(data))) return false;
    const me = await client.fetchQuery({ ...meQuery, staleTime: 0 });
    // The page shows another account's data.
    if (me?.user.id === user.id) {
      resumeSession();
      void client.invalidateQueries();
    } else location.reload();
    return false;
  };
  return (
    <FormDialog
      title={SIGN_IN_AGAIN.signInAgain}
      action={COMMON.signIn}
      submit={submit}
      onClose={() => {
        startAgain();
        useSession.setState({ ended: false });
      }}
    >
      <p className="text-sm text-muted">{SIGN_IN_AGAIN.sessionEnded}</p>
      {takesCode ? (
        <CodeField />
      ) : (
        <>
          <InputField
            label={COMMON.email}
            name="email"
            type="email"
            autoComplete="username"
            required
            maxLength={254}
            defaultValue={user.email}
          />
          <InputField
            label={COMMON.password}
            data-first
            name="password"
            type="password"
            autoComplete="current-password"
            required
            maxLength={200}
          />
        </>
      )}
      {!takesCode && <ProviderButton />}
    </FormDialog>
  );
};
