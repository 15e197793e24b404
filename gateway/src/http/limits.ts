/** Limits of the HTTP edge that don't depend on a tier. */
export const RATE_WINDOW_SECONDS = 60;

/** Default requests per minute, address and route without a caller (public schemas, sign-ins, rejected credentials). */
export const ANONYMOUS_REQUESTS_PER_MINUTE = 300;
/** Default registrations per minute and address, including failed ones. */
export const REGISTRATIONS_PER_MINUTE = 20;
/** Files that an address can verify per minute. */
export const VERIFICATIONS_PER_MINUTE = 20;
/** Deadline for receiving and verifying a file. */
export const VERIFY_MS = 60_000;
/** Password links per minute and address, for any accounts. */
export const MAILED_RESETS_PER_MINUTE = 5;
/** How long sending a mail is retried while notifications is unavailable, and how many mails are retried at once per process. */
export const MAIL_ASKED_FOR_MS = 2 * 60_000;
export const MAILS_ASKED_FOR = 1_000;

/**
 * How long a resolved caller is cached. Identity caches for half a second, so a revocation takes effect within one second even if its
 * message is lost.
 */
export const CALLER_FRESH_MS = 450;
/** How long cached callers are used while identity is unavailable. */
export const CALLER_STALE_MS = 10_000;
export const CALLER_CACHE_ENTRIES = 10_000;

/** How long the registry is cached for estimates. */
export const CATALOGUE_FRESH_MS = 5_000;

/** Idle time after which a session ends. */
export const SESSION_IDLE_SECONDS = 12 * 60 * 60;

/** Deleting an account without a password requires a session younger than this. */
export const RECENT_SIGN_IN_MS = 10 * 60 * 1_000;
/** Deadline for downloading an account's archive. */
export const EXPORT_READ_MS = 60 * 60 * 1_000;

/** Maximum wait for a synchronous run. */
export const SYNC_WAIT_MS = 120_000;
/** How long an asynchronous submit waits for its first submission to succeed or fail. */
export const ASYNC_WAIT_MS = 400;
/** Margin of a run call beyond its wait, so that executions can determine whether the run exists. */
export const RUN_CALL_MARGIN_MS = 30_000;
/** How long a run rejected as unavailable is retried beyond its wait. */
export const REFUSED_AGAIN_MS = 12_000;
/** How long an unconfirmed start is looked up, because a 503 guarantees that nothing runs. */
export const UNKNOWN_AGAIN_MS = 45_000;
/** Time without a response after which executions is reported as unavailable. */
export const UNREACHABLE_AFTER_MS = 4_000;
/** Deadline for reading, validating and pricing all items of a batch. */
export const BATCH_CREATE_MS = 100_000;
/** Deadline for sending the results of a batch to a slow client. */
export const BATCH_RESULTS_MS = 10 * 60 * 1_000;

/** How long a stopping process can take to determine the state of a run. */
export const ESTABLISH_MS = 10_000;
/** If a call lasted this long before the connection broke, it had reached the service. */
export const REACHED_AFTER_MS = 150;

export const IDEMPOTENCY_SECONDS = 24 * 60 * 60;
/** Lease of a request on its idempotency key; it is renewed until the request ends. */
export const IDEMPOTENCY_LEASE_MS = 15_000;

/** Interval of comment lines that keep event streams open through proxies. */
export const EVENT_HEARTBEAT_MS = 15_000;
/** How often the caller of an open stream is authenticated again. A revoked caller receives nothing after one second. */
export const EVENT_CALLER_MS = 800;
/** Maximum duration of a stream; clients resume with Last-Event-ID. */
export const EVENT_STREAM_MS = 60 * 60 * 1_000;

/** Open event streams per user and gateway. */
export const EVENT_STREAMS_PER_USER = 100;

/** Deadline of a body after its headers; uploads have MEDIA_UPLOAD_MS. */
export const BODY_MS = 30_000;
/** Memory for bodies being received, per caller or address and in total. */
export const BODY_BYTES_PER_OWNER = 48 * 1024 * 1024;
export const BODY_BYTES_OVERALL = 256 * 1024 * 1024;
/** Bounds of discarding the rest of a body after an early reply: time and size. */
export const DRAIN_MS = 30_000;
export const DRAIN_BYTES = 128 * 1024 * 1024;
/** Smaller bodies are read to the end, so that the connection can be reused. */
export const SMALL_BODY_BYTES = 64 * 1024;

/** Execution ids remembered as belonging to their caller. */
export const OWN_IDS = 50_000;
/** Exhausted buckets remembered until their window ends. */
export const EXHAUSTED_BUCKETS = 10_000;

export const MEDIA_UPLOAD_MS = 10 * 60 * 1_000;

export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 500;

/** Deadline for changing what a user's tier grants, at billing or executions. */
export const PLAN_CALL_MS = 2_000;

/** Deadline for checking at sign-in whether the account has its credits. */
export const COMPLETION_CALL_MS = 2_000;

/** A checkout calls Stripe at most three times, 10 s each. */
export const CHECKOUT_CALL_MS = 40_000;
/** Stripe's events have a few kilobytes. */
export const PAYMENT_EVENT_BYTES = 256 * 1024;
/** Events per minute and address; Stripe sends from about a dozen addresses. */
export const PAYMENT_EVENTS_PER_MINUTE = 1_200;

/** A webhook's receiver has 15 s to answer a test. */
export const WEBHOOK_TEST_MS = 20_000;

/** Deadline for adding up runs one by one. */
export const USAGE_GROUPS_MS = 40_000;

export const CLONE_MS = 150_000;
/** Deadline for reading a bundle and importing it. */
export const BUNDLE_MS = 10 * 60 * 1_000;

/** A schedule is planned once and passed to Temporal before its caller gets the reply. */
export const SCHEDULE_MS = 30_000;
