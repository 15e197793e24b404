import { executionNotFound, GRAPH_BOUNDS } from "@nodeloom/kernel";
import { z } from "zod";
import { authorize, runCapability } from "../../auth/caller";
import { defineRoute } from "../../edge/route";
import { executionParams, iso, timestamp } from "../../http/schemas";
import { jsonBody } from "../../http/body/kinds";

const DECISIONS = ["approve", "reject"] as const;

/** The decision that a run waits for. */
export const waitingFor = z
  .object({
    nodeId: z.string(),
    title: z.string(),
    instructions: z.string().optional(),
    since: timestamp,
    until: timestamp.meta({ description: "When `onTimeout` decides" }),
    onTimeout: z.enum(DECISIONS),
    value: z.unknown().meta({ description: "The value under review. Lists omit values above 2 kB" }),
    truncated: z.boolean().optional().meta({ description: "True where the value is too long to be shown here" }),
  })
  .meta({ id: "WaitingFor" });

const decisionBody = z
  .strictObject({
    nodeId: z.string().min(1).max(GRAPH_BOUNDS.nodeIdBytes).meta({ example: "review" }),
    decision: z.enum(DECISIONS),
    value: z.unknown().optional().meta({
      description:
        "Replaces the reviewed value. Needs the same type, a list of at most the same length, and at most 8 kB or the original size",
    }),
  })
  .meta({ id: "DecisionRequest" });

const decision = z.object({ nodeId: z.string(), decision: z.enum(DECISIONS), decidedAt: timestamp.nullable() }).meta({ id: "Decision" });

export const decisionRoutes = [
  // Precedes the routes of one execution: `waiting` isn't an id.
  defineRoute({
    method: "GET",
    path: "/api/executions/waiting",
    operationId: "countWaitingExecutions",
    summary: "Count the executions that wait for a decision",
    tag: "Executions",
    auth: "any",
    role: "viewer",
    capability: "execution:read",
    limit: "user",
    responses: { 200: z.object({ waiting: z.number() }).meta({ id: "WaitingCount" }) },
    handler: async ({ gateway, caller }) => {
      const { waiting } = await gateway.services.executions.countWaiting({ userId: caller.user.id });
      return { status: 200, body: { waiting } };
    },
  }),
  defineRoute({
    method: "POST",
    path: "/api/executions/:id/decisions",
    operationId: "decideExecution",
    summary: "Approve or reject a waiting execution",
    description:
      "By key it needs the run capability of the execution's workflow. The first decision stands: any other one is answered 409, as is one on a node that does not wait.",
    tag: "Executions",
    auth: "any",
    role: "runner",
    params: executionParams,
    limit: "user+id",
    approval: true,
    idempotent: "replay",
    body: jsonBody(decisionBody),
    responses: { 200: decision },
    errors: ["EXECUTION_NOT_FOUND", "CAPABILITY_DENIED", "NOT_FOUND", "NOT_WAITING"],
    handler: async ({ gateway, caller, params, body, members }) => {
      const service = gateway.services.executions;
      const { execution } = await service.getExecution({ executionId: params.id, userId: caller.user.id });
      if (!execution) throw executionNotFound();
      authorize(caller, "any", runCapability("workflow", execution.workflowSlug ?? ""));
      const decided = await service.decideExecution({
        executionId: params.id,
        userId: caller.user.id,
        nodeId: body.nodeId,
        isApproved: body.decision === "approve",
        valueJson: members().get("value"),
      });
      const { nodeId, isApproved, decidedAt } = decided;
      return { status: 200, body: { nodeId, decision: isApproved ? "approve" : "reject", decidedAt: iso(decidedAt) } };
    },
  }),
];
