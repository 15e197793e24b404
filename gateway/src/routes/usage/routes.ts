import { LIMITS, toCredits, toUsd } from "@nodeloom/kernel";
import type { usage } from "@nodeloom/proto";
import { z } from "zod";
import { defineRoute } from "../../edge/route";
import { credits, iso, limit, listQuery, offset, timestamp } from "../../http/schemas";
import { usageSummaryRoute } from "./summary";

/** Runs from the editor don't count as API usage. */
const SOURCES = ["api-slim", "api-workflow"];

const usageRow = z
  .object({
    id: z.number(),
    executionId: z.string(),
    keyId: z.string().nullable(),
    userId: z.string(),
    workflowSlug: z.string().nullable(),
    modelIds: z.array(z.string()),
    status: z.enum(["processing", "completed", "failed", "cancelled"]),
    source: z.string(),
    cost: z.number().meta({ description: "Provider wholesale cost, USD" }),
    userCost: z.number().meta({ description: "Amount paid, USD, after tier markup" }),
    creditsCost: credits,
    durationMs: z.number(),
    errorCode: z.string().nullable(),
    requestId: z.string().nullable(),
    createdAt: timestamp.nullable(),
    metadata: z.record(z.string(), z.string()).optional().meta({ description: "The run's metadata; absent if it has none" }),
  })
  .meta({ id: "UsageRow" });

const rowView = (row: usage.UsageRow): z.infer<typeof usageRow> => ({
  id: row.id,
  executionId: row.executionId,
  keyId: row.keyId || null,
  userId: row.userId,
  workflowSlug: row.workflowSlug ?? null,
  modelIds: row.modelIds,
  status: row.status as z.infer<typeof usageRow>["status"],
  source: row.source,
  cost: toUsd(row.costMicroUsd),
  userCost: toUsd(row.userCostMicroUsd),
  creditsCost: toCredits(row.millicredits),
  durationMs: row.durationMs,
  errorCode: row.errorCode ?? null,
  requestId: row.requestId ?? null,
  createdAt: iso(row.createdAt),
  ...(Object.keys(row.metadata).length > 0 ? { metadata: row.metadata } : {}),
});

const filter = z.string().min(1).max(LIMITS.nameChars);
const readRoute = { method: "GET", tag: "Usage", auth: "any", role: "viewer", limit: "user" } as const;

export const usageRoutes = [
  usageSummaryRoute,
  defineRoute({
    ...readRoute,
    path: "/api/usage",
    operationId: "listUsage",
    summary: "List the caller's own API runs, newest first",
    query: listQuery(
      z.object({
        status: z.enum(["processing", "completed", "failed", "cancelled"]).optional(),
        modelId: filter.optional(),
        workflowSlug: filter.optional(),
        limit,
        offset,
      }),
    ),
    responses: {
      200: z.object({ rows: z.array(usageRow), page: z.number(), pageSize: z.number(), total: z.number() }).meta({ id: "UsagePage" }),
    },
    handler: async ({ gateway, caller, query }) => {
      const { rows, total } = await gateway.services.usage.listRows({
        userId: caller.user.id,
        status: query.status ?? "",
        modelId: query.modelId ?? "",
        workflowSlug: query.workflowSlug ?? "",
        limit: query.limit,
        offset: query.offset,
        sources: SOURCES,
      });
      const page = Math.floor(query.offset / query.limit) + 1;
      return { status: 200, body: { rows: rows.map(rowView), page, pageSize: query.limit, total } };
    },
  }),
  defineRoute({
    ...readRoute,
    path: "/api/usage/models",
    query: listQuery(),
    operationId: "listUsageModels",
    summary: "List the distinct models in the caller's own usage",
    responses: { 200: z.array(z.string()) },
    handler: async ({ gateway, caller }) => {
      const { names } = await gateway.services.usage.listModelNames({ userId: caller.user.id, sources: SOURCES });
      return { status: 200, body: names };
    },
  }),
];
