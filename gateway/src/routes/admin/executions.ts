import { executions } from "@nodeloom/proto";
import { z } from "zod";
import { defineRoute } from "../../edge/route";
import { cursor, cursorPage, identifier, limit, listQuery, nextCursor, PAGES_END_EARLY } from "../../http/schemas";
import { execution, executionView, EXECUTION_STATUSES } from "../executions/view";
import { forAdmins } from "./shared";

export const adminExecutionRoutes = [
  defineRoute({
    ...forAdmins,
    method: "GET",
    path: "/api/admin/executions",
    operationId: "adminListExecutions",
    summary: "List every user's executions, newest first",
    description: PAGES_END_EARLY,
    query: listQuery(
      z.object({ userId: identifier.optional(), status: z.enum(EXECUTION_STATUSES).optional(), limit, cursor: cursor.optional() }),
    ),
    responses: { 200: cursorPage(execution.extend({ userId: z.string() }).meta({ id: "AdminExecution" })) },
    handler: async ({ gateway, query }) => {
      const page = await gateway.services.executions.listExecutions(executions.ListExecutionsRequest.fromPartial(query));
      const rows = page.executions.map((stored) => ({ ...executionView(stored), userId: stored.userId }));
      return { status: 200, body: { rows, nextCursor: nextCursor(page.nextCursor) } };
    },
  }),
];
