import { create } from "zustand";

/** User of the page, and true or false for the end of their session. */
export interface Session {
  user: { id: string; email: string } | undefined;
  /** A request failed without a session. The page stays until the person signs in again. */
  ended: boolean;
  /** Counts sign-ins; each retries the requests that failed before it. */
  signIns: number;
}

export const useSession = create<Session>(() => ({ user: undefined, ended: false, signIns: 0 }));

export const beginSession = (user: NonNullable<Session["user"]>): void => useSession.setState({ user, ended: false });
/** Ends the session only of a signed-in user. */
export const endSession = (): void => useSession.setState(({ user }) => ({ ended: user !== undefined }));
/** Forgets the user who signed out, so that no dialog appears. */
export const leaveSession = (): void => useSession.setState({ user: undefined, ended: false });
export const resumeSession = (): void => useSession.setState(({ signIns }) => ({ ended: false, signIns: signIns + 1 }));

/** Calls `run` after each new sign-in. @returns a function that stops this */
export const onSignIn = (run: () => void): (() => void) =>
  useSession.subscribe((now, before) => {
    if (now.signIns !== before.signIns) run();
  });
