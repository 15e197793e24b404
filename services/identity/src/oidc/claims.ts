import { normaliseEmail } from "../users/emails";
import type { ClaimRule, OidcSettings, TierRule } from "./settings";

export interface OidcClaims {
  issuer: string;
  subject: string;
  /** Normalized like accounts' addresses; undefined if the provider sends none. */
  email: string | undefined;
  emailVerified: boolean;
  all: Readonly<Record<string, unknown>>;
}

/** Selects the relevant verified claims. `email_verified` must be exactly true. */
export const toClaims = (issuer: string, all: Readonly<Record<string, unknown>> & { sub: string }): OidcClaims => {
  const email = typeof all.email === "string" ? normaliseEmail(all.email) : undefined;
  return { issuer, subject: all.sub, email, emailVerified: email !== undefined && all.email_verified === true, all };
};

/** Rules about `email` need `email_verified`, because without verification users can set any address. */
const fits =
  ({ all, emailVerified }: OidcClaims) =>
  ({ claim, value }: ClaimRule): boolean => {
    if (claim === "email" && !emailVerified) return false;
    const claimValue = all[claim];
    return (Array.isArray(claimValue) ? claimValue : [claimValue]).some(
      (one) => one !== undefined && one !== null && String(one) === value,
    );
  };

export const isAdminByClaim = (claims: OidcClaims, { admins }: Pick<OidcSettings, "admins">): boolean => admins.some(fits(claims));

/** Returns the tier of the first matching rule. */
export const tierByClaim = (claims: OidcClaims, { tiers }: Pick<OidcSettings, "tiers">): string | undefined =>
  tiers.find((rule: TierRule) => fits(claims)(rule))?.tier;

/** True if the person's verified address is in an allowed domain. */
export const isAllowedDomain = ({ email, emailVerified }: OidcClaims, { allowedDomains }: Pick<OidcSettings, "allowedDomains">): boolean =>
  allowedDomains.length === 0 || (email !== undefined && emailVerified && allowedDomains.includes(email.slice(email.lastIndexOf("@") + 1)));
