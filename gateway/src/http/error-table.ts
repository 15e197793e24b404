import type { Reason } from "@nodeloom/kernel";

export interface ErrorEntry {
  status: number;
  /** Cause of the error, as a sentence. */
  when: string;
  /** What the client can do, in sentences. */
  fix: string;
  /** Body members besides `error`, `code` and `doc`, with their meaning. Each is optional. */
  members?: Readonly<Record<string, string>>;
}

const ISSUES = { issues: "every problem: `path` of the field, and `message`" } as const;
const RETRY_AFTER = { retryAfter: "seconds to wait, as in `Retry-After`" } as const;
const CREDITS = { requiredCredits: "the most that the run can cost", availableCredits: "what the account has" } as const;
const FAILED_RUN = { executionId: "the run", nodeId: "the node that failed" } as const;
const PROVIDER = { providerStatus: "the provider's HTTP status", providerBody: "its response, shortened and without secrets" } as const;

/** Every error code with its HTTP status and documentation. docs/guide/errors.md and a page per code are generated from it. */
export const ERRORS: Readonly<Record<Reason, ErrorEntry>> = {
  INVALID_REQUEST: {
    status: 400,
    when: "The body isn't valid JSON, or a field, parameter or header is wrong.",
    fix: "Correct each field that `issues` names. If the body isn't JSON, `error` has the line and column.",
    members: ISSUES,
  },
  INVALID_INPUTS: {
    status: 400,
    when: "`inputs` is missing, isn't an object, or has a value that the workflow or model doesn't accept.",
    fix: "Correct each input that `issues` names. `GET /api/workflows/:slug/schema` lists the inputs with their types.",
    members: {
      issues: "every problem: `path` of the field, and `message`; in a batch also `index` of the item",
      problems: "in a batch: the number of problems",
    },
  },
  INVALID_SLUG: {
    status: 400,
    when: "The `internalName` of a model isn't a slug.",
    fix: "Use lowercase letters, digits and single hyphens. `GET /api/models` lists the models.",
  },
  ASYNC_NOT_SUPPORTED: {
    status: 400,
    when: "You asked for `?async=true`, and the run has a model that can't be polled.",
    fix: "Run it without `?async=true`, or choose another model.",
    members: { model: "the first such model" },
  },
  UNAUTHENTICATED: {
    status: 401,
    when: "The API key is missing, malformed, unknown, expired or revoked, or the sign-in is wrong.",
    fix: "Send a valid key in the header `x-api-key`. You create keys in the console under API keys.",
  },
  LEGACY_KEY_RETIRED: {
    status: 401,
    when: "The key was created before May 2026.",
    fix: "Create a new key, and delete the old one.",
  },
  SIGNATURE_INVALID: {
    status: 401,
    when: "A delivery to an inbound hook has no signature, or one that was made with another secret.",
    fix: "Sign the raw body with the hook's secret.",
  },
  INSUFFICIENT_CREDITS: {
    status: 402,
    when: "The account has fewer credits than the run can cost.",
    fix: "Buy credits, or run something cheaper: a quote is free.",
    members: CREDITS,
  },
  grant_exhausted: {
    status: 402,
    when: "The trial runs of a model are used up, and the account has fewer credits than the run can cost.",
    fix: "Buy credits, or choose another model.",
    members: { ...CREDITS, model: "that model" },
  },
  BUDGET_EXCEEDED: {
    status: 402,
    when: "A budget of the key, of the workflow or of a metadata value has less left than the run can cost.",
    fix: "Wait until `resetsAt`, or raise the budget.",
    members: {
      scope: "`key`, `workflow` or `metadata.<name>`",
      limit: "credits of the budget",
      remaining: "credits that are left",
      resetsAt: "when the window ends; null for `total`",
      requiredCredits: CREDITS.requiredCredits,
      executionId: "the run, if it had begun",
      nodeId: "the node that failed, if the run had begun",
    },
  },
  CAPABILITY_DENIED: {
    status: 403,
    when: "The capabilities of the key or session, or the role in the organization, don't cover the request.",
    fix: "Use a key with the capability in `required`, or ask for the role in `requiredRole`.",
    members: {
      required: "the capability that would have passed",
      requiredTier: "the lowest tier with this capability, if the caller's tier lacks it",
      requiredRole: "the lowest role that is allowed, if the caller's role isn't",
    },
  },
  NOT_APPROVER: {
    status: 403,
    when: "The approval names its approvers and you aren't one of them, or you started the run and its starter can't decide. For a mailed link: its address is no longer an approver's.",
    fix: "Ask one of the approvers in `waitingFor` to decide.",
  },
  CAPABILITY_ABOVE_CEILING: {
    status: 403,
    when: "You create a key with more capabilities than the tier allows.",
    fix: "Leave out the capabilities in `capabilities`, or change the tier.",
    members: { capabilities: "those that the tier doesn't allow" },
  },
  API_KEY_ACCESS_DENIED: {
    status: 403,
    when: "The account's tier has no API keys. Keys that exist stop working.",
    fix: "Change to a tier with API keys.",
    members: { tier: "the account's tier" },
  },
  SESSION_REQUIRED: {
    status: 403,
    when: "An API key calls an endpoint that needs a signed-in person, and lacks the capability in `required`, if the endpoint has one for keys.",
    fix: "Do this in the console, or use a key that has the capability in `required`.",
    members: { required: "the capability that admits keys, if there is one" },
  },
  CROSS_ORIGIN_DENIED: {
    status: 403,
    when: "A request with a session cookie comes from another site, or one with a visitor's token from an origin that the app doesn't list.",
    fix: "Call the API with a key, from your server. For an app, add the origin to its list.",
  },
  ACCOUNT_NOT_APPROVED: {
    status: 403,
    when: "The account waits for approval. Until then it can't run, quote, upload, publish templates or create keys.",
    fix: "Wait for an administrator to approve the account.",
  },
  ACCOUNT_SUSPENDED: {
    status: 403,
    when: "An administrator has suspended the account. Its sessions have ended and its keys don't work.",
    fix: "Ask the administrator of the installation.",
  },
  ACCOUNT_LEAVING: {
    status: 403,
    when: "The account or organization is going to be deleted. Until then it can't run, quote, upload or create keys.",
    fix: "Cancel the deletion in the settings if you want to keep the account.",
  },
  WORKFLOW_CAP_REACHED: {
    status: 403,
    when: "The account has as many saved workflows as its tier allows.",
    fix: "Delete a workflow, or change the tier.",
    members: { maxWorkflows: "how many the tier allows" },
  },
  TEMPLATE_CAP_REACHED: {
    status: 403,
    when: "The account has as many templates as it may have.",
    fix: "Delete a template.",
    members: { limit: "how many it may have" },
  },
  MEDIA_QUOTA_EXCEEDED: {
    status: 403,
    when: "The account's files would take more space than its tier stores.",
    fix: "Delete files, or change the tier.",
    members: { limit: "bytes that the tier stores", used: "bytes in use" },
  },
  MEDIA_URL_EXPIRED: {
    status: 403,
    when: "The address of a private file has expired, was changed, or has no signature.",
    fix: "Read the run or the workflow again, or ask `GET /api/media/:id` for a new address: it takes the file's id, and the name in its address.",
  },
  MODEL_TIER_REQUIRED: {
    status: 403,
    when: "A model of the run needs a higher tier.",
    fix: "Choose another model, or change to the tier in `requiredTier`.",
    members: { model: "the model", requiredTier: "the lowest tier that may run it", tier: "the caller's tier" },
  },
  WORKFLOW_NOT_FOUND: {
    status: 404,
    when: "The workflow doesn't exist, isn't yours, or has a schema that isn't public.",
    fix: "Check the slug. `GET /api/workflows` lists your workflows.",
  },
  VERSION_NOT_FOUND: {
    status: 404,
    when: "The workflow has no published version with this number, or you may not see it.",
    fix: "`GET /api/workflows/:slug/versions` lists the versions.",
  },
  ALIAS_NOT_FOUND: {
    status: 404,
    when: "The workflow has no alias with this name, or it isn't yours: other people's workflows only have `production`.",
    fix: "`GET /api/workflows/:slug/aliases` lists the aliases. `PUT /api/workflows/:slug/aliases/:name` creates one.",
  },
  EXECUTION_NOT_FOUND: {
    status: 404,
    when: "The execution doesn't exist, isn't yours, or was deleted after its retention time.",
    fix: "Check the id, and that you use a key of the same account.",
  },
  MODEL_NOT_FOUND: {
    status: 404,
    when: "No enabled model has this name, or the model isn't installed on this machine.",
    fix: "`GET /api/models` lists the models that you can run. If the model is retired, `successor` names the one to use.",
    members: { successor: "the model that replaces a retired one" },
  },
  NOT_FOUND: {
    status: 404,
    when: "The key, budget, folder, batch, user, tier, file, schedule, hook or published app doesn't exist or isn't yours.",
    fix: "Check the id, and that you use a key of the same account.",
  },
  ROUTE_NOT_FOUND: { status: 404, when: "The path doesn't exist.", fix: "Check the path: the API reference lists every endpoint." },
  METHOD_NOT_ALLOWED: { status: 405, when: "The path exists, but not with this method.", fix: "Use a method of the header `Allow`." },
  REQUEST_TIMEOUT: {
    status: 408,
    when: "The body didn't arrive in time. The connection is closed.",
    fix: "Send the request again.",
  },
  SOLE_OWNER: {
    status: 409,
    when: "The account is the only owner of one or more organizations, so it can't be deleted.",
    fix: "Make another member the owner of each organization, or delete the organization.",
    members: { organizations: "their ids and names" },
  },
  PLAN_STALE: {
    status: 409,
    when: "A workflow, an alias or the bundle changed since the plan with this `planId` was made.",
    fix: "Send the bundle with `dryRun` again, read the new plan, and send its `planId`.",
  },
  BUNDLE_CONFLICT: {
    status: 409,
    when: "Workflows of the bundle were changed since the last import, or have a slug that is also a name in the bundle.",
    fix: "Export them and merge the changes, or send `overwrite` to replace them.",
    members: { workflows: "the names in conflict, each with its reason" },
  },
  TESTS_REQUIRED: {
    status: 409,
    when: "The alias only moves to versions that passed the workflow's tests, and this version didn't pass the tests that the workflow has now.",
    fix: "Run the tests on the version with `POST /api/workflows/:slug/tests/run`, wait until they pass, then move the alias.",
    members: { version: "the version to test" },
  },
  CANARY_SHAPE: {
    status: 409,
    when: "The canary's version has other input fields or result names than the version of the alias, so callers would notice the difference.",
    fix: "Publish a version with the same fields and names, or give the other version an alias of its own.",
    members: { fields: "names of the input fields that differ", results: "names in only one of the results" },
  },
  NOT_WAITING: {
    status: 409,
    when: "The execution doesn't wait for this decision: it is already decided, the run is over, or it hasn't reached the node yet.",
    fix: "Read the execution to see which approvals are pending.",
    members: {
      decision: "the decision that was made: `approve` or `reject`",
      decidedBy: "`owner`; `timeout` if the time ran out; `rerun` if it was taken from an earlier run",
      decidedAt: "when it was made",
    },
  },
  EXECUTION_NOT_FINAL: {
    status: 409,
    when: "The execution isn't over, so it can't be deleted.",
    fix: "Cancel the execution or wait until it ends, then delete it.",
  },
  SOURCE_ERASED: {
    status: 409,
    when: "The execution is kept for 0 days (`retentionDays`): its inputs, calls and texts were removed at its end, so it can't be rerun, its webhook can't be sent again, and its files can't be kept.",
    fix: "Run the workflow again with its inputs. To keep more of its executions, set a higher `retentionDays`.",
  },
  ALREADY_EXISTS: {
    status: 409,
    when: "The email address is registered already, or a model with this name exists.",
    fix: "Sign in with this address, or choose another name.",
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    when: "A request with the same `Idempotency-Key` is still being processed.",
    fix: "Wait `retryAfter` seconds and send the same request again: you get the first one's response.",
    members: RETRY_AFTER,
  },
  EXECUTION_CANCELLED: {
    status: 409,
    when: "The run was cancelled and has no result. Work that was already sent to providers is charged.",
    fix: "Start a new run.",
    members: { executionId: "the run" },
  },
  PRECONDITION_FAILED: {
    status: 412,
    when: "The current state doesn't allow it: changed since `If-Match`, still in use, no webhook, or too many keys, schedules or hooks.",
    fix: "`error` names the condition. After a conflict with `If-Match`, read the resource and apply your change again.",
    members: { limit: "the highest number allowed", workflows: "workflows that have the account's schedules or hooks" },
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    when: "The body is too large.",
    fix: "Send less, or upload files first and send their URLs.",
    members: { limit: "bytes that the body may have" },
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    when: "The body isn't JSON in UTF-8, has a `Content-Encoding`, or is a file of a type that isn't accepted.",
    fix: "Send `Content-Type: application/json`, uncompressed. `error` lists the accepted types of files.",
  },
  WORKFLOW_INVALID: {
    status: 422,
    when: "The workflow's graph can't run.",
    fix: "Correct each problem in `issues`. The console marks the nodes.",
    members: {
      issues:
        "every problem: `nodeId`, if it belongs to a node, [`code`](../../guide/workflows.md#codes-of-issues), `path`, `params`, and `message`",
    },
  },
  CONTENT_REFUSED: {
    status: 422,
    when: "The moderation of this installation refuses an input, which is free, or a result, which is charged.",
    fix: "Change the prompt or the file.",
    members: { reason: "the moderation's code, if an input was refused", ...FAILED_RUN },
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    when: "The `Idempotency-Key` was used with another body.",
    fix: "Use a new key for each request that differs.",
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    when: "Too many requests in a minute, too many refused requests from one address, or more runs of an app than a visitor has in a day.",
    fix: "Wait `retryAfter` seconds.",
    members: { tier: "whose limit it is; `app` for visitors of apps", limit: "requests a minute, or runs a day", ...RETRY_AFTER },
  },
  CONCURRENCY_LIMIT_EXCEEDED: {
    status: 429,
    when: "Too many runs, batches, event streams or bytes of request bodies at the same time.",
    fix: "Wait `retryAfter` seconds, or until a run ends.",
    members: { limit: "how many are allowed", queueLimit: "how many more runs may queue, if the queue is full", ...RETRY_AFTER },
  },
  EXECUTION_FAILED: {
    status: 500,
    when: "A node of the run failed.",
    fix: "`error` and `nodeId` say why and where. You can continue from the failed node with a rerun.",
    members: { ...FAILED_RUN, ...PROVIDER },
  },
  OUTGOING_LIMIT_EXCEEDED: {
    status: 500,
    when: "The run called one host, or all hosts together, more often than a minute allows, and waited too long.",
    fix: "Call less often, or ask the operator to raise the limit.",
    members: FAILED_RUN,
  },
  PROVIDER_SUBMIT_FAILED: {
    status: 500,
    when: "A provider refused an asynchronous run when it was submitted.",
    fix: "`providerBody` has the provider's reason.",
    members: { ...FAILED_RUN, ...PROVIDER },
  },
  PROVIDER_RESPONSE_INCOMPLETE: {
    status: 500,
    when: "A provider ended without the expected output. The run is free.",
    fix: "Run it again.",
    members: FAILED_RUN,
  },
  INTERNAL: {
    status: 500,
    when: "The platform has a fault.",
    fix: "Send the `X-Request-Id` to the operator: the logs have it.",
  },
  NOT_CONFIGURED: {
    status: 501,
    when: "The installation isn't set up for this.",
    fix: "`error` names the setting that the operator must set.",
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    when: "A part of the platform is not available at the moment.",
    fix: "Send the request again after `retryAfter` seconds; for a run, with the same `Idempotency-Key`.",
    members: {
      ...RETRY_AFTER,
      executionId: "the run, if its state is unknown: poll it",
      model: "the model that isn't ready; `error` says what to do",
      operation: "the media operation that isn't ready",
      moderation: "`away`, if prompts can't be checked at the moment",
      outcome: "`unknown`, next to an `executionId`; without it, no run started",
    },
  },
};

/** Codes that aren't sent: the body has only `error`. */
export const WITHOUT_CODE: ReadonlySet<Reason> = new Set<Reason>(["WORKFLOW_NOT_FOUND"]);
