import type { Reason } from "@nodeloom/kernel";

export interface ErrorEntry {
  status: number;
  /** When clients get it. */
  when: string;
  /** Members of the body beside `error` and `code`, and what they say. Not every error of the code has all of them. */
  members?: Readonly<Record<string, string>>;
}

const ISSUES = { issues: "every problem: `path` of the field, and `message`" } as const;
const RETRY_AFTER = { retryAfter: "seconds to wait, as in `Retry-After`" } as const;
const CREDITS = { requiredCredits: "what the run may cost", availableCredits: "what the account has" } as const;
const FAILED_RUN = { executionId: "the run", nodeId: "the node that failed" } as const;
const PROVIDER = { providerStatus: "the provider's HTTP status", providerBody: "what it answered, cut and without secrets" } as const;

/**
 * Every code that exists: the one place where machine-readable codes meet HTTP statuses, and what the documentation says
 * of them. docs/guide/errors.md is written from it.
 */
export const ERRORS: Readonly<Record<Reason, ErrorEntry>> = {
  INVALID_REQUEST: { status: 400, when: "the request is no JSON, or a field, parameter or header is wrong", members: ISSUES },
  INVALID_INPUTS: {
    status: 400,
    when: "`inputs` is missing or no object, or a value in it does not fit",
    members: {
      issues: `every problem: \`path\` of the field, and \`message\`; of a batch also \`index\` of the item`,
      problems: "of a batch: how many there are",
    },
  },
  INVALID_SLUG: { status: 400, when: "a model's `internalName` is no slug" },
  ASYNC_NOT_SUPPORTED: {
    status: 400,
    when: "`?async=true`, and a model of the run can't be polled",
    members: { model: "the first such model" },
  },
  UNAUTHENTICATED: { status: 401, when: "the key is missing, malformed, unknown, expired or revoked, or the sign-in is wrong" },
  LEGACY_KEY_RETIRED: { status: 401, when: "the key was made before May 2026: make another" },
  SIGNATURE_INVALID: { status: 401, when: "what was sent to a hook is not signed, or not with the secret that the hook has" },
  INSUFFICIENT_CREDITS: { status: 402, when: "the credits do not suffice", members: CREDITS },
  grant_exhausted: {
    status: 402,
    when: "the trial runs of a model are used up, and the credits do not suffice",
    members: { ...CREDITS, model: "that model" },
  },
  BUDGET_EXCEEDED: {
    status: 402,
    when: "a budget of the run's key, of its workflow or of a value of its metadata has less left than the run may cost",
    members: {
      scope: "`key`, `workflow` or `metadata.<name>`",
      limit: "credits of the budget",
      remaining: "what is left of them",
      resetsAt: "when the window ends; null for `total`",
      requiredCredits: CREDITS.requiredCredits,
      executionId: "of a run that was under way: the run",
      nodeId: "and the node that failed",
    },
  },
  CAPABILITY_DENIED: {
    status: 403,
    when: "the capabilities of the key or session, or the role in the organization, do not cover the request",
    members: {
      required: "the capability that would have passed",
      requiredTier: "the lowest tier that has it, where the caller's has not",
      requiredRole: "the role that reaches it, where the caller's does not",
    },
  },
  CAPABILITY_ABOVE_CEILING: {
    status: 403,
    when: "a key is asked for with more than the tier allows",
    members: { capabilities: "those that are above" },
  },
  API_KEY_ACCESS_DENIED: {
    status: 403,
    when: "the account's tier has no API keys; its keys stop working",
    members: { tier: "the account's tier" },
  },
  SESSION_REQUIRED: { status: 403, when: "a key calls what only a signed-in person may" },
  CROSS_ORIGIN_DENIED: {
    status: 403,
    when: "a request with a session cookie comes from another site, or one with a visitor's token from an origin that is not the app's",
  },
  ACCOUNT_NOT_APPROVED: {
    status: 403,
    when: "the account awaits approval: it can't run, quote, upload, publish templates or make keys yet",
  },
  ACCOUNT_SUSPENDED: { status: 403, when: "an administrator has suspended the account: its sessions have ended, its keys don't work" },
  ACCOUNT_LEAVING: {
    status: 403,
    when: "the account, or the organization, is to be deleted: it can't run, quote, upload or make keys, unless that is taken back",
  },
  WORKFLOW_CAP_REACHED: {
    status: 403,
    when: "the tier allows no more saved workflows",
    members: { maxWorkflows: "how many it allows" },
  },
  TEMPLATE_CAP_REACHED: {
    status: 403,
    when: "the account has as many templates as it may have",
    members: { limit: "how many it may have" },
  },
  MEDIA_QUOTA_EXCEEDED: {
    status: 403,
    when: "the account's files would take more than its tier stores",
    members: { limit: "bytes the tier stores", used: "bytes that are taken" },
  },
  MODEL_TIER_REQUIRED: {
    status: 403,
    when: "a model needs a higher tier",
    members: { model: "the model", requiredTier: "the lowest tier that may run it", tier: "the caller's tier" },
  },
  WORKFLOW_NOT_FOUND: { status: 404, when: "there is no such workflow, or it is not the caller's, or its schema is not public" },
  VERSION_NOT_FOUND: { status: 404, when: "the workflow has no such published version, or it is not the caller's to see" },
  EXECUTION_NOT_FOUND: { status: 404, when: "there is no such execution, or it is not the caller's" },
  MODEL_NOT_FOUND: { status: 404, when: "there is no enabled model of that name, or it is not installed on this machine" },
  NOT_FOUND: {
    status: 404,
    when: "there is no such key, budget, folder, batch, user, tier, file, schedule, hook or published app, or it is not the caller's",
  },
  ROUTE_NOT_FOUND: { status: 404, when: "there is no such path" },
  METHOD_NOT_ALLOWED: { status: 405, when: "the path has other methods: they are in `Allow`" },
  SOLE_OWNER: {
    status: 409,
    when: "the account is the only owner of organizations: make another member the owner of each, or have it deleted, first",
    members: { organizations: "their ids and names" },
  },
  NOT_WAITING: {
    status: 409,
    when: "an execution does not wait for the decision that is sent: it was decided, it is over, or it has not come so far",
    members: {
      decision: "the decision that stands: `approve` or `reject`",
      decidedBy: "`owner`; `timeout` when its time was over; `rerun` where it was taken over from an earlier run",
      decidedAt: "when it was made",
    },
  },
  ALREADY_EXISTS: {
    status: 409,
    when: "the e-mail address is registered already; a model of that name is a file of the registry, or was added",
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    when: "a request with the same `Idempotency-Key` is still being worked on",
    members: RETRY_AFTER,
  },
  PRECONDITION_FAILED: {
    status: 412,
    when: "the state of things does not allow it: changed since `If-Match`, still in use, no webhook, too many keys, schedules or hooks",
    members: { limit: "how many there may be", workflows: "those that have the account's schedules or hooks" },
  },
  REQUEST_TIMEOUT: { status: 408, when: "the body did not arrive in time; the connection is closed" },
  PAYLOAD_TOO_LARGE: { status: 413, when: "the body is too large", members: { limit: "bytes it may have" } },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, when: "the body is not JSON in UTF-8 or has a `Content-Encoding`, or a file's type is not taken" },
  WORKFLOW_INVALID: {
    status: 422,
    when: "the workflow's graph can't run",
    members: {
      issues: "every problem: `nodeId`, if it is a node's, [`code`](workflows.md#codes-of-issues), `path`, `params`, and `message`",
    },
  },
  CONTENT_REFUSED: {
    status: 422,
    when: "the moderation of this installation refuses what the run is given, which is free, or what a node of it made, which is charged",
    members: { reason: "a code of the moderation's, of what is refused before the run begins", ...FAILED_RUN },
  },
  IDEMPOTENCY_KEY_REUSED: { status: 422, when: "the `Idempotency-Key` was used with another body" },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    when: "too many requests in a minute, too many refused ones from an address, or more runs of an app than a visitor has in a day",
    members: { tier: "whose limit it is; `app` for visitors of apps", limit: "requests a minute, or runs a day", ...RETRY_AFTER },
  },
  CONCURRENCY_LIMIT_EXCEEDED: {
    status: 429,
    when: "too many runs, batches, event streams or bytes of bodies at once",
    members: { limit: "how many there may be", queueLimit: "how many more runs may wait in line, where the line is full", ...RETRY_AFTER },
  },
  EXECUTION_CANCELLED: {
    status: 409,
    when: "the run was cancelled, and has no result; charged is what had been sent to providers",
    members: { executionId: "the run" },
  },
  EXECUTION_FAILED: { status: 500, when: "a node of the run failed; `error` says why", members: { ...FAILED_RUN, ...PROVIDER } },
  OUTGOING_LIMIT_EXCEEDED: {
    status: 500,
    when: "a node called a host, or all hosts together, too often in a minute, and waited too long for its turn",
    members: FAILED_RUN,
  },
  PROVIDER_SUBMIT_FAILED: { status: 500, when: "a provider refused an asynchronous run at once", members: { ...FAILED_RUN, ...PROVIDER } },
  PROVIDER_RESPONSE_INCOMPLETE: { status: 500, when: "a provider ended without output; the run is free", members: FAILED_RUN },
  INTERNAL: { status: 500, when: "a fault of the platform; its logs have the `X-Request-Id`" },
  NOT_CONFIGURED: { status: 501, when: "the installation is not set up for this; `error` says which setting is missing" },
  SERVICE_UNAVAILABLE: {
    status: 503,
    when: "something is down; repeat the request, a run under its `Idempotency-Key`",
    members: {
      ...RETRY_AFTER,
      executionId: "the run, if it is unknown whether it goes on: ask for it",
      model: "the model that is not ready, where that is why; `error` says what to do",
      operation: "the operation on files whose program is not ready, where that is why",
      moderation: "`away`, where that is why: prompts can't be checked now",
      outcome: "`unknown`, beside such an `executionId`; without it nothing runs",
    },
  },
};

/** Codes that clients don't see: the body has only `error`. */
export const WITHOUT_CODE: ReadonlySet<Reason> = new Set<Reason>(["WORKFLOW_NOT_FOUND"]);
