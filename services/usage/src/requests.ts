import { invalidRequest, LIMITS, RUN_METADATA } from "@nodeloom/kernel";
import { z } from "zod";

const ID_CHARS = 200;
const MODELS_PER_RUN = 10_000;
const MAX_OFFSET = 1_000_000_000;

export const FINAL_STATUSES = ["completed", "failed", "cancelled"] as const;
export const STATUSES = ["processing", ...FINAL_STATUSES] as const;

/** Names of counters. Dots and dollar signs are special in MongoDB. */
const SOURCE = /^[a-z0-9-]+$/;

const id = z.string().min(1).max(ID_CHARS);
const amount = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const source = z.string().max(ID_CHARS).regex(SOURCE);
const sources = z.array(source).max(100);

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MS_PER_DAY = 24 * 60 * 60 * 1_000;

const metadata = z
  .record(z.string().min(1).max(RUN_METADATA.nameChars), z.string().max(RUN_METADATA.valueChars))
  .refine((texts) => Object.keys(texts).length <= RUN_METADATA.entries, `must have at most ${RUN_METADATA.entries} members`);
const day = z.string().regex(DAY, "must be YYYY-MM-DD");

const run = z.object({
  executionId: id,
  userId: id,
  /** Null for direct model runs. */
  workflowSlug: z.string().max(LIMITS.nameChars).nullable(),
  modelIds: z.array(id).max(MODELS_PER_RUN),
  source,
  startedAt: z.date(),
  /** Metadata set by the caller. */
  metadata,
  /** API key that submitted the run; empty for a session. */
  keyId: z.string().max(ID_CHARS).optional(),
});

const isWithinRange = ({ fromDay, toDay }: { fromDay: string; toDay: string }): boolean =>
  Date.parse(toDay) - Date.parse(fromDay) < LIMITS.usageSummaryDays * MS_PER_DAY;
const TOO_LONG = { path: ["toDay"], message: `must be less than ${LIMITS.usageSummaryDays} days after fromDay` };

export const REQUESTS = {
  run,
  outcome: z.object({
    status: z.enum(FINAL_STATUSES),
    /** Wholesale price. */
    costMicroUsd: amount,
    /** Price for the user. */
    userCostMicroUsd: amount,
    millicredits: amount,
    durationMs: amount,
    errorCode: z.string().max(ID_CHARS).nullable(),
    requestId: z.string().max(1_000).nullable(),
    /** `millicredits` for each model; empty if unknown. */
    modelCredits: z.array(z.object({ model: id, millicredits: amount })).max(MODELS_PER_RUN),
    /** Expected `millicredits`; absent if unknown. */
    estimatedMillicredits: amount.optional(),
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
  quoteError: z.object({ userId: id, workflowSlug: z.string().min(1).max(LIMITS.nameChars) }),
  dailySums: z.object({ userId: id, fromDay: day, toDay: day, sources }).refine(isWithinRange, TOO_LONG),
  groupSums: z
    .object({
      userId: id,
      fromDay: day,
      toDay: day,
      sources,
      by: z.enum(["key", "workflow", "metadata"]),
      name: z.string().max(RUN_METADATA.nameChars),
    })
    .refine(isWithinRange, TOO_LONG),
} as const;

export type RunStart = z.infer<typeof REQUESTS.run>;
export type RunOutcome = z.infer<typeof REQUESTS.outcome>;
export type RowsQuery = z.infer<typeof REQUESTS.rows>;
export type GroupSumsQuery = z.infer<typeof REQUESTS.groupSums>;
export type DailySumsQuery = z.infer<typeof REQUESTS.dailySums>;
export type QuoteErrorQuery = z.infer<typeof REQUESTS.quoteError>;
export type ModelNamesQuery = z.infer<typeof REQUESTS.modelNames>;

/** @throws DomainError INVALID_REQUEST with every problem */
export const checked = <T>(schema: z.ZodType<T>, request: unknown): T => {
  const parsed = schema.safeParse(request);
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message })));
};
