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

const fits =
  ({ all }: OidcClaims) =>
  ({ claim, value }: ClaimRule): boolean => {
    const given = all[claim];
    return (Array.isArray(given) ? given : [given]).some((one) => one !== undefined && one !== null && String(one) === value);
  };

export const isAdminByClaim = (claims: OidcClaims, { admins }: Pick<OidcSettings, "admins">): boolean => admins.some(fits(claims));

/** The tier of the first rule that fits. */
export const tierByClaim = (claims: OidcClaims, { tiers }: Pick<OidcSettings, "tiers">): string | undefined =>
  tiers.find((rule: TierRule) => fits(claims)(rule))?.tier;

/** Whether somebody of this address may sign in. */
export const isAllowedDomain = ({ email }: OidcClaims, { allowedDomains }: Pick<OidcSettings, "allowedDomains">): boolean =>
  allowedDomains.length === 0 || (email !== undefined && allowedDomains.includes(email.slice(email.lastIndexOf("@") + 1)));
