import { invalidRequest, LIMITS } from "@nodeloom/kernel";
import { z } from "zod";

const ID_CHARS = 200;
const MODELS_PER_RUN = 10_000;
const MAX_OFFSET = 1_000_000_000;

export const FINAL_STATUSES = ["completed", "failed", "cancelled"] as const;
export const STATUSES = ["processing", ...FINAL_STATUSES] as const;

const id = z.string().min(1).max(ID_CHARS);
const amount = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const sources = z.array(id).max(100);

const run = z.object({
  executionId: id,
  userId: id,
  /** Null for direct model runs. */
  workflowSlug: z.string().max(LIMITS.nameChars).nullable(),
  modelIds: z.array(id).max(MODELS_PER_RUN),
  source: id,
  startedAt: z.date(),
});

/** What each call of usage must look like. */
export const REQUESTS = {
  run,
  outcome: z.object({
    status: z.enum(FINAL_STATUSES),
    /** Wholesale, in micro-dollars. */
    costMicroUsd: amount,
    /** Paid, in micro-dollars. */
    userCostMicroUsd: amount,
    millicredits: amount,
    durationMs: amount,
    errorCode: z.string().max(ID_CHARS).nullable(),
    requestId: z.string().max(1_000).nullable(),
  }),
  rows: z.object({
    userId: id,
    status: z.enum(["", ...STATUSES]),
    modelId: z.string().max(ID_CHARS),
    workflowSlug: z.string().max(LIMITS.nameChars),
    sources,
    limit: z.number().int().min(0).max(LIMITS.usagePageRows),
    offset: z.number().int().min(0).max(MAX_OFFSET),
  }),
  modelNames: z.object({ userId: id, sources }),
} as const;

export type RunStart = z.infer<typeof REQUESTS.run>;
export type RunOutcome = z.infer<typeof REQUESTS.outcome>;
export type RowsQuery = z.infer<typeof REQUESTS.rows>;
export type ModelNamesQuery = z.infer<typeof REQUESTS.modelNames>;

/** @throws DomainError INVALID_REQUEST with every problem and where it is. */
export const checked = <T>(schema: z.ZodType<T>, request: unknown): T => {
  const parsed = schema.safeParse(request);
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message })));
};
