/** Limits of apps. A visitor's token runs one app and reads the visitor's own executions. */

/** Lifetime of a token. */
export const TOKEN_MS = 10 * 60 * 1_000;
/** How long an expired token can be exchanged for a new token of the same visitor. */
export const VISITOR_MS = 30 * 24 * 60 * 60 * 1_000;
/** How long an app, its owner and its key are cached: a revocation takes effect within a second. */
export const APP_FRESH_MS = 450;
/** How long cached entries are used while their service is unavailable. */
export const APP_STALE_MS = 5_000;
export const APP_CACHE_ENTRIES = 1_000;

/** Requests per minute of one visitor, by route and execution. */
export const VISITOR_REQUESTS_PER_MINUTE = 60;
/** Tokens per minute and address. */
export const TOKENS_PER_MINUTE = 30;
/** New visitors of an app per day (UTC) and address. */
export const VISITORS_PER_ADDRESS = 100;
/** How long browsers cache a preflight response. */
export const PREFLIGHT_SECONDS = 600;
