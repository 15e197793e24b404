import { executions } from "@nodeloom/proto";
import { z } from "zod";
import { defineRoute } from "../../edge/route";
import { cursor, cursorPage, identifier, iso, limit, listQuery, nextCursor, PAGES_END_EARLY, timestamp } from "../../http/schemas";
import { forAdmins } from "./shared";

const moderationRow = z
  .object({
    id: z.string().meta({ description: "As the hook was asked" }),
    at: timestamp.nullable(),
    userId: z.string(),
    executionId: z.string().meta({ description: "What is refused before it begins has no execution" }),
    workflowSlug: z.string().nullable().meta({ description: "Of what a run of a workflow is given" }),
    nodeId: z.string().nullable().meta({ description: "Null for what a run is given" }),
    model: z.string().nullable(),
    kind: z.enum(["input", "output"]),
    decision: z.enum(["refuse", "unchecked"]).meta({ description: "`unchecked`: the hook was away, and this was let through" }),
    reason: z.string().nullable().meta({ description: "The hook's code" }),
    message: z.string().nullable().meta({ description: "The hook's sentence" }),
    policy: z.string().nullable().meta({ description: "What the hook decided by" }),
    texts: z.number().int().meta({ description: "How many the hook was shown; they are not kept" }),
    files: z.number().int(),
  })
  .meta({ id: "ModerationRow" });

const view = (row: executions.ModerationRow): Record<string, unknown> => ({
  ...row,
  at: iso(row.at),
  workflowSlug: row.workflowSlug || null,
  nodeId: row.nodeId || null,
  model: row.model || null,
  reason: row.reason || null,
  message: row.message || null,
  policy: row.policy || null,
});

export const adminModerationRoutes = [
  defineRoute({
    ...forAdmins,
    method: "GET",
    path: "/api/admin/moderation",
    operationId: "adminListModeration",
    summary: "List what the moderation hook refused, newest first",
    description: `With what was let through unchecked while it was away. ${PAGES_END_EARLY}`,
    query: listQuery(z.object({ userId: identifier.optional(), limit, cursor: cursor.optional() })),
    responses: {
      200: cursorPage(moderationRow).extend({
        configured: z.boolean().meta({ description: "Whether this installation has a moderation hook" }),
      }),
    },
    handler: async ({ gateway, query }) => {
      const page = await gateway.services.executions.listModeration(executions.ListModerationRequest.fromPartial(query));
      return {
        status: 200,
        body: { configured: page.configured, rows: page.rows.map(view), nextCursor: nextCursor(page.nextCursor) },
      };
    },
  }),
];
