/** Result of a provider's sign-in, which the service returns after the #. */

const FAILED = /^#sign-in-failed=([\w%]+)$/;
const CODE = /^#sign-in-code=([\w-]+)$/;

const SENTENCES: Readonly<Record<string, string>> = {
  state: "The sign-in took too long, or was begun in another window. Try again.",
  denied: "The provider did not let you in.",
  answer: "The provider's answer could not be trusted. Try again; if it stays so, an administrator finds the reason in the log.",
  unverified: "The provider has not verified your e-mail address.",
  domain: "Addresses of your domain may not sign in here.",
  taken: "Another account is linked to this one already. An administrator can say which.",
  away: "The provider can't be reached. Try again in a moment.",
  ACCOUNT_SUSPENDED: "Your account is suspended.",
};
const OTHERWISE = "The sign-in failed. Try again.";

interface SignInOutcome {
  /** Why signing in failed. */
  failure: string | undefined;
  /** Token of a sign-in that needs a code. */
  pending: string | undefined;
}

const read = (hash: string): SignInOutcome => {
  const problem = FAILED.exec(hash)?.[1];
  return { failure: problem === undefined ? undefined : (SENTENCES[problem] ?? OTHERWISE), pending: CODE.exec(hash)?.[1] };
};

/** From the address at loading; a reload doesn't repeat it. */
const outcome: SignInOutcome = read(location.hash);
if (outcome.failure !== undefined || outcome.pending !== undefined) history.replaceState(null, "", location.pathname + location.search);

const take = (member: keyof SignInOutcome): string | undefined => {
  const { [member]: value } = outcome;
  outcome[member] = undefined;
  return value;
};

/** Shown once. */
export const takeFailure = (): string | undefined => take("failure");
export const takePending = (): string | undefined => take("pending");
