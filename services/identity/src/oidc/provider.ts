/** The OpenID Connect client. No other code uses the library. */
import { DomainError } from "@nodeloom/kernel";
import { ConfigError, EgressError, guardedFetch, type EgressClient, type Logger } from "@nodeloom/platform";
import type * as OpenIdClient from "openid-client" with { "resolution-mode": "import" };
import { toClaims, type OidcClaims } from "./claims";
import { oidcError } from "./problems";
import type { OidcSettings } from "./settings";

const CALL_SECONDS = 10;
const MS = 1_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Cache time of the provider's metadata. Endpoints rarely change, and the library refreshes keys. */
const DESCRIPTION_MS = 60 * 60 * MS;

export interface SignInSecrets {
  state: string;
  nonce: string;
  verifier: string;
}

export interface Provider {
  /** Returns the redirect URL and the secrets that verify its callback. @throws `away` if the provider is unavailable */
  authorize(redirectUri: string): Promise<{ url: string; secrets: SignInSecrets }>;
  /**
   * Exchanges the callback's code and verifies the ID token: signature, issuer, audience, times and nonce.
   * @param url the callback URL as it was called
   * @throws `denied`, `answer`, `away`
   */
  redeem(url: string, secrets: SignInSecrets): Promise<OidcClaims>;
}

export interface ProviderOptions {
  settings: Pick<OidcSettings, "issuer" | "clientId" | "clientSecret" | "scopes">;
  egress: EgressClient;
  logger: Logger;
  clock?: () => number;
}

/**
 * Loads the library, an ES module. Called only if a provider is configured.
 * @throws ConfigError if Node.js is too old to load it
 */
export const loadLibrary = async (): Promise<typeof OpenIdClient> => {
  try {
    return await import("openid-client");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_REQUIRE_ESM")
      throw new ConfigError("OIDC_ISSUER needs Node.js 20.19, 22.12 or newer");
    throw error;
  }
};

const FIRST_SERVER_ERROR = 500;

const isUnreachable = (error: unknown): boolean => {
  const { cause, status, code } = (error ?? {}) as { cause?: unknown; status?: number; code?: string };
  if (error instanceof EgressError || code === "OAUTH_TIMEOUT" || (status ?? 0) >= FIRST_SERVER_ERROR) return true;
  return cause instanceof Error && isUnreachable(cause);
};

export const createProvider = ({ settings, egress, logger, clock = Date.now }: ProviderOptions): Provider => {
  const { issuer, clientId, clientSecret, scopes } = settings;

  const describe = async (): Promise<OpenIdClient.Configuration> => {
    const { allowInsecureRequests, customFetch, discovery, enableNonRepudiationChecks } = await loadLibrary();
    const execute = [enableNonRepudiationChecks, ...(issuer.startsWith("http:") ? [allowInsecureRequests] : [])];
    return discovery(new URL(issuer), clientId, clientSecret, undefined, {
      [customFetch]: guardedFetch(egress, { timeoutMs: CALL_SECONDS * MS, maxBytes: MAX_ANSWER_BYTES }) as OpenIdClient.CustomFetch,
      timeout: CALL_SECONDS,
      execute,
    });
  };
  let cached: { configuration: Promise<OpenIdClient.Configuration>; untilMs: number } | undefined;
  const configuration = (): Promise<OpenIdClient.Configuration> => {
    if (!cached || cached.untilMs <= clock()) {
      const described = { configuration: describe(), untilMs: clock() + DESCRIPTION_MS };
      cached = described;
      described.configuration.catch(() => {
        if (cached === described) cached = undefined;
      });
    }
    return cached.configuration;
  };

  /** Maps the library's errors and logs them. The log contains no tokens or codes. */
  const explained = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof DomainError) throw error;
      const { message, code, error: answered } = error as Error & { code?: string; error?: string };
      if (isUnreachable(error)) {
        logger.warn({ issuer, reason: message, code }, "the OpenID provider can't be reached");
        throw oidcError("away");
      }
      logger.warn({ issuer, reason: message, code, answered }, "a sign-in by the OpenID provider was refused");
      const { AuthorizationResponseError } = await loadLibrary();
      throw oidcError(error instanceof AuthorizationResponseError ? "denied" : "answer");
    }
  };

  /** Adds claims from the userinfo endpoint, because some providers return the address only there. */
  const withUserInfo = async (
    config: OpenIdClient.Configuration,
    accessToken: string,
    claims: OpenIdClient.IDToken,
  ): Promise<OidcClaims> => {
    if (claims.email !== undefined || config.serverMetadata().userinfo_endpoint === undefined) return toClaims(claims.iss, claims);
    const { fetchUserInfo } = await loadLibrary();
    const more = await fetchUserInfo(config, accessToken, claims.sub);
    return toClaims(claims.iss, { ...more, ...claims, sub: claims.sub });
  };

  return {
    authorize: (redirectUri) =>
      explained(async () => {
        const library = await loadLibrary();
        const config = await configuration();
        const secrets: SignInSecrets = {
          state: library.randomState(),
          nonce: library.randomNonce(),
          verifier: library.randomPKCECodeVerifier(),
        };
        const url = library.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: scopes.join(" "),
          state: secrets.state,
          nonce: secrets.nonce,
          code_challenge: await library.calculatePKCECodeChallenge(secrets.verifier),
          code_challenge_method: "S256",
        });
        return { url: url.href, secrets };
      }),

    redeem: (url, { state, nonce, verifier }) =>
      explained(async () => {
        const library = await loadLibrary();
        const config = await configuration();
        const tokens = await library.authorizationCodeGrant(config, new URL(url), {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (!claims) throw oidcError("answer");
        return withUserInfo(config, tokens.access_token, claims);
      }),
  };
};
