import { z } from "zod";
import { auditRow } from "../routes/admin/audit-routes";
import { batch } from "../routes/batches/view";
import { budgetAlert } from "../routes/budgets/view";
import { canaryEnded } from "../routes/workflows/canaries";
import { execution, webhookConfiguration } from "../routes/executions/view";
import { timestamp } from "../http/schemas";
import type { Json } from "./components";

/** OpenAPI descriptions of webhooks. */

type Describe = (schema: z.ZodType) => Json;

const HEADERS: readonly { name: string; description: string; schema: Json }[] = [
  {
    name: "webhook-id",
    description:
      "Id of the message, the same for every attempt and redelivery. `msg_<executionId>` for an execution; `msg_<executionId>.waiting.<nodeId>` for `execution.waiting`, with the node's id percent-encoded; `msg_budget_…` for `budget.alert`; `msg_retiring_…` for `model.retiring`; `msg_canary_…` for `canary.ended`",
    schema: { type: "string", examples: ["msg_1f0c5b1e-2c54-4d0b-9a0e-5f3c2f6f7a11"] },
  },
  {
    name: "webhook-timestamp",
    description: "Time of this attempt in Unix seconds. Reject messages older than five minutes",
    schema: { type: "string", pattern: "^\\d+$", examples: ["1777896000"] },
  },
  {
    name: "webhook-signature",
    description:
      "`v1,` and the base64 HMAC-SHA-256 of `<webhook-id>.<webhook-timestamp>.<body>`, keyed with the bytes of the secret (`whsec_` and base64). " +
      "While a secret is being replaced, there are several, separated by spaces. One must match",
    schema: { type: "string", examples: ["v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="] },
  },
];

const RESPONSES: Json = {
  "2XX": { description: "Received. Answer within 15 seconds, and do the work afterwards." },
  "410": { description: "Disables the webhook." },
  default: {
    description:
      "Nodeloom retries: eight attempts in total, over about a day. `Retry-After` can lengthen a pause. Redirects aren't followed.",
  },
};

/** A message has the webhook's address only; the delivery state is in the execution. */
const endedExecution = execution.extend({ webhookDelivery: webhookConfiguration });

const EXECUTION: z.input<typeof endedExecution> = {
  executionId: "1f0c5b1e-2c54-4d0b-9a0e-5f3c2f6f7a11",
  status: "completed",
  requestId: "b7e23ec2",
  durationMs: 8_210,
  webhookDelivery: { configured: true, url: "https://example.com/hook" },
  nodes: [],
  metadata: {},
  workflowSlug: "poster-maker",
  version: null,
  modelIds: ["sandbox-image"],
  source: "api-workflow",
  keyId: "9b2f6c1e-2c54-4d0b-9a0e-5f3c2f6f7a11",
  creditsCost: 2.6,
  createdAt: "2026-05-04T12:00:00.000Z",
  finishedAt: "2026-05-04T12:00:08.210Z",
};
const COMPLETED = { ...EXECUTION, result: { images: [{ url: "https://example.com/media/poster.png" }] } };
const FAILED: typeof EXECUTION = {
  ...EXECUTION,
  status: "failed",
  error: { code: "EXECUTION_FAILED", message: "the provider refused the prompt", nodeId: "poster" },
};
const CANCELLED: typeof EXECUTION = { ...EXECUTION, status: "cancelled" };
const WAITING = {
  ...EXECUTION,
  status: "processing",
  finishedAt: null,
  waitingFor: [
    {
      nodeId: "review",
      title: "Good enough to send?",
      since: "2026-05-04T12:00:08.000Z",
      until: "2026-05-07T12:00:08.000Z",
      onTimeout: "reject",
      value: { url: "https://nodeloom.example/media/1f0c5b1e2c544d0b9a0e5f3c2f6f7a11.png", contentType: "image/png" },
    },
  ],
  nodeId: "review",
  consoleUrl: "https://nodeloom.example/executions/1f0c5b1e-2c54-4d0b-9a0e-5f3c2f6f7a11",
};

const BATCH: z.input<typeof batch> = {
  ...{
    batchId: "5d2c1b7e-2c54-4d0b-9a0e-5f3c2f6f7a11",
    status: "completed",
    reason: null,
    workflowSlug: "poster-maker",
    version: 3,
    model: null,
    until: null,
  },
  total: 250,
  counts: { waiting: 0, processing: 0, completed: 248, failed: 2, cancelled: 0 },
  ...{ creditsCost: 128.96, estimatedCreditCost: 130, exact: true, maxCredits: 200, concurrency: null, onError: "continue", metadata: {} },
  ...{ source: "api-workflow", madeBy: "7d1f0f52-6f1c-4c61-9f0a-2b7d6d4f6f0e", rerunOf: null },
  webhookDelivery: { configured: true, url: "https://example.com/hook", state: "pending", attempts: 0, deliveredAt: null, lastError: null },
  ...{ createdAt: "2026-05-04T12:00:00.000Z", finishedAt: "2026-05-04T12:09:10.000Z" },
};

