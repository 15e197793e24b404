import type { Logger } from "@nodeloom/platform";
import type { Authentication } from "./auth/authenticate";
import type { Catalogue } from "./routes/models/catalog";
import type { Services } from "./clients";
import type { Idempotency } from "./http/idempotency";
import type { RateLimits } from "./http/rate";
import type { Sessions } from "./auth/session";
import type { StreamCount } from "./http/stream-count";
import type { TierRollouts } from "./routes/admin/tier-rollout";

/** Everything a route may use. */
export interface Gateway {
  services: Services;
  /** Whether the process has been told to stop, and only serves what still comes. */
  isDraining(): boolean;
  authentication: Authentication;
  sessions: Sessions;
  rateLimits: RateLimits;
  idempotency: Idempotency;
  catalogue: Catalogue;
  eventStreams: StreamCount;
  tierRollouts: TierRollouts;
  /** Requests per minute and address on routes without a caller. */
  anonymousLimit: number;
  /** Aborted when the process stops: long waits end. */
  stopping: AbortSignal;
  logger: Logger;
}
