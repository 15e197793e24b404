import { executionNotFound, GRAPH_BOUNDS } from "@nodeloom/kernel";
import { decidedByJson } from "@nodeloom/platform";
import type { executions } from "@nodeloom/proto";
import { z } from "zod";
import { authorize, runCapability, type Caller } from "../../auth/caller";
import type { Gateway } from "../../edge/gateway";
import { auditedForOwner } from "../../edge/audit";
import { defineRoute } from "../../edge/route";
import { executionParams, iso, timestamp } from "../../http/schemas";
import { jsonBody } from "../../http/body/kinds";

export const DECISIONS = ["approve", "reject"] as const;
const MAX_COMMENT_CHARS = 2_000;
export const comment = z.string().max(MAX_COMMENT_CHARS).meta({ description: "Stored with the decision and in the audit log" });

/** A decision that a run waits for. */
export const waitingFor = z
  .object({
    nodeId: z.string(),
    title: z.string(),
    instructions: z.string().optional(),
    since: timestamp,
    until: timestamp.meta({ description: "Time when `onTimeout` decides" }),
    onTimeout: z.enum(DECISIONS),
    approvers: z.array(z.string()).optional().meta({ description: "Set if only these can decide: user ids, roles or e-mail addresses" }),
    notStarter: z.boolean().optional().meta({ description: "True if the person who started the run can't decide" }),
    value: z.unknown().meta({ description: "The value under review. Lists omit values above 2 kB" }),
    truncated: z.boolean().optional().meta({ description: "True if the value is too long to be shown here" }),
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
    comment: comment.optional(),
  })
  .meta({ id: "DecisionRequest" });

const decidedBy = z
  .union([z.object({ userId: z.string() }), z.object({ keyId: z.string() }), z.object({ address: z.string() })])
  .nullable()
  .meta({
    description:
      "The person, by session, the key, or the address whose mailed link was used. Null for the timeout, a rerun, and decisions of earlier releases",
  });
const decisionFields = {
  nodeId: z.string(),
  decision: z.enum(DECISIONS),
  decidedBy,
  comment: z.string().nullable(),
  decidedAt: timestamp.nullable(),
};
export const decision = z.object(decisionFields).meta({ id: "Decision" });

/** A decision as executions show it. */
export const madeDecision = z
  .object({ ...decisionFields, by: z.enum(["owner", "timeout", "rerun"]).meta({ description: "`rerun`: reused from an earlier run" }) })
  .meta({ id: "MadeDecision" });

/** The caller as an approver. A key decides as its creator. The email address is read only if an approver is named by one. */
const deciderOf = async (
  { services }: Pick<Gateway, "services">,
  { person, organization }: Caller,
  approvers: readonly string[],
): Promise<executions.Decider> => {
  const hasAddress = !person.service && approvers.some((approver) => approver.includes("@"));
  const personAddress = hasAddress ? await services.addresses.getAddress({ userId: person.id }) : undefined;
  const address = personAddress?.verifiedAt ? personAddress.email : "";
  return { personId: person.id, role: organization?.role ?? "owner", address, isService: person.service };
};

export const decisionRoutes = [
  // Comes before the routes of one execution, because `waiting` isn't an id.
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
      "A key needs the capability to run the execution's workflow. If the node has `approvers` or `notStarter`, other callers get `403 NOT_APPROVER`. The first decision counts. Another decision, or one on a node that isn't waiting, gets 409.",
    tag: "Executions",
    auth: "any",
    role: "runner",
    params: executionParams,
    limit: "user+id",
    approval: true,
    idempotent: "replay",
    body: jsonBody(decisionBody),
    responses: { 200: decision },
    errors: ["EXECUTION_NOT_FOUND", "CAPABILITY_DENIED", "NOT_APPROVER", "NOT_FOUND", "NOT_WAITING"],
    handler: async (context) => {
      const { gateway, caller, params, body, members } = context;
      const service = gateway.services.executions;
      const { execution } = await service.getExecution({ executionId: params.id, userId: caller.user.id });
      if (!execution) throw executionNotFound();
      authorize(caller, "any", runCapability("workflow", execution.workflowSlug ?? ""));
      const { nodeId: node, decision: requestedDecision, comment: text } = body;
      const change = { nodeId: node, decision: requestedDecision, ...(text ? { comment: text } : {}), isChanged: body.value !== undefined };
      const decider = await deciderOf(gateway, caller, execution.waitingFor.find((waiting) => waiting.nodeId === node)?.approvers ?? []);
      const decided = await auditedForOwner(context, { action: "execution.decide", target: params.id, change }, async () => ({
        value: await service.decideExecution({
          ...{ executionId: params.id, userId: caller.user.id, nodeId: node, isApproved: requestedDecision === "approve" },
          ...{ valueJson: members().get("value"), comment: text },
          ...(caller.key ? { keyId: caller.key.id } : { personId: caller.person.id }),
          decider,
        }),
      }));
      const { nodeId, isApproved, decidedAt } = decided;
      const decisionFacts = { decidedBy: decidedByJson(decided), comment: decided.comment || null, decidedAt: iso(decidedAt) };
      return { status: 200, body: { nodeId, decision: isApproved ? "approve" : "reject", ...decisionFacts } };
    },
  }),
];
