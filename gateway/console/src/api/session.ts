import { create } from "zustand";

/** The known user of the page, and whether their session has ended. */
export interface Session {
  user: { id: string; email: string } | undefined;
  /** A request failed without a session; the page stays until a person signs in again. */
  ended: boolean;
  /** Counts sign-ins; requests that failed meanwhile are retried. */
  signIns: number;
}

export const useSession = create<Session>(() => ({ user: undefined, ended: false, signIns: 0 }));

export const beginSession = (user: NonNullable<Session["user"]>): void => useSession.setState({ user, ended: false });
/** Only ends the session of a signed-in user. */
export const endSession = (): void => useSession.setState(({ user }) => ({ ended: user !== undefined }));
/** The user signed out, so no dialog appears. */
export const leaveSession = (): void => useSession.setState({ user: undefined, ended: false });
export const resumeSession = (): void => useSession.setState(({ signIns }) => ({ ended: false, signIns: signIns + 1 }));

/** Calls back after each new sign-in. @returns a function that stops it */
export const onSignIn = (run: () => void): (() => void) =>
  useSession.subscribe((now, before) => {
    if (now.signIns !== before.signIns) run();
  });
