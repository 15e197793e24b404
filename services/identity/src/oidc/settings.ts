/** Settings of the OpenID Connect provider. */
import { ConfigError, list } from "@nodeloom/platform";
import { z } from "zod";

const MAX_NAME_CHARS = 40;
const DEFAULT_SCOPES = ["openid", "email", "profile"];

/** Matches a claim's value, or one member of a claim that is a list. */
export interface ClaimRule {
  claim: string;
  value: string;
}
export interface TierRule extends ClaimRule {
  tier: string;
}

/** `claim=value`; claim names can be URLs. */
const CLAIM_RULE = /^([^=]+)=(.+)$/;
/** `claim=value:tier` */
const TIER_RULE = /^([^=]+)=(.+):([a-z0-9-]+)$/;

const claimRule = z.string().transform((text, context): ClaimRule => {
  const [, claim = "", value = ""] = CLAIM_RULE.exec(text) ?? [];
  if (claim === "") context.addIssue({ code: "custom", message: "must be claim=value" });
  return { claim, value };
});
const tierRule = z.string().transform((text, context): TierRule => {
  const [, claim = "", value = "", tier = ""] = TIER_RULE.exec(text) ?? [];
  if (claim === "") context.addIssue({ code: "custom", message: "must be claim=value:tier" });
  return { claim, value, tier };
});

export const oidcVariables = {
  OIDC_ISSUER: z
    .url({ protocol: /^https?$/, error: "must be the issuer's https URL, as its tokens name it" })
    .or(z.literal(""))
    .optional()
    .describe("OpenID Connect provider for sign-in. Without it, people sign in with passwords only"),
  OIDC_CLIENT_ID: z.string().optional().describe("client id of this installation at that provider"),
  OIDC_CLIENT_SECRET: z.string().optional().describe("secret of that client"),
  OIDC_NAME: z.string().max(MAX_NAME_CHARS).optional().describe("name of the provider on the sign-in page. Default: the issuer's host"),
  OIDC_SCOPES: list().describe("requested scopes, comma separated. Default: openid, email and profile"),
  OIDC_ALLOWED_DOMAINS: list().describe("domains whose addresses can sign in with the provider, comma separated. Default: all"),
  OIDC_APPROVES: z
    .stringbool()
    .default(false)
    .describe("true: approve new accounts from this sign-in. Otherwise an administrator approves them"),
  OIDC_ADMINS: list()
    .pipe(z.array(claimRule))
    .describe("claim=value, comma separated: people with such a claim are administrators. Default: none"),
  OIDC_TIERS: list()
    .pipe(z.array(tierRule))
    .describe("claim=value:tier, comma separated: the first match sets a person's tier at each sign-in"),
} as const;

type OidcConfig = z.infer<z.ZodObject<typeof oidcVariables>>;

export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  name: string;
  scopes: readonly string[];
  /** Allowed domains in lower case; empty allows every domain. */
  allowedDomains: readonly string[];
  approves: boolean;
  admins: readonly ClaimRule[];
  tiers: readonly TierRule[];
}

/**
 * Reads the settings. Returns undefined without an issuer.
 * @throws ConfigError for incomplete settings, and in production for an issuer without TLS
 */
export const oidcSettings = (config: OidcConfig & { NODE_ENV: string }): OidcSettings | undefined => {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = config;
  if (!issuer && !clientId && !clientSecret) return undefined;
  if (!issuer || !clientId || !clientSecret)
    throw new ConfigError("set all of OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET, or none");
  if (config.NODE_ENV === "production" && !issuer.startsWith("https:")) throw new ConfigError("OIDC_ISSUER must be https in production");
  return {
    issuer,
    clientId,
    clientSecret,
    name: config.OIDC_NAME ?? new URL(issuer).host,
    scopes: config.OIDC_SCOPES.length > 0 ? config.OIDC_SCOPES : DEFAULT_SCOPES,
    allowedDomains: config.OIDC_ALLOWED_DOMAINS.map((domain) => domain.toLowerCase()),
    approves: config.OIDC_APPROVES,
    admins: config.OIDC_ADMINS,
    tiers: config.OIDC_TIERS,
  };
};
