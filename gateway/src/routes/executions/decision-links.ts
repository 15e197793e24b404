/** Decisions by mailed links, for approvers who needn't be signed in. The token in the body is the whole right. */
import { DomainError } from "@nodeloom/kernel";
import { decidedByJson } from "@nodeloom/platform";
import type { executions } from "@nodeloom/proto";
import { z } from "zod";
import { audited } from "../../edge/audit";
import type { Gateway } from "../../edge/gateway";
import { defineRoute } from "../../edge/route";
import { jsonBody } from "../../http/body/kinds";
import { raw } from "../../http/json";
import { iso, timestamp } from "../../http/schemas";
import { MAX_TOKEN_CHARS } from "../sign-in/fields";
import { comment, decision, DECISIONS } from "./decisions";

const STATES = ["waiting", "decided", "expired", "over"] as const;

const token = z.string().min(1).max(MAX_TOKEN_CHARS).meta({ description: "Follows `#token=` in the link" });
const readBody = z.strictObject({ token }).meta({ id: "DecisionLinkRequest" });
const decideBody = z.strictObject({ token, decision: z.enum(DECISIONS), comment: comment.optional() }).meta({ id: "LinkDecisionRequest" });

const linkView = z
  .object({
    state: z.enum(STATES).meta({
      description:
        "`waiting`: the link works. `decided`: the link is spent. `expired`: the time ran out. `over`: the run ended before a decision",
    }),
    address: z.string().meta({ description: "The approver to whom the link was mailed" }),
    title: z.string(),
    workflow: z.string().meta({ description: "Slug of the run's workflow" }),
    account: z
      .string()
      .nullable()
      .meta({ description: "Who asks: the organization's name, or a person's address. Null unless it is waiting" }),
    instructions: z.string().optional(),
    until: timestamp.nullable().meta({ description: "Time when `onTimeout` decides. Null unless it is waiting" }),
    onTimeout: z.enum(DECISIONS).optional(),
    value: z.unknown().meta({ description: "The value under review. Absent unless it is waiting" }),
    truncated: z.boolean().optional().meta({ description: "True if the value is too long to be shown here" }),
    decision: z.enum(DECISIONS).nullable().meta({ description: "Null until it is decided" }),
    decidedAt: timestamp.nullable(),
  })
  .meta({ id: "DecisionLink" });

/** Signs the files under review like those of a visitor: the addresses last for an hour. */
const shownValue = async ({ mediaUrls }: Gateway, ownerId: string, valueJson: string) =>
  valueJson === "" ? undefined : raw(await mediaUrls.leave(valueJson, { user: { id: ownerId }, visitor: true }));

type Link = executions.GetDecisionLinkResponse;

const linkJson = async (gateway: Gateway, { waiting, decision: decided, ...link }: Link): Promise<Record<string, unknown>> => ({
  ...{ state: link.state, address: link.address, title: link.title, workflow: link.workflowSlug },
  account: link.accountName || null,
  instructions: waiting?.instructions || undefined,
  until: iso(waiting?.until),
  onTimeout: waiting?.onTimeout,
  value: waiting && (await shownValue(gateway, link.ownerId, waiting.valueJson)),
  truncated: waiting?.truncated || undefined,
  decision: decided ? (decided.isApproved ? "approve" : "reject") : null,
  decidedAt: iso(decided?.at),
});

const ENDS: Readonly<Record<string, string>> = {
  decided: "this link is spent: the approval was decided",
  expired: "this link has expired: the time to decide ran out",
  over: "the run ended before the approval was decided",
};

const byLink = { method: "POST", tag: "Executions", auth: "none", role: "self", limit: "ip" } as const;

export const decisionLinkRoutes = [
  defineRoute({
    ...byLink,
    path: "/api/approvals/link",
    operationId: "readDecisionLink",
    summary: "Read the approval of a mailed link",
    description:
      "For the page of the link. You needn't be signed in. Reading decides nothing. Addresses of files last for an hour. If the address is no longer an approver's, the request gets `403 NOT_APPROVER`.",
    body: jsonBody(readBody),
    responses: { 200: linkView },
    errors: ["NOT_FOUND", "NOT_APPROVER"],
    handler: async ({ gateway, body }) => ({
      status: 200,
      body: await linkJson(gateway, await gateway.services.executions.getDecisionLink({ token: body.token })),
    }),
  }),
  defineRoute({
    ...byLink,
    path: "/api/approvals/link/decision",
    operationId: "decideByLink",
    summary: "Approve or reject by a mailed link",
    description: "You needn't be signed in. The first decision counts. It ends all links of the approval.",
    body: jsonBody(decideBody),
    responses: { 200: decision },
    errors: ["NOT_FOUND", "NOT_APPROVER", "NOT_WAITING"],
    handler: async (context) => {
      const { gateway, body } = context;
      const service = gateway.services.executions;
      const link = await service.getDecisionLink({ token: body.token });
      // Only an attempt that can succeed has an audit row, so that a spent link can't fill the log.
      if (link.state !== "waiting") throw new DomainError("conflict", "NOT_WAITING", ENDS[link.state] ?? ENDS.over!);
      const { executionId, ownerId, nodeId, address } = link;
      const { comment: text = "" } = body;
      const change = { nodeId, decision: body.decision, ...(text === "" ? {} : { comment: text }), byLink: true };
      const approver = { ...context, caller: { person: { id: address }, key: null } };
      const decided = await audited(approver, { action: "execution.decide", target: executionId, change, ownerId }, async () => {
        const answer = await service.decideByLink({ token: body.token, isApproved: body.decision === "approve", comment: text });
        if (!answer.decided) throw new Error("executions answered without a decision");
        return { value: answer.decided };
      });
      const facts = { decidedBy: decidedByJson(decided), comment: decided.comment || null, decidedAt: iso(decided.decidedAt) };
      return { status: 200, body: { nodeId, decision: body.decision, ...facts } };
    },
  }),
];
