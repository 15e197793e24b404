import { LIMITS, RETENTION } from "@nodeloom/kernel";
import { z } from "zod";
import { defineRoute } from "../../edge/route";
import { cursor, cursorPage, idParams, iso, limit, listQuery, nextCursor, timestamp } from "../../http/schemas";
import { MANAGES_KEYS, mayChange } from "./rights";

/** The request log of a key. */

const row = z
  .object({
    at: timestamp.nullable(),
    method: z.string().meta({ example: "POST" }),
    route: z.string().meta({ description: "Template of the route, without parameters and query", example: "/api/workflows/:slug/run" }),
    status: z.number().int().meta({ example: 202 }),
    durationMs: z.number().int().meta({ description: "Until the end of the response, streams included" }),
    errorCode: z.string().nullable(),
    requestId: z.string().meta({ description: "The `X-Request-Id` of the response" }),
    executionId: z.string().nullable().meta({ description: "The run that the request started or concerned" }),
    ip: z.string().nullable(),
  })
  .meta({ id: "KeyRequest" });

const status = z
  .string()
  .regex(/^[1-5](?:xx|\d\d)$/, "must be a status, such as 404, or a class of statuses, such as 4xx")
  .meta({ description: "A status, or a class of statuses such as `4xx`", example: "4xx" });

const CLASS = 100;

const statusRange = (text: string | undefined): { leastStatus: number; mostStatus: number } => {
  if (text === undefined) return { leastStatus: 0, mostStatus: 0 };
  if (!text.endsWith("xx")) return { leastStatus: Number(text), mostStatus: Number(text) };
  const first = Number(text[0]) * CLASS;
  return { leastStatus: first, mostStatus: first + CLASS - 1 };
};

export const keyRequestsRoute = defineRoute({
  method: "GET",
  path: "/api/keys/:id/requests",
  operationId: "listKeyRequests",
  summary: "List the latest requests by an API key",
  description: `Newest first: the last ${LIMITS.keyRequests} requests of at most ${RETENTION.keyRequests.days} days, also of a deleted key. A request appears a few seconds after its response. Requests that fail before the key is known aren't listed. Queries, headers and bodies are never stored.`,
  tag: "Keys",
  auth: "session",
  keyCapability: MANAGES_KEYS,
  role: "editor",
  limit: "user",
  params: idParams("key"),
  query: listQuery(z.object({ status: status.optional(), limit, cursor: cursor.optional() })),
  responses: { 200: cursorPage(row).meta({ id: "KeyRequestPage" }) },
  errors: ["NOT_FOUND"],
  handler: async ({ gateway, caller, params, query }) => {
    const page = await gateway.services.identity.listKeyRequests({
      ...mayChange(caller),
      keyId: params.id,
      ...statusRange(query.status),
      limit: query.limit,
      cursor: query.cursor ?? "",
    });
    const rows = page.requests.map(({ at, method, route, status: code, durationMs, ...request }) => ({
      ...{ at: iso(at), method, route, status: code, durationMs, requestId: request.requestId },
      ...{ errorCode: request.errorCode || null, executionId: request.executionId || null, ip: request.ip || null },
    }));
    return { status: 200, body: { rows, nextCursor: nextCursor(page.nextCursor) } };
  },
});
