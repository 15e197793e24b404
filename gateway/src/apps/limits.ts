/** routes/apps/: workflows' pages for others. A visitor has a token, which runs one app and reads the visitor's own executions. */

/** How long a token can be used. */
export const TOKEN_MS = 10 * 60 * 1_000;
/** How long after its end a token may still be exchanged for another one of the same visitor. */
export const VISITOR_MS = 30 * 24 * 60 * 60 * 1_000;
/** How long an app, its owner and its key are used without asking again: what is switched off is off within a second. */
export const APP_FRESH_MS = 450;
/** How long they may still be used while the service that has them can't be reached. */
export const APP_STALE_MS = 5_000;
export const APP_CACHE_ENTRIES = 1_000;

/** Requests of one visitor per minute and route, and execution where the route has one. */
export const VISITOR_REQUESTS_PER_MINUTE = 60;
/** Tokens that an address may get in a minute. */
export const TOKENS_PER_MINUTE = 30;
/** New visitors of one app that an address may be in a day (UTC). */
export const VISITORS_PER_ADDRESS = 100;
/** How long a browser need not ask again whether it may send a request from another origin. */
export const PREFLIGHT_SECONDS = 600;
