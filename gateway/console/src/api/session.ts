import { create } from "zustand";

/** Who is signed in, as far as this page knows, and whether the service says otherwise by now. */
export interface Session {
  user: { id: string; email: string } | undefined;
  /** A request was refused for want of a session; the page stays as it is until somebody signs in again. */
  ended: boolean;
  /** Counts sign-ins: what was refused meanwhile is tried again. */
  signIns: number;
}

export const useSession = create<Session>(() => ({ user: undefined, ended: false, signIns: 0 }));

export const beginSession = (user: NonNullable<Session["user"]>): void => useSession.setState({ user, ended: false });
/** Of somebody who was signed in here; others simply are not. */
export const endSession = (): void => useSession.setState(({ user }) => ({ ended: user !== undefined }));
/** Signed out by the user: nothing is asked for. */
export const leaveSession = (): void => useSession.setState({ user: undefined, ended: false });
export const resumeSession = (): void => useSession.setState(({ signIns }) => ({ ended: false, signIns: signIns + 1 }));

/** Calls back after each time that somebody signed in again. @returns what ends it */
export const onSignIn = (run: () => void): (() => void) =>
  useSession.subscribe((now, before) => {
    if (now.signIns !== before.signIns) run();
  });
