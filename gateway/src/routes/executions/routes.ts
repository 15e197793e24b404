import { webhookDeliveryJson } from "@nodeloom/platform";
import { z } from "zod";
import { defineRoute } from "../../edge/route";
import { jsonBody } from "../../http/body/kinds";
import { deleteExecutionRoute } from "./delete";
import { watchExecutionRoute } from "./events";
import { executionGraphRoute } from "./graph";
import { listExecutionsRoute } from "./listing";
import { ownExecution } from "./own";
import { reading, shared } from "./settings";
import { execution, executionView, webhookDelivery } from "./view";

export const executionRoutes = [
  // Comes before the routes of one execution, because `cancel` isn't an id.
  defineRoute({
    method: "POST",
    path: "/api/executions/cancel",
    operationId: "cancelQueuedExecutions",
    summary: "Cancel all queued executions",
    description: "These executions never started, so they cost nothing.",
    tag: "Executions",
    auth: "any",
    role: "runner",
    capability: "execution:cancel",
    limit: "user",
    body: jsonBody(z.strictObject({ queued: z.literal(true) }).meta({ id: "CancelQueuedRequest" })),
    responses: { 200: z.object({ cancelled: z.number().meta({ description: "Number" }) }).meta({ id: "CancelQueuedResult" }) },
    handler: async ({ gateway, caller }) => {
      const { cancelled } = await gateway.services.executions.cancelQueued({ userId: caller.user.id });
      return { status: 200, body: { cancelled } };
    },
  }),
  listExecutionsRoute,
  defineRoute({
    ...reading,
    path: "/api/executions/:id",
    operationId: "getExecution",
    summary: "Poll an execution",
    responses: { 200: execution },
    handler: async (context) => ({ status: 200, body: executionView(await ownExecution(context, context.params.id)) }),
  }),
  deleteExecutionRoute,
  executionGraphRoute,
  defineRoute({
    ...shared,
    method: "POST",
    path: "/api/executions/:id/cancel",
    operationId: "cancelExecution",
    summary: "Cancel an execution",
    description: "Calls already sent to providers are charged; other calls are free. A queued run ends immediately and costs nothing.",
    capability: "execution:cancel",
    limit: "user+id",
    role: "runner",
    responses: {
      200: z
        .object({ status: z.enum(["cancel_requested", "already_completed", "already_failed", "already_cancelled"]) })
        .meta({ id: "CancelResult" }),
    },
    handler: async ({ gateway, caller, params }) => {
      const { status } = await gateway.services.executions.cancelExecution({ executionId: params.id, userId: caller.user.id });
      return { status: 200, body: { status } };
    },
  }),
  watchExecutionRoute,
  defineRoute({
    ...shared,
    method: "POST",
    path: "/api/executions/:id/redeliver",
    operationId: "redeliverWebhook",
    summary: "Deliver an execution's webhook again",
    description:
      "Sends it at once, with eight new attempts. It replaces a delivery that is still waiting. Returns 412 if there is no receiver: the run hasn't ended or has no webhook; the key's webhook is disabled, removed or not subscribed to this event; or the key no longer has `webhook:receive`.",
    capability: "webhook:receive",
    limit: "user+id",
    role: "runner",
    idempotent: "replay",
    responses: { 202: z.object({ webhookDelivery }).meta({ id: "RedeliverResult" }) },
    errors: ["EXECUTION_NOT_FOUND", "SOURCE_ERASED", "PRECONDITION_FAILED"],
    handler: async ({ gateway, caller, params }) => {
      const { webhookDelivery: delivery } = await gateway.services.executions.redeliverWebhook({
        executionId: params.id,
        userId: caller.user.id,
      });
      return { status: 202, body: { webhookDelivery: webhookDeliveryJson(delivery) } };
    },
  }),
];
