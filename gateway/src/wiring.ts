import { identityChangedChannel, type Logger, type ProcessConfig, type Redis } from "@nodeloom/platform";
import { adminOrigin } from "./admin-listener/listen";
import { TEMPORAL_UI_PATH } from "./admin-listener/path";
import { createAuthentication, type Authentication } from "./auth/authenticate";
import { createCatalog } from "./routes/models/catalog";
import type { Connections } from "./clients";
import type { Gateway } from "./gateway";
import { createIdempotency } from "./http/idempotency";
import { createLeases } from "./http/lease";
import { createBodyBudget } from "./http/body/body-budget";
import { createOwnIds } from "./http/rate/own-ids";
import { BODY_BYTES_OVERALL, BODY_BYTES_PER_OWNER, EVENT_STREAMS_PER_USER, OWN_IDS } from "./http/limits";
import { createRateLimits } from "./http/rate/rate";
import { createSessions, type Sessions } from "./auth/session";
import { createStreamCount } from "./http/rate/stream-count";
import { startRunStops } from "./routes/admin/run-stops";
import { startTierRollouts } from "./routes/admin/tier-rollout";
import type { GatewayConfig } from "./variables";

export interface GatewayParts {
  config: GatewayConfig & Pick<ProcessConfig, "NODE_ENV">;
  logger: Logger;
  redis: Redis;
  /** A connection that only subscribes. */
  subscriber: Redis;
  connections: Connections;
  /** Aborted when the process is told to stop… */
  draining: AbortSignal;
  /** …and when it does. */
  stopping: AbortSignal;
}

/** Sessions as one of the listeners takes them: only its own origin may write. */
const sessionsOf = ({ config, redis }: Pick<GatewayParts, "config" | "redis">, baseUrl: string): Sessions =>
  createSessions({
    redis,
    keyPrefix: config.REDIS_KEY_PREFIX,
    secret: config.SESSION_SECRET,
    secure: config.NODE_ENV === "production",
    publicOrigin: new URL(baseUrl).origin,
  });

/** The same sessions on the listener for administrators. */
export const adminAuthentication = ({ config, redis, subscriber, connections }: GatewayParts): { authentication: Authentication } => ({
  authentication: createAuthentication(
    { identity: connections.services.identity, sessions: sessionsOf({ config, redis }, adminOrigin(config) ?? config.PUBLIC_BASE_URL) },
    { subscriber, channel: identityChangedChannel(config.REDIS_KEY_PREFIX) },
  ),
});

/** Puts together what the routes use. */
export const createGateway = ({ config, logger, redis, subscriber, connections, draining, stopping }: GatewayParts): Gateway => {
  const { services } = connections;
  const keyPrefix = config.REDIS_KEY_PREFIX;
  const sessions = sessionsOf({ config, redis }, config.PUBLIC_BASE_URL);
  const origin = adminOrigin(config);
  return {
    services,
    isDraining: () => draining.aborted,
    sessions,
    authentication: createAuthentication(
      { identity: services.identity, sessions },
      { subscriber, channel: identityChangedChannel(keyPrefix) },
    ),
    rateLimits: createRateLimits({ redis, keyPrefix }),
    ownIds: createOwnIds(OWN_IDS),
    bodies: createBodyBudget({ perOwner: BODY_BYTES_PER_OWNER, overall: BODY_BYTES_OVERALL }),
    bodyTimeoutMs: config.BODY_TIMEOUT_MS,
    idempotency: createIdempotency({ redis, keyPrefix, logger }),
    leases: createLeases({ redis, keyPrefix, logger }),
    catalog: createCatalog(services.models),
    eventStreams: createStreamCount(EVENT_STREAMS_PER_USER),
    tierRollouts: startTierRollouts({ services, logger }),
    runStops: startRunStops({ services, logger }),
    publicBaseUrl: config.PUBLIC_BASE_URL.replace(/\/+$/, ""),
    temporalUi: origin === undefined ? undefined : { url: `${origin}${TEMPORAL_UI_PATH}`, namespace: config.TEMPORAL_NAMESPACE },
    anonymousLimit: config.ANONYMOUS_RATE_LIMIT,
    registrationLimit: config.REGISTRATION_RATE_LIMIT,
    stopping,
    logger,
  };
};
