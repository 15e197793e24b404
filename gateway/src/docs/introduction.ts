import { PLANS } from "@nodeloom/kernel";
import { IDEMPOTENCY_SECONDS, RATE_WINDOW_SECONDS } from "../http/limits";

const hours = IDEMPOTENCY_SECONDS / 3_600;
const perWindow = (requests: number | null): string => (requests === null ? "unlimited" : requests.toLocaleString("en"));

/** First page of the document: rules shared by all operations. */
export const INTRODUCTION = `### Authentication

Send an API key in the header \`x-api-key\`. Create one in the console or with the operations under *Keys*, as a signed-in user of tier Pro or
above. You see its value only once. A key has capabilities, such as \`workflow:run\` or \`workflow:poster-maker:run\`. Each operation names the
capability that it needs.

\`\`\`sh
curl "$BASE/api/whoami" -H "x-api-key: $KEY"
\`\`\`

Requests from the service's own pages can use the session cookie of a signed-in browser instead. If you are signed in to the console, so is the
page to try operations, \`/docs/explorer\`. Otherwise enter a key there under *Authorize*.

If you are a member of an [organization](/docs/guide/organizations), send \`X-Organization: <id>\` with a session to act for it. A key always acts
for its own account.

### Errors

Every error has a JSON body: \`{ "error": "what went wrong", "code": "INVALID_INPUTS", … }\`. Decide by \`code\`; \`error\` is for people. Only the
404 of a workflow has no code. Each operation lists its codes. Every response has \`X-Request-Id\`, which you can find in the logs, and every
response about a run has \`X-Execution-Id\`.

### Rate limits

Requests are counted per user and operation, in windows of ${RATE_WINDOW_SECONDS} seconds: Pro ${perWindow(PLANS.pro.rateLimitPerMinute)}, Business ${perWindow(PLANS.business.rateLimitPerMinute)}, Enterprise ${perWindow(PLANS.enterprise.rateLimitPerMinute)}. Each response has
\`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`, the Unix second at which the window ends. A 429 also has
\`Retry-After\`, in seconds. If fewer than five requests are left, wait for the reset.

### Idempotency

Send an \`Idempotency-Key\` with runs, redeliveries, new workflows and new folders. For ${hours} hours, the same key and body return the same
response, marked \`Idempotency-Replayed: true\`. Nothing is run, charged or created twice, so you can repeat a request whose response was lost.

### Runs

A run returns its result, or a 202 if it takes longer than two minutes; it then continues. With \`?async=true\` you get the 202 at once.
Poll \`GET /api/executions/{id}\` every two seconds, follow its events as a stream, or use a webhook.

### Webhooks

A key can have a webhook. Nodeloom calls it when an asynchronous run with that key ends, and signs the message by
[Standard Webhooks](https://www.standardwebhooks.com): see *Webhooks*.`;
