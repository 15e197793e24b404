import type { Logger } from "@nodeloom/platform";
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
import type { UploadTokens } from "../auth/upload-tokens";
import type { AddressDoor } from "./media-urls";
import type { KeyRequests } from "./key-requests";
import type { Leases } from "./lease";
import type { RateLimits } from "./rate/rate";
import type { Refusals } from "./rate/refusals";
import type { OidcCookie } from "../auth/oidc-cookie";
import type { Sessions } from "../auth/session";
import type { StreamCount } from "./rate/stream-count";

export interface Gateway {
  services: Services;
  /** True from the stop signal until the process accepts no more requests. */
  isDraining(): boolean;
  authentication: Authentication;
  sessions: Sessions;
  oidcCookie: OidcCookie;
  rateLimits: RateLimits;
  refusals: Refusals;
  keyRequests: KeyRequests;
  uploadTokens: UploadTokens;
  ownIds: OwnIds;
  bodies: BodyBudget;
  bodyTimeoutMs: number;
  idempotency: Idempotency;
  leases: Leases;
  mcp: {
    sessions: McpSessions;
    cancellations: Cancellations;
    /** True if tests of the protocol get their fixtures. */
    hasFixtures: boolean;
  };
  apps: Apps;
  visits: Visits;
  catalog: Catalog;
  eventStreams: StreamCount;
  /** Public address of the gateway, without a trailing slash. */
  publicBaseUrl: string;
  previews: Previews;
  mediaUrls: AddressDoor;
  /** Temporal's public address and the namespace of runs; undefined if Temporal's UI isn't served. */
  temporalUi: { url: string; namespace: string } | undefined;
  /** Requests per minute and address on routes without a caller. */
  anonymousLimit: number;
  registrationLimit: number;
  /** Aborts when the process stops, which ends long waits. */
  stopping: AbortSignal;
  logger: Logger;
}
