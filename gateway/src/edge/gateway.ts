import type { Logger, Sweeper } from "@nodeloom/platform";
import type { BodyBudget } from "../http/body/body-budget";
import type { OwnIds } from "./rate/own-ids";
import type { Apps } from "../apps/apps";
import type { Visits } from "../apps/visits";
import type { Authentication } from "../auth/authenticate";
import type { Previews } from "../clients/previews";
import type { Catalog } from "../clients/catalog";
import type { Services } from "../clients/services";
import type { Idempotency } from "./idempotency";
import type { Cancellations } from "./cancellations";
import type { McpSessions } from "../auth/mcp-sessions";
import type { Leases } from "./lease";
import type { RateLimits } from "./rate/rate";
import type { OidcCookie } from "../auth/oidc-cookie";
import type { Sessions } from "../auth/session";
import type { StreamCount } from "./rate/stream-count";

/** Everything a route may use. */
export interface Gateway {
  services: Services;
  /** True from the signal to stop until the process takes no more requests. */
  isDraining(): boolean;
  authentication: Authentication;
  sessions: Sessions;
  oidcCookie: OidcCookie;
  rateLimits: RateLimits;
  ownIds: OwnIds;
  bodies: BodyBudget;
  bodyTimeoutMs: number;
  idempotency: Idempotency;
  leases: Leases;
  mcp: { sessions: McpSessions; cancellations: Cancellations };
  apps: Apps;
  visits: Visits;
  catalog: Catalog;
  eventStreams: StreamCount;
  /** Carries changes of custom tiers to their users' accounts. */
  tierRollouts: Sweeper;
  /** Cancels the runs of users who were suspended or lost approval. */
  runStops: Sweeper;
  /** The gateway as clients see it, without a slash at its end. */
  publicBaseUrl: string;
  previews: Previews;
  /** Temporal's UI for administrators, as browsers see it, and what it calls the namespace of runs; undefined where it is not served. */
  temporalUi: { url: string; namespace: string } | undefined;
  /** Requests per minute and address on routes without a caller. */
  anonymousLimit: number;
  registrationLimit: number;
  /** Aborted when the process stops: long waits end. */
  stopping: AbortSignal;
  logger: Logger;
}
