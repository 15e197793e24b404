import { didYouMean } from "@nodeloom/kernel";
import { z } from "zod";
import { asVisitorSees, ownOnly } from "../../apps/executions";
import { defineRoute } from "../../edge/route";
import { cursor, cursorPage, limit, listQuery, nextCursor, PAGES_END_EARLY, queryFlag, slug, uuid } from "../../http/schemas";
import { createdAtOf } from "../workflows/readable";
import { execution, EXECUTION_STATUSES, executionView } from "./view";

const METADATA_PREFIX = "metadata.";
const moment = z.iso.datetime({ offset: true }).optional();
const namedFilters = z.object({
  status: z.enum(EXECUTION_STATUSES).optional(),
  workflowSlug: slug.optional(),
  batchId: uuid.optional().meta({ description: "Only items of this batch. Without it, only executions that aren't items of a batch" }),
  createdAfter: moment.meta({ description: "Only executions created at or after this time", example: "2026-05-04T12:00:00Z" }),
  createdBefore: moment.meta({ description: "Only executions created before this time", example: "2026-05-05T12:00:00Z" }),
  waiting: queryFlag.optional().meta({ description: "`true`: only executions that wait for a decision" }),
  limit,
  cursor: cursor.optional(),
});
const filters = namedFilters.catchall(z.string()).superRefine((query, context) => {
  for (const path of Object.keys(query)) {
    // No run has metadata with a NUL character or with this name.
    const isOfMetadata = path.startsWith(METADATA_PREFIX) && !path.includes("\0") && path !== `${METADATA_PREFIX}__proto__`;
    if (Object.hasOwn(namedFilters.shape, path) || isOfMetadata) continue;
    context.addIssue({ code: "custom", path: [path], message: `is not known${didYouMean(path, Object.keys(namedFilters.shape))}` });
  }
});

/** `metadata.<name>=<value>`: runs with all of these pairs. */
const metadataFilter = (query: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      name.startsWith(METADATA_PREFIX) ? [[name.slice(METADATA_PREFIX.length), String(value)]] : [],
    ),
  );

const latest = (...dates: readonly (Date | undefined)[]): Date | undefined =>
  dates.reduce((one, other) => (one === undefined || (other !== undefined && other > one) ? other : one));
const dateOf = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text));

export const listExecutionsRoute = defineRoute({
  method: "GET",
  path: "/api/executions",
  operationId: "listExecutions",
  summary: "List the caller's executions, newest first",
  description: PAGES_END_EARLY,
  tag: "Executions",
  auth: "any",
  role: "viewer",
  capability: "execution:read",
  limit: "user",
  query: listQuery(filters),
  responses: { 200: cursorPage(execution) },
  app: "visitors",
  handler: async (context) => {
    const { gateway, caller, query } = context;
    const { visitor } = caller;
    const workflowSlug = visitor?.slug ?? query.workflowSlug ?? "";
    const workflowSince = workflowSlug === "" ? undefined : await createdAtOf(context, workflowSlug);
    const page = await gateway.services.executions.listExecutions({
      userId: caller.user.id,
      status: query.status ?? "",
      workflowSlug,
      batchId: query.batchId ?? "",
      limit: query.limit,
      cursor: query.cursor ?? "",
      metadata: metadataFilter(query),
      createdAfter: latest(dateOf(query.createdAfter), workflowSince),
      createdBefore: dateOf(query.createdBefore),
      waiting: query.waiting === true,
      ...(visitor ? ownOnly(query, visitor) : {}),
    });
    const rows = visitor ? page.executions.map((each) => asVisitorSees(each, visitor)) : page.executions;
    return { status: 200, body: { rows: rows.map(executionView), nextCursor: nextCursor(page.nextCursor) } };
  },
});
