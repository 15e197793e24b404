import { useState } from "react";
import { request } from "../../api/client";
import { takePending } from "./outcome";

export const credentialsOf = (form: FormData): { email: string; password: string } => ({
  email: String(form.get("email")).trim(),
  password: String(form.get("password")),
});

/** Signs in by password, then by code if the account has a second factor. */
export const useSignIn = () => {
  const [pending, setPending] = useState(takePending);
  /** Sends the form. @returns true if a person is signed in; false if a code is needed */
  const signIn = async (form: FormData): Promise<boolean> => {
    if (pending !== undefined) {
      await request("completeLogin", { body: { pending, code: String(form.get("code")) } });
      setPending(undefined);
      return true;
    }
    const { body } = await request("login", { body: credentialsOf(form) });
    if (!("pending" in body)) return true;
    setPending(body.pending);
    return false;
  };
  return { takesCode: pending !== undefined, signIn, startAgain: (): void => setPending(undefined) };
};
