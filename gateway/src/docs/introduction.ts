import { PLANS } from "@nodeloom/kernel";
import { IDEMPOTENCY_SECONDS, RATE_WINDOW_SECONDS } from "../http/limits";

const hours = IDEMPOTENCY_SECONDS / 3_600;
const perWindow = (requests: number | null): string => (requests === null ? "unlimited" : requests.toLocaleString("en"));

/** First page of the document: rules shared by all operations. */
export const INTRODUCTION = `### Authentication

Send an API key in the header \`x-api-key\`. The operations under *Keys* make one; they need a signed-in user, and a tier of Pro or above. The
key is shown once, when it is made. What it may do is a list of capabilities, such as \`workflow:run\` or \`workflow:poster-maker:run\`; each
operation says which one it needs.

The session cookie of a signed-in browser works, too, for requests from the service's own pages. The page to try
operations, \`/docs/explorer\`, is signed in already if the console is; or put a key into its *Authorize*.

\`\`\`sh
curl "$BASE/api/whoami" -H "x-api-key: $KEY"
\`\`\`

A signed-in member of an [organization](/docs/guide/organizations) acts for it with \`X-Organization: <id>\`; a key is of one account, and acts for that.

### Errors

Whatever is not 2xx has a JSON body: \`{ "error": "what went wrong", "code": "INVALID_INPUTS", … }\`. Decide by \`code\`; \`error\` is for people. Only a
workflow that was not found has no code. Each operation lists its codes. Every answer carries \`X-Request-Id\`, which finds the request in the logs, and
every answer about a run \`X-Execution-Id\`.

### Rate limits

Requests are counted per user and operation, in windows of ${RATE_WINDOW_SECONDS} seconds: Pro ${perWindow(PLANS.pro.rateLimitPerMinute)}, Business ${perWindow(PLANS.business.rateLimitPerMinute)}, Enterprise ${perWindow(PLANS.enterprise.rateLimitPerMinute)}. Answers
say where you are: \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\`, and \`X-RateLimit-Reset\`, the Unix second at which the window ends. A 429 carries
\`Retry-After\` in seconds as well. With fewer than five requests left, wait for the reset.

### Idempotency

Runs, new workflows and folders, and redeliveries take an \`Idempotency-Key\`. For ${hours} hours the same key and body give the same answer, marked \`Idempotency-Replayed: true\`, and
nothing is run, charged or created twice. So a request whose answer was lost can be sent again.

### Runs

A run answers when it is over, or after two minutes at the latest with a 202: it goes on, and is polled. With \`?async=true\` the 202 comes at once.
Poll \`GET /api/executions/{id}\` every two seconds, follow its events as a stream, or be told by a webhook.

### Webhooks

A key may have a webhook. It is called when an asynchronous run made with that key is over, and signed as
[Standard Webhooks](https://www.standardwebhooks.com) asks for: see *Webhooks*.`;