const BUDGET_ALERT: z.input<typeof budgetAlert> = {
  ...{ budgetId: "7c1d1b7e-2c54-4d0b-9a0e-5f3c2f6f7a11", scope: "metadata", metadata: { name: "customer", value: "acme" } },
  ...{ threshold: 0.8, credits: 500, used: 412.5, window: "month" },
  ...{ windowStart: "2026-05-01T00:00:00.000Z", resetsAt: "2026-06-01T00:00:00.000Z" },
};

const modelRetiring = z
  .object({
    model: z.string(),
    retiresOn: z.string().meta({ description: "The day on which its provider shuts it down" }),
    successor: z.string().nullable().meta({ description: "The model that replaces it, if known" }),
    workflows: z
      .array(z.object({ slug: z.string(), name: z.string() }))
      .meta({ description: "The first 20 workflows whose draft or newest version names the model" }),
    workflowCount: z.int().meta({ description: "All of them" }),
  })
  .meta({ id: "ModelRetiring" });

const MODEL_RETIRING: z.input<typeof modelRetiring> = {
  ...{ model: "runway-gemini-omni-flash", retiresOn: "2026-12-03", successor: null },
  ...{ workflows: [{ slug: "poster-maker", name: "Poster maker" }], workflowCount: 1 },
};

const CANARY_ENDED: z.input<typeof canaryEnded> = {
  ...{ workflowSlug: "poster-maker", alias: "production", version: 4, outcome: "rolled_back", reason: "errors", confidence: 0.957 },
  base: { runs: 214, failed: 9, creditsCost: 4, durationMs: 6120 },
  canary: { version: 5, runs: 23, failed: 9, creditsCost: 4, durationMs: 6204 },
};

const AUDIT_ROW: z.input<typeof auditRow> = {
  ...{
    id: "0b9f7d1e-6a55-4a55-8f0a-3d6f0f5a2c77",
    actor: "7d1f0f52-6f1c-4c61-9f0a-2b7d6d4f6f0e",
    keyId: null,
    keyName: null,
    ip: "203.0.113.7",
  },
  ...{ action: "key.revoke", target: "9c1d1b7e-2c54-4d0b-9a0e-5f3c2f6f7a11", change: null, before: null, after: null },
  ...{ outcome: "done", errorCode: null, requestId: "req_1", at: "2026-05-04T12:00:00.000Z" },
};

interface Callback {
  type: string;
  summary: string;
  data: z.ZodType;
  example: unknown;
}

const callback = ({ type, summary, data, example }: Callback, describe: Describe): Json => ({
  post: {
    operationId: `on.${type}`,
    summary,
    description: "Verify the signature over the raw bytes first. A message can arrive twice with the same `webhook-id`.",
    tags: ["Webhooks"],
    security: [],
    parameters: HEADERS.map((header) => ({ ...header, in: "header", required: true })),
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: describe(z.object({ type: z.literal(type), timestamp, data })),
          example: { type, timestamp: EXECUTION.finishedAt, data: example },
        },
      },
    },
    responses: RESPONSES,
  },
});

const CALLBACKS: readonly Callback[] = [
  { type: "execution.completed", summary: "An asynchronous run has completed", data: endedExecution, example: COMPLETED },
  { type: "execution.failed", summary: "An asynchronous run has failed", data: endedExecution, example: FAILED },
  { type: "execution.cancelled", summary: "An asynchronous run was cancelled", data: endedExecution, example: CANCELLED },
  {
    type: "execution.sync.completed",
    summary: "A run has ended whose request was answered with its end. Sent only to endpoints whose `events` name it",
    data: endedExecution,
    example: COMPLETED,
  },
  {
    type: "budget.alert",
    summary: "A budget has reached a share of its credits. Sent only to webhooks that subscribe to it",
    data: budgetAlert,
    example: BUDGET_ALERT,
  },
  {
    type: "model.retiring",
    summary: "A provider shuts down a model that workflows name, in 30 or 7 days. Sent only to webhooks that subscribe to it",
    data: modelRetiring,
    example: MODEL_RETIRING,
  },
  {
    type: "canary.ended",
    summary: "A canary of an alias was promoted or rolled back. Sent only to endpoints that subscribe to it",
    data: canaryEnded,
    example: CANARY_ENDED,
  },
  {
    type: "audit.row",
    summary: "The audit log has a new row. Sent only to endpoints that an owner subscribed to it",
    data: auditRow,
    example: AUDIT_ROW,
  },
  { type: "batch.completed", summary: "A batch has ended. Sent only to webhooks that subscribe to it", data: batch, example: BATCH },
  {
    type: "execution.waiting",
    summary: "An asynchronous run waits for a decision. Sent only to webhooks that subscribe to it",
    data: endedExecution.extend({ nodeId: z.string(), consoleUrl: z.url().meta({ description: "Page where a person can decide" }) }),
    example: WAITING,
  },
  {
    type: "webhook.test",
    summary: "A test message",
    data: z.object({
      keyId: z.string().optional().meta({ description: "Set for the webhook of a key" }),
      endpointId: z.string().optional().meta({ description: "Set for an endpoint" }),
    }),
    example: { keyId: "0b9f7d1e-6a55-4a55-8f0a-3d6f0f5a2c77" },
  },
];

export const webhooks = (describe: Describe): Json => Object.fromEntries(CALLBACKS.map((one) => [one.type, callback(one, describe)]));
