import { RETRY_AFTER, FAILED_RUN, type ErrorEntries } from "./entry";

const ISSUES = { issues: "every problem: `path` of the field, and `message`" } as const;

/** Errors of a request itself: its form, its size, its content and its rate. */
export const REQUEST_ERRORS = {
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
  METHOD_NOT_ALLOWED: { status: 405, when: "The path exists, but not with this method.", fix: "Use a method of the header `Allow`." },
  REQUEST_TIMEOUT: {
    status: 408,
    when: "The body didn't arrive in time. The connection is closed.",
    fix: "Send the request again.",
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
} satisfies ErrorEntries;
