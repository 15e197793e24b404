/** Result of a provider's sign-in, which the service returns after the #. */

import { OUTCOME } from "../../messages/parts";
const FAILED = /^#sign-in-failed=([\w%]+)$/;
const CODE = /^#sign-in-code=([\w-]+)$/;

const SENTENCES: Readonly<Record<string, string>> = {
  state: OUTCOME.expired,
  denied: OUTCOME.denied,
  answer: OUTCOME.invalidResponse,
  unverified: OUTCOME.emailNotVerified,
  domain: OUTCOME.domainNotAllowed,
  taken: OUTCOME.linkedElsewhere,
  away: OUTCOME.providerUnavailable,
  ACCOUNT_SUSPENDED: OUTCOME.suspended,
};
const OTHERWISE = OUTCOME.failed;

interface SignInOutcome {
  /** Reason why signing in failed. */
  failure: string | undefined;
  /** Token of a sign-in that needs a code. */
  pending: string | undefined;
}

const read = (hash: string): SignInOutcome => {
  const problem = FAILED.exec(hash)?.[1];
  return { failure: problem === undefined ? undefined : (SENTENCES[problem] ?? OTHERWISE), pending: CODE.exec(hash)?.[1] };
};

/** Read from the address when the page loads, and removed, so that a reload doesn't repeat it. */
const outcome: SignInOutcome = read(location.hash);
if (outcome.failure !== undefined || outcome.pending !== undefined) history.replaceState(null, "", location.pathname + location.search);

const take = (member: keyof SignInOutcome): string | undefined => {
  const { [member]: value } = outcome;
  outcome[member] = undefined;
  return value;
};

/** Returns the failure once. */
export const takeFailure = (): string | undefined => take("failure");
export const takePending = (): string | undefined => take("pending");
