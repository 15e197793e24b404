import { DomainError, type ErrorKind, type Reason } from "@nodeloom/kernel";

/** Reasons for a failed provider sign-in. The console has a message for each. */
const PROBLEMS = {
  state: ["unauthenticated", "UNAUTHENTICATED", "this sign-in has expired, was used or was begun in another browser: begin again"],
  denied: ["unauthenticated", "UNAUTHENTICATED", "the provider did not let the sign-in go on"],
  answer: ["unauthenticated", "UNAUTHENTICATED", "the provider's answer is not valid: begin again"],
  unverified: ["unauthenticated", "UNAUTHENTICATED", "the provider has not verified the e-mail address"],
  domain: ["unauthenticated", "UNAUTHENTICATED", "addresses of this domain may not sign in here"],
  taken: ["precondition", "PRECONDITION_FAILED", "another account of the provider signs in to this account, or this one to another"],
  suspended: ["forbidden", "ACCOUNT_SUSPENDED", "the account is suspended"],
  away: ["unavailable", "SERVICE_UNAVAILABLE", "the provider can't be reached"],
} as const satisfies Record<string, readonly [ErrorKind, Reason, string]>;

export type OidcProblem = keyof typeof PROBLEMS;

/** Creates an error with the reason in `problem`. */
export const oidcError = (problem: OidcProblem): DomainError => {
  const [kind, reason, message] = PROBLEMS[problem];
  return new DomainError(kind, reason, message, { problem, ...(problem === "away" ? { retryAfter: 1 } : {}) });
};

export const oidcNotConfigured = (): DomainError =>
  new DomainError(
    "precondition",
    "NOT_CONFIGURED",
    "signing in by a provider is not set up: OIDC_ISSUER of the identity service is missing",
  );
