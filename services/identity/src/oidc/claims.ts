import { normaliseEmail } from "../users/emails";
import type { ClaimRule, OidcSettings, TierRule } from "./settings";

/** What a provider says of somebody. */
export interface OidcClaims {
  issuer: string;
  subject: string;
  /** As accounts are named; undefined where the provider has none. */
  email: string | undefined;
  emailVerified: boolean;
  all: Readonly<Record<string, unknown>>;
}

/** Reads what matters from claims that were verified. Only a true `email_verified` counts as one. */
export const toClaims = (issuer: string, all: Readonly<Record<string, unknown>> & { sub: string }): OidcClaims => {
  const email = typeof all.email === "string" ? normaliseEmail(all.email) : undefined;
  return { issuer, subject: all.sub, email, emailVerified: email !== undefined && all.email_verified === true, all };
};

/** Anyone can write any address where the provider doesn't verify it: a rule about `email` needs `email_verified`. */
const fits =
  ({ all, emailVerified }: OidcClaims) =>
  ({ claim, value }: ClaimRule): boolean => {
    if (claim === "email" && !emailVerified) return false;
    const given = all[claim];
    return (Array.isArray(given) ? given : [given]).some((one) => one !== undefined && one !== null && String(one) === value);
  };

export const isAdminByClaim = (claims: OidcClaims, { admins }: Pick<OidcSettings, "admins">): boolean => admins.some(fits(claims));

/** The tier of the first rule that fits. */
export const tierByClaim = (claims: OidcClaims, { tiers }: Pick<OidcSettings, "tiers">): string | undefined =>
  tiers.find((rule: TierRule) => fits(claims)(rule))?.tier;

/** Whether a person can sign in by the domain of their verified address. */
export const isAllowedDomain = ({ email, emailVerified }: OidcClaims, { allowedDomains }: Pick<OidcSettings, "allowedDomains">): boolean =>
  allowedDomains.length === 0 || (email !== undefined && emailVerified && allowedDomains.includes(email.slice(email.lastIndexOf("@") + 1)));
