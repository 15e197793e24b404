/** Numbers of the HTTP edge that are no part of a plan. */
export const RATE_WINDOW_SECONDS = 60;

/** Requests per address and route without a caller (public schemas, sign-ins, refused credentials), unless configured. */
export const ANONYMOUS_REQUESTS_PER_MINUTE = 300;
/** Accounts that an address may register in a minute, refused attempts included, unless configured. */
export const REGISTRATIONS_PER_MINUTE = 20;
/** Links for new passwords that an address may ask for in a minute, for whatever accounts. */
export const MAILED_RESETS_PER_MINUTE = 5;
/** How long a mail that a request has caused is asked for while executions is away, and of how many at once in one process. */
export const MAIL_ASKED_FOR_MS = 2 * 60_000;
export const MAILS_ASKED_FOR = 1_000;

/**
 * How long a resolved key or session user is used without asking identity again. Identity keeps its own answers for half
 * a second, so a revocation is known here within one second even when no message about it arrives.
 */
export const CALLER_FRESH_MS = 450;
/** How long one may still be used while identity cannot be reached. */
export const CALLER_STALE_MS = 10_000;
export const CALLER_CACHE_ENTRIES = 10_000;

/** How long the registry of models is used without asking again, for estimates. */
export const CATALOGUE_FRESH_MS = 5_000;

/** A session ends when it was not used for this long. */
export const SESSION_IDLE_SECONDS = 12 * 60 * 60;

/** Where an account without a password is deleted, its session began within this time. */
export const RECENT_SIGN_IN_MS = 10 * 60 * 1_000;
/** How long a client may take to fetch the archive of an account. */
export const EXPORT_READ_MS = 60 * 60 * 1_000;

/** A synchronous run is waited for this long, then polled. */
export const SYNC_WAIT_MS = 120_000;
/** An asynchronous submit waits this long for the first submission to be made or refused. */
export const ASYNC_WAIT_MS = 400;
/** What a run call may take on top of its wait; enough for executions to say for certain whether there is a run, also where everything is slow. */
export const RUN_CALL_MARGIN_MS = 30_000;
/** A run that is refused as unavailable is asked for again for this long on top of its wait. */
export const REFUSED_AGAIN_MS = 12_000;
/** A run whose start could not be confirmed is asked for again for this long, because a 503 promises that nothing runs. */
export const UNKNOWN_AGAIN_MS = 45_000;
/** Executions that has not answered at all for this long is reported as away. */
export const UNREACHABLE_AFTER_MS = 4_000;
/** Reading, validating and pricing all items of a batch. */
export const BATCH_CREATE_MS = 100_000;
/** Writing the results of a batch to a client that reads slowly. */
export const BATCH_RESULTS_MS = 10 * 60 * 1_000;

/** What a process that stops may take to establish what became of a run. */
export const ESTABLISH_MS = 10_000;
/** A run call that lasted this long before the connection broke had reached the service. */
export const REACHED_AFTER_MS = 150;

export const IDEMPOTENCY_SECONDS = 24 * 60 * 60;
/** A request that holds an idempotency key renews its lease; one that died loses it after this long. */
export const IDEMPOTENCY_LEASE_MS = 15_000;

/** Comment lines that keep an event stream open through proxies. */
export const EVENT_HEARTBEAT_MS = 15_000;
/** How often the caller of an open stream is authenticated again, so that a revoked one hears nothing after a second. */
export const EVENT_CALLER_MS = 800;
/** A stream is ended after this long; clients resume with Last-Event-ID. */
export const EVENT_STREAM_MS = 60 * 60 * 1_000;

/** Event streams a user may keep open at one gateway. */
export const EVENT_STREAMS_PER_USER = 100;

/** A body must have arrived this long after its headers; uploads have MEDIA_UPLOAD_MS. */
export const BODY_MS = 30_000;
/** Bodies on their way that one caller, or one address, may have in memory, and all of them together. */
export const BODY_BYTES_PER_OWNER = 48 * 1024 * 1024;
export const BODY_BYTES_OVERALL = 256 * 1024 * 1024;
/** How long, and how much of, a body is read and dropped after a reply that was sent before it ended. */
export const DRAIN_MS = 30_000;
export const DRAIN_BYTES = 128 * 1024 * 1024;
/** A body up to this size is waited for, so that the connection can be used again. */
export const SMALL_BODY_BYTES = 64 * 1024;

/** Execution ids remembered as belonging to the caller who asked. */
export const OWN_IDS = 50_000;
/** Exhausted buckets remembered until their window ends. */
export const EXHAUSTED_BUCKETS = 10_000;

export const MEDIA_UPLOAD_MS = 10 * 60 * 1_000;

export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 500;

/** How often tiers are looked for whose change has not reached all of their users' accounts. */
export const ROLLOUT_INTERVAL_MS = 30_000;
/** Users of a tier at once; a page takes less time than identity lets a claim last. */
export const ROLLOUT_PAGE_USERS = 50;
export const ROLLOUT_PARALLEL = 10;
export const ROLLOUT_CALL_MS = 2_000;

/** How often users are looked for who were suspended or lost approval, so that their runs are cancelled. */
export const RUN_STOP_INTERVAL_MS = 5_000;
/** Runs of one user that are listed, and cancelled, at once. */
export const RUN_STOP_PAGE = 100;
export const RUN_STOP_PARALLEL = 10;

/** How long a sign-in asks whether its account has its credits. */
export const COMPLETION_CALL_MS = 2_000;

/** A checkout is made by Stripe, which is called three times at most, 10 s each. */
export const CHECKOUT_CALL_MS = 40_000;
/** Of Stripe's events; theirs are a few kilobytes. */
export const PAYMENT_EVENT_BYTES = 256 * 1024;
/** Events per minute and address; Stripe sends from about a dozen. */
export const PAYMENT_EVENTS_PER_MINUTE = 1_200;

/** A webhook's receiver has 15 s to answer a test. */
export const WEBHOOK_TEST_MS = 20_000;

/** Adding up runs one by one. */
export const USAGE_GROUPS_MS = 40_000;

export const CLONE_MS = 150_000;

/** A schedule is planned once, and given to Temporal, before its caller hears of it. */
export const SCHEDULE_MS = 30_000;
