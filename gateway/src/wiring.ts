import { identityChangedChannel, type Logger, type ProcessConfig, type Redis } from "@nodeloom/platform";
import { adminOrigin } from "./admin-listener/listen";
import { TEMPORAL_UI_PATH } from "./http/temporal-ui-path";
import { createAuthentication, type Authentication } from "./auth/authenticate";
import { createApps } from "./apps/apps";
import { createAppTokens } from "./apps/tokens";
import { createVisits } from "./apps/visits";
import { createPreviews } from "./clients/previews";
import { createCatalog } from "./clients/catalog";
import type { Connections } from "./clients/services";
import type { Gateway } from "./edge/gateway";
import { createIdempotency } from "./edge/idempotency";
import { createAddressDoor } from "./edge/media-urls";
import { createKeyRequests } from "./edge/key-requests";
import { createLeases } from "./edge/lease";
import { createBodyBudget } from "./http/body/body-budget";
import { createOwnIds } from "./edge/rate/own-ids";
import { BODY_BYTES_OVERALL, BODY_BYTES_PER_OWNER, EVENT_STREAMS_PER_USER, OWN_IDS } from "./http/limits";
import { createRefusals } from "./edge/rate/refusals";
import { createRateLimits } from "./edge/rate/rate";
import { createOidcCookie } from "./auth/oidc-cookie";
import { createSessions } from "./auth/session";
import { createStreamCount } from "./edge/rate/stream-count";
import { createCancellations } from "./edge/cancellations";
import { createMcpSessions } from "./auth/mcp-sessions";
import { createUploadTokens } from "./auth/upload-tokens";
import { mcpFixtures, type GatewayConfig } from "./variables";

export interface GatewayParts {
  config: GatewayConfig & Pick<ProcessConfig, "NODE_ENV">;
  logger: Logger;
  redis: Redis;
  subscriber: Redis;
  connections: Connections;
  /** Aborts when the stop signal arrives. */
  draining: AbortSignal;
  /** Aborts when the process stops. */
  stopping: AbortSignal;
}

/** Authentication of one listener; only its own origin can write with a session. */
const authenticationOf = ({ config, redis, subscriber, connections }: GatewayParts, baseUrl: string) => {
  const sessions = createSessions({
    redis,
    keyPrefix: config.REDIS_KEY_PREFIX,
    secret: config.SESSION_SECRET,
    secure: config.NODE_ENV === "production",
    publicOrigin: new URL(baseUrl).origin,
  });
  const { identity, organizations } = connections.services;
  const changes = { subscriber, channel: identityChangedChannel(config.REDIS_KEY_PREFIX) };
  return { sessions, authentication: createAuthentication({ identity, organizations, sessions }, changes) };
};

/** Shares the sessions with the listener for administrators. */
export const adminAuthentication = (parts: GatewayParts): Authentication =>
  authenticationOf(parts, adminOrigin(parts.config) ?? parts.config.PUBLIC_BASE_URL).authentication;

export const createGateway = (parts: GatewayParts): Gateway => {
  const { config, logger, redis, connections, draining, stopping } = parts;
  const { services } = connections;
  const keyPrefix = config.REDIS_KEY_PREFIX;
  const origin = adminOrigin(config);
  return {
    services,
    isDraining: () => draining.aborted,
    ...authenticationOf(parts, config.PUBLIC_BASE_URL),
    oidcCookie: createOidcCookie(config.NODE_ENV === "production"),
    rateLimits: createRateLimits({ redis, keyPrefix }),
    refusals: createRefusals(),
    keyRequests: createKeyRequests({ identity: services.identity, logger }),
    uploadTokens: createUploadTokens(config.SESSION_SECRET),
    ownIds: createOwnIds(OWN_IDS),
    bodies: createBodyBudget({ perOwner: BODY_BYTES_PER_OWNER, overall: BODY_BYTES_OVERALL }),
    bodyTimeoutMs: config.BODY_TIMEOUT_MS,
    idempotency: createIdempotency({ redis, keyPrefix, logger }),
    leases: createLeases({ redis, keyPrefix, logger }),
    mcp: {
      sessions: createMcpSessions(config.SESSION_SECRET),
      cancellations: createCancellations({ redis, keyPrefix, logger }),
      hasFixtures: mcpFixtures(config),
    },
    apps: createApps({
      services,
      tokens: createAppTokens(config.SESSION_SECRET),
      publicOrigin: new URL(config.PUBLIC_BASE_URL).origin,
    }),
    visits: createVisits({ redis, keyPrefix }),
    catalog: createCatalog(services.models),
    eventStreams: createStreamCount(EVENT_STREAMS_PER_USER),
    publicBaseUrl: config.PUBLIC_BASE_URL.replace(/(?<!\/)\/+$/, ""),
    previews: createPreviews(config.MEDIA_HTTP_URL),
    mediaUrls: createAddressDoor({
      media: services.media,
      publicBaseUrl: config.PUBLIC_BASE_URL,
      formerBaseUrls: config.FORMER_PUBLIC_BASE_URLS,
      logger,
    }),
    temporalUi: origin === undefined ? undefined : { url: `${origin}${TEMPORAL_UI_PATH}`, namespace: config.TEMPORAL_NAMESPACE },
    anonymousLimit: config.ANONYMOUS_RATE_LIMIT,
    registrationLimit: config.REGISTRATION_RATE_LIMIT,
    stopping,
    logger,
  };
};
