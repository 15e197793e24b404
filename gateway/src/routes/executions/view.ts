import { executionJson } from "@nodeloom/platform";
import type { executions } from "@nodeloom/proto";
import { z } from "zod";
import { raw } from "../../http/json";
import { anyObject, credits, timestamp, uuid } from "../../http/schemas";
import { waitingFor } from "./decisions";

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
    item: z.number().optional().meta({ description: "Of a node that makes several calls: which one, from 0" }),
  })
  .meta({ id: "ExecutionError" });

const outputs = anyObject.meta({ description: "What a node or its call gave, by port. Texts and JSON are cut at 4 kB" });
const truncated = z.boolean().optional().meta({ description: "True when something was cut" });
const reusedFrom = z.string().optional().meta({ description: "The execution that made the call: its output was taken over, free" });
const attempts = z
  .array(
    z
      .object({
        model: z.string(),
        error: z
          .object({ code: z.string(), message: z.string() })
          .optional()
          .meta({ description: "Absent: it completed, or is under way" }),
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
    attempts: attempts.meta({ description: "The models that were tried in their order, where more than one was" }),
  })
  .meta({ id: "NodeCall" });

const noWebhook = z.object({ configured: z.literal(false) });
const webhook = z.object({ configured: z.literal(true), url: z.string() });

export const webhookConfiguration = z.discriminatedUnion("configured", [noWebhook, webhook]).meta({ id: "WebhookConfiguration" });

const webhookAttempt = z
  .object({
    at: timestamp,
    status: z.number().nullable().meta({ description: "The receiver's status; null when it did not answer" }),
    error: z.string().nullable(),
    durationMs: z.number(),
    delivery: z.number().meta({ description: "1 is the run's own delivery; each redelivery takes the next number" }),
    attempt: z.number().meta({ description: "Within the delivery" }),
    url: z.string().optional().meta({ description: "Where it was sent, when that has changed since the run was submitted" }),
  })
  .meta({ id: "WebhookAttempt" });

const DELIVERY_STATES = ["pending", "delivered", "failed", "disabled", "skipped"] as const;

export const webhookDelivery = z
  .discriminatedUnion("configured", [
    noWebhook,
    webhook.extend({
      state: z.enum(DELIVERY_STATES),
      attempts: z.number().meta({ description: "Of all deliveries together" }),
      deliveredAt: timestamp.nullable(),
      lastError: z.string().nullable(),
      nextAttemptAt: timestamp.nullable().meta({ description: "Set while another attempt is due" }),
      history: z.array(webhookAttempt).meta({ description: "The last 50 attempts, oldest first" }),
    }),
  ])
  .meta({ id: "WebhookDelivery" });

const nodeState = z
  .object({
    id: z.string(),
    type: z.string(),
    label: z.string().optional().meta({ description: "What its author calls it" }),
    status: z.enum(["pending", "processing", "completed", "failed", "cancelled", "skipped"]),
    startedAt: timestamp.nullable(),
    durationMs: z.number().nullable(),
    creditsCost: credits,
    items: z.number().optional().meta({ description: "Calls the node makes; before it begins: at most" }),
    itemsDone: z.number().optional(),
    error: executionError.nullable(),
    requestId: z.string().optional(),
    warnings: z.array(z.string()).optional(),
    cancelReport: z.enum(["stopped", "provider_told", "could_not_stop"]).optional(),
    outputs: outputs.optional(),
    truncated,
    calls: z.array(nodeCall).optional().meta({ description: "Of a node that makes several calls" }),
    reusedFrom: reusedFrom.meta({ description: "Of a node that makes one call: the execution that made it" }),
    attempts: attempts.meta({
      description: "Of a node that makes one call: the models that were tried in their order, where more than one was",
    }),
    usage: z
      .object({ inputTokens: z.number(), outputTokens: z.number() })
      .optional()
      .meta({ description: "Of a text model: the tokens of all its calls, where its provider counts them" }),
  })
  .meta({ id: "NodeState" });

export const execution = z
  .object({
    executionId: uuid,
    status: z.enum(EXECUTION_STATUSES),
    requestId: z.string().nullable(),
    durationMs: z.number(),
    queued: z.boolean().optional().meta({ description: "True while the run waits in line" }),
    position: z.number().optional().meta({ description: "Where it waits, from 1" }),
    waitingFor: z.array(waitingFor).optional().meta({ description: "Set while approvals of the run wait for a decision" }),
    result: anyObject.optional().meta({ description: "Set on completion" }),
    error: executionError.optional().meta({ description: "Set on failure" }),
    webhookDelivery,
    nodes: z.array(nodeState),
    inputs: anyObject.optional().meta({ description: "As they were sent; absent in lists" }),
    metadata: z.record(z.string(), z.string()),
    batchId: uuid.optional().meta({ description: "Set on an item of a batch" }),
    index: z.number().optional().meta({ description: "Which item, from 0" }),
    workflowSlug: z.string().nullable(),
    version: z.number().nullable().meta({ description: "The published version that ran; null for the draft, and for models" }),
    alias: z.string().nullable().optional().meta({
      description:
        "The alias that selected the version; null for a version that was named by its number, for the draft, and for models. Absent in webhooks",
    }),
    inlined: z
      .array(
        z
          .object({
            nodeId: z
              .string()
              .meta({ description: "The node in whose place it came; in one that stands in another itself, `outer/inner`" }),
            slug: z.string(),
            version: z.number().nullable().meta({ description: "Null for the draft" }),
            contentHash: z.string().meta({ description: "SHA-256 of its nodes and edges" }),
          })
          .meta({ id: "InlinedWorkflow" }),
      )
      .optional()
      .meta({ description: "Workflows whose nodes were a part of it, as they were then" }),
    modelIds: z.array(z.string()),
    rerunOf: uuid.optional().meta({ description: "The execution that this one is a rerun of" }),
    source: z.string(),
    keyId: z.string().nullable().meta({ description: "The key that it was submitted by; null for a session's" }),
    startedBy: z
      .string()
      .optional()
      .meta({ description: "Of an organization's run: user id of the person who started it, or whose key did" }),
    creditsCost: credits,
    createdAt: timestamp.nullable(),
    finishedAt: timestamp.nullable(),
  })
  .meta({ id: "Execution" });

/** An execution for clients, as in webhooks, with its alias and the result's text as stored. */
export const executionView = (stored: executions.Execution): Record<string, unknown> => ({
  ...executionJson(stored, stored.resultJson === "" ? undefined : raw(stored.resultJson)),
  alias: stored.alias || null,
});
