import { executionJson } from "@nodeloom/platform";
import type { executions } from "@nodeloom/proto";
import { z } from "zod";
import { raw } from "../../http/json";
import { anyObject, credits, routeMembers, runOutputs, timestamp, uuid } from "../../http/schemas";
import { madeDecision, waitingFor } from "./decisions";

export const EXECUTION_STATUSES = ["processing", "completed", "failed", "cancelled", "cancel_requested"] as const;
const FINAL: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);
export const isFinal = (execution: executions.Execution): boolean => FINAL.has(execution.status);

const executionError = z
  .object({
    code: z.string(),
    message: z.string(),
    nodeId: z.string().optional(),
    providerStatus: z.number().optional(),
    providerBody: z.string().optional(),
    item: z.number().optional().meta({ description: "Index of the call, from 0, if the node makes several" }),
  })
  .meta({ id: "ExecutionError" });

const outputs = anyObject.meta({ description: "Outputs of a node or call, by port. Texts and JSON are cut at 4 kB" });
const truncated = z.boolean().optional().meta({ description: "True if values were cut" });
const reusedFrom = z.string().optional().meta({ description: "The execution that made the call. Its output was reused free of charge" });
const attempts = z
  .array(
    z
      .object({
        model: z.string(),
        error: z
          .object({ code: z.string(), message: z.string() })
          .optional()
          .meta({ description: "Absent if it completed or is still running" }),
        cost: credits,
      })
      .meta({ id: "CallAttempt" }),
  )
  .optional();
const nodeCall = z
  .object({
    item: z.number(),
    status: z.enum(["processing", "completed", "failed", "cancelled"]),
    outputs: outputs.optional(),
    truncated,
    error: executionError.nullable(),
    creditsCost: credits,
    requestId: z.string().nullable(),
    reusedFrom,
    attempts: attempts.meta({ description: "The models that were tried, in order, if more than one" }),
  })
  .meta({ id: "NodeCall" });

const noWebhook = z.object({ configured: z.literal(false) });
const webhook = z.object({ configured: z.literal(true), url: z.string() });

export const webhookConfiguration = z.discriminatedUnion("configured", [noWebhook, webhook]).meta({ id: "WebhookConfiguration" });

const webhookAttempt = z
  .object({
    at: timestamp,
    status: z.number().nullable().meta({ description: "Status of the receiver's response; null if there was none" }),
    error: z.string().nullable(),
    durationMs: z.number(),
    delivery: z.number().meta({ description: "1 is the first delivery; each redelivery takes the next number" }),
    attempt: z.number().meta({ description: "Number of the attempt within the delivery" }),
    url: z.string().optional().meta({ description: "Address of the delivery, if it changed since the run was submitted" }),
  })
  .meta({ id: "WebhookAttempt" });

export const deliveryState = z.enum(["pending", "delivered", "failed", "disabled", "skipped", "unknown"]).meta({
  description: "`skipped`: no webhook wants the event. `unknown`: the delivery can't be read now, and the other fields are unset",
});
export const lastError = z.string().nullable().meta({
  description:
    "Reason why the last attempt failed: `timeout`, `no answer`, `refused` (not a public address) or the receiver's response, for example `status 500`",
});

/** State of a message, to a webhook of a run or key, or to an endpoint. */
export const deliveryMembers = {
  state: deliveryState,
  attempts: z.number().meta({ description: "Total of all deliveries" }),
  deliveredAt: timestamp.nullable(),
  lastError,
  nextAttemptAt: timestamp.nullable().meta({ description: "Set while another attempt is due" }),
  history: z.array(webhookAttempt).meta({ description: "The last 50 attempts, oldest first" }),
};

export const webhookDelivery = z
  .discriminatedUnion("configured", [noWebhook, webhook.extend(deliveryMembers)])
  .meta({ id: "WebhookDelivery" });

