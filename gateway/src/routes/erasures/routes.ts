/** Erasures of many runs. */
import { randomUUID } from "node:crypto";
import { ERASURE_BOUNDS, invalidRequest, RUN_METADATA } from "@nodeloom/kernel";
import { erasures as proto } from "@nodeloom/proto";
import { z } from "zod";
import { auditedForOwner } from "../../edge/audit";
import { markReplayed } from "../../edge/lease";
import { defineRoute, type RouteDefinition } from "../../edge/route";
import { jsonBody } from "../../http/body/kinds";
import { cursor, cursorPage, idParams, iso, limit, listQuery, nextCursor, slug, timestamp, uuid } from "../../http/schemas";
import { metadataName } from "../runs/schemas";

const ACCEPTED = 202;
/** Counting the runs of a large account takes longer than other calls. */
const CREATE_MS = 30_000;

const erasureOrder = z
  .strictObject({
    executions: z.array(uuid).min(1).max(ERASURE_BOUNDS.executions).optional(),
    metadata: z.strictObject({ name: metadataName, value: z.string().max(RUN_METADATA.valueChars) }).optional(),
    workflow: slug.optional(),
    before: z.iso
      .datetime({ offset: true })
      .optional()
      .meta({ description: "Only executions created before this time. Default: now", example: "2026-05-04T12:00:00.000Z" }),
    dryRun: z.boolean().optional().meta({ description: "Returns only the counts" }),
  })
  .meta({ id: "ErasureOrder", description: "Exactly one of `executions`, `metadata` and `workflow`" });

const notReached = z
  .array(z.literal("providers"))
  .meta({ description: "Places that can still have copies: providers delete data by their own rules" });
const created = z
  .object({
    erasureId: uuid.nullable().meta({ description: "`null` for a dry run" }),
    matched: z.int().meta({ description: "Executions that match now" }),
    notReached,
  })
  .meta({ id: "CreatedErasure" });
const ids = (what: string) => z.array(z.string()).meta({ description: `Ids of ${what}. They aren't changed.` });
const erasure = z
  .object({
    erasureId: uuid,
    state: z.enum(["running", "completed"]),
    by: z.enum(["executions", "metadata", "workflow"]),
    metadataName: z.string().nullable().meta({ description: "The value isn't stored after the erasure" }),
    before: timestamp,
    matched: z.int().meta({ description: "Executions that matched when it was created" }),
    erased: z.int().meta({ description: "Number that are removed with their data" }),
    remaining: z.int().meta({
      description: "Executions that are under way or whose data is still being removed, and, by metadata, batches that aren't removed yet",
    }),
    schedules: ids("schedules whose runs carry the value"),
    hooks: ids("hooks whose runs carry the value"),
    keys: ids("API keys that fix the value"),
    notReached,
    createdAt: timestamp,
    finishedAt: timestamp.nullable(),
  })
  .meta({ id: "Erasure" });

type Order = z.infer<typeof erasureOrder>;
const NOT_REACHED = ["providers"];

const byOf = ({ executions, metadata, workflow }: Order): proto.CreateErasureRequest["by"] => {
  if ([executions, metadata, workflow].filter((kind) => kind !== undefined).length !== 1)
    throw invalidRequest([{ path: "", message: "send exactly one of executions, metadata, workflow" }]);
  if (executions) return { $case: "executions", value: { ids: executions } };
  return metadata ? { $case: "metadata", value: metadata } : { $case: "workflowSlug", value: workflow ?? "" };
};

/** Omits ids and values, because audit rows outlive erased runs. */
const audited = ({ executions, metadata, workflow, before }: Order) => ({
  ...(executions ? { executions: executions.length } : {}),
  ...(metadata ? { metadata: { name: metadata.name } } : {}),
  ...(workflow ? { workflow } : {}),
  ...(before ? { before } : {}),
});