const nodeState = z
  .object({
    id: z.string(),
    type: z.string(),
    label: z.string().optional().meta({ description: "Title from its author" }),
    status: z.enum(["pending", "processing", "completed", "failed", "cancelled", "skipped"]),
    startedAt: timestamp.nullable(),
    durationMs: z.number().nullable(),
    creditsCost: credits,
    items: z.number().optional().meta({ description: "Number of calls of the node. Before it begins: the maximum" }),
    itemsDone: z.number().optional(),
    error: executionError.nullable(),
    requestId: z.string().optional(),
    warnings: z.array(z.string()).optional(),
    cancelReport: z.enum(["stopped", "provider_told", "could_not_stop"]).optional(),
    outputs: outputs.optional(),
    truncated,
    calls: z.array(nodeCall).optional().meta({ description: "Present if the node makes several calls" }),
    reusedFrom: reusedFrom.meta({ description: "For a node with one call: the execution that made it" }),
    attempts: attempts.meta({
      description: "For a node with one call: the models tried, in order, if more than one",
    }),
    usage: z
      .object({ inputTokens: z.number(), outputTokens: z.number() })
      .optional()
      .meta({ description: "Tokens of all calls of a text model, if its provider counts them" }),
    ...routeMembers,
  })
  .meta({ id: "NodeState" });

export const execution = z
  .object({
    executionId: uuid,
    status: z.enum(EXECUTION_STATUSES),
    requestId: z.string().nullable(),
    durationMs: z.number(),
    queued: z.boolean().optional().meta({ description: "True while the run is queued" }),
    position: z.number().optional().meta({ description: "Position in the queue, from 1" }),
    decisions: z
      .array(madeDecision)
      .optional()
      .meta({ description: "Decisions on approvals of the run, oldest first. Absent if there are none" }),
    waitingFor: z.array(waitingFor).optional().meta({ description: "Set while approvals of the run wait for a decision" }),
    result: runOutputs.optional().meta({ description: "Set on completion" }),
    error: executionError.optional().meta({ description: "Set on failure" }),
    webhookDelivery,
    nodes: z.array(nodeState),
    inputs: anyObject.optional().meta({ description: "Inputs of the request. Absent in lists" }),
    metadata: z.record(z.string(), z.string()),
    batchId: uuid.optional().meta({ description: "Set on an item of a batch" }),
    index: z.number().optional().meta({ description: "Index of the item, from 0" }),
    workflowSlug: z.string().nullable(),
    version: z.number().nullable().meta({ description: "The published version that ran; null for the draft, and for models" }),
    alias: z.string().nullable().optional().meta({
      description:
        "The alias that selected the version; null for a version that was named by its number, for the draft, and for models. Absent in webhooks",
    }),
    canary: z.boolean().nullable().optional().meta({
      description:
        "True if the canary of its alias selected the version; false if its alias had a canary and the run used the alias's version. Null without a canary. Absent in webhooks",
    }),
    inlined: z
      .array(
        z
          .object({
            nodeId: z.string().meta({ description: "The workflow node that contains it; nested ones as `outer/inner`" }),
            slug: z.string(),
            version: z.number().nullable().meta({ description: "Null for the draft" }),
            contentHash: z.string().meta({ description: "SHA-256 of its nodes and edges" }),
          })
          .meta({ id: "InlinedWorkflow" }),
      )
      .optional()
      .meta({ description: "Inner workflows, as they were at the time of the run" }),
    modelIds: z.array(z.string()),
    rerunOf: uuid.optional().meta({ description: "The execution that this one reruns" }),
    retentionDays: z
      .number()
      .optional()
      .meta({ description: "Days for which the execution is kept after its end, if its workflow or its request set them" }),
    source: z.string(),
    keyId: z.string().nullable().meta({ description: "Key that submitted it; null for a session" }),
    startedBy: z
      .string()
      .optional()
      .meta({ description: "For an organization's run: user id of the person who started it or owns the key" }),
    creditsCost: credits,
    createdAt: timestamp.nullable(),
    finishedAt: timestamp.nullable(),
  })
  .meta({ id: "Execution" });

/** An execution for clients, as in webhooks, with its alias and the result's text as stored. */
export const executionView = (stored: executions.Execution): Record<string, unknown> => ({
  ...executionJson(stored, stored.resultJson === "" ? undefined : raw(stored.resultJson)),
  alias: stored.alias || null,
  canary: stored.canary ?? null,
});