const erasureJson = ({ before, createdAt, finishedAt, metadataName: field, ...rest }: proto.Erasure): Record<string, unknown> => {
  const times = { before: iso(before), createdAt: iso(createdAt), finishedAt: iso(finishedAt) };
  return { ...rest, ...times, metadataName: field || null, notReached: NOT_REACHED };
};

const shared = { tag: "Executions", auth: "any", role: "owner", capability: "erasure:write", limit: "user" } as const satisfies Partial<
  RouteDefinition<"any">
>;

export const erasureRoutes = [
  defineRoute({
    ...shared,
    method: "POST",
    path: "/api/erasures",
    operationId: "createErasure",
    summary: "Erase executions by id, metadata or workflow",
    description:
      "Removes all matching executions as `DELETE /api/executions/{id}` does. Executions that are under way are removed within 10 minutes of their end. By metadata it also removes kept files, batches, the budget of the value, and the value in usage and audit rows. An owner's session, or a key with `erasure:write`; a key with fixed metadata matches only executions that carry it. At most 20 erasures run at once.",
    idempotent: "rebuild",
    body: jsonBody(erasureOrder),
    responses: { [ACCEPTED]: created },
    errors: ["CONCURRENCY_LIMIT_EXCEEDED"],
    example: { metadata: { name: "customer", value: "acme" } },
    handler: async (context) => {
      const { gateway, caller, body, executionId, fingerprint, response } = context;
      const { before, dryRun = false } = body;
      const erasureId = executionId || randomUUID();
      const request = proto.CreateErasureRequest.fromPartial({
        ...{ erasureId, userId: caller.user.id, by: byOf(body), dryRun, within: caller.key?.metadata ?? {}, fingerprint },
        ...(before === undefined ? {} : { before: new Date(before) }),
      });
      const create = () => gateway.services.erasures.createErasure(request, { deadlineMs: CREATE_MS });
      if (dryRun) return { status: ACCEPTED, body: { erasureId: null, matched: (await create()).matched, notReached: NOT_REACHED } };
      const action = { action: "erasure.create", target: erasureId, change: audited(body), reference: fingerprint || undefined };
      const { matched, replayed } = await auditedForOwner(context, action, async () => {
        const value = await create();
        return { value, after: { matched: value.matched } };
      });
      if (replayed) markReplayed(response);
      return { status: ACCEPTED, body: { erasureId, matched, notReached: NOT_REACHED } };
    },
  }),
  defineRoute({
    ...shared,
    method: "GET",
    path: "/api/erasures",
    operationId: "listErasures",
    summary: "List erasures, newest first",
    description: "Completed erasures are listed for 90 days. A key with fixed metadata lists only erasures by keys that fix it.",
    query: listQuery(z.object({ limit, cursor: cursor.optional() })),
    responses: { 200: cursorPage(erasure) },
    handler: async ({ gateway, caller, query }) => {
      const within = caller.key?.metadata ?? {};
      const request = { userId: caller.user.id, within, limit: query.limit, cursor: query.cursor ?? "" };
      const { erasures, nextCursor: next } = await gateway.services.erasures.listErasures(request);
      return { status: 200, body: { rows: erasures.map(erasureJson), nextCursor: nextCursor(next) } };
    },
  }),
  defineRoute({
    ...shared,
    method: "GET",
    path: "/api/erasures/:id",
    operationId: "getErasure",
    summary: "The progress of an erasure",
    description: "A completed erasure can be read for 90 days.",
    params: idParams("erasure"),
    responses: { 200: erasure },
    errors: ["NOT_FOUND"],
    handler: async ({ gateway, caller, params }) => {
      const within = caller.key?.metadata ?? {};
      const { erasure: request } = await gateway.services.erasures.getErasure({ erasureId: params.id, userId: caller.user.id, within });
      if (!request) throw new Error("executions answered without an erasure");
      return { status: 200, body: erasureJson(request) };
    },
  }),
];
