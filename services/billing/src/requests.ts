import { BUDGET_BOUNDS, BUDGET_WINDOWS, CAPS, DEFAULT_BUDGET_VALUE, invalidRequest, MOVEMENT_KINDS, RUN_METADATA } from "@nodeloom/kernel";
import { z } from "zod";
import { BILLING_LIMITS as LIMITS } from "./limits";

const id = z.string().min(1).max(LIMITS.idChars);
const millicredits = z.number().int().min(0).max(LIMITS.movementMillicredits);
const runs = z.number().int().min(1).max(LIMITS.grantRuns);
const positive = millicredits.min(1);

/** A list of items with unique names. */
const uniqueBy = <T extends z.ZodObject>(item: T, name: keyof z.infer<T> & string, max: number) =>
  z
    .array(item)
    .max(max)
    .superRefine((items, context) => {
      const visited = new Set<unknown>();
      items.forEach((entry, index) => {
        const value = (entry as Record<string, unknown>)[name];
        if (visited.has(value)) context.addIssue({ code: "custom", path: [index, name], message: "is there twice" });
        visited.add(value);
      });
    });

const holdItems = uniqueBy(
  z.object({
    key: z.string().min(1).max(LIMITS.keyChars),
    model: z.string().max(LIMITS.idChars),
    maxMillicredits: millicredits,
    alternativeTo: z.string().max(LIMITS.keyChars).optional(),
  }),
  "key",
  LIMITS.itemsPerHold,
);

const text = z.string().max(LIMITS.idChars);
const metadataName = z.string().min(1).max(RUN_METADATA.nameChars);
const metadataValue = z.string().max(RUN_METADATA.valueChars);
const subject = z
  .object({
    keyId: text,
    workflowSlug: text,
    metadata: z
      .record(metadataName, metadataValue)
      .refine((metadata) => Object.keys(metadata).length <= RUN_METADATA.entries, `may have at most ${RUN_METADATA.entries} members`),
  })
  .optional();
const scope = z.union([
  z.object({ type: z.enum(["key", "workflow"]), name: z.literal(""), value: id }),
  z.object({ type: z.literal("metadata"), name: metadataName, value: metadataValue }),
]);
/** In thousandths of the limit. */
const threshold = z.number().int().min(1).max(1_000);

const amount = <K extends string>(kind: K, schema: z.ZodNumber) => z.object({ kind: z.literal(kind), millicredits: schema });

export const REQUESTS = {
  account: z.object({ userId: id }),
  quote: z.object({ userId: id, items: holdItems }),
  hold: z.object({
    userId: id,
    executionId: id,
    items: holdItems,
    maxActive: z.number().int().min(0),
    maxMillicredits: millicredits.optional(),
    subject,
  }),
  extend: z.object({ userId: id, executionId: id, items: holdItems, maxMillicredits: millicredits.optional(), subject }),
  settle: z.object({
    userId: id,
    executionId: id,
    items: uniqueBy(
      z.object({ key: z.string().min(1), captureMillicredits: millicredits, consumeGrant: z.boolean() }),
      "key",
      LIMITS.itemsPerHold,
    ),
    captureAll: z.boolean(),
  }),
  setPlan: z.object({
    userId: id,
    tier: id,
    monthlyMillicredits: millicredits,
    trials: uniqueBy(z.object({ model: id, runs: runs.min(0) }), "model", LIMITS.trialGrants),
    reference: id,
    unlessSet: z.boolean().optional(),
    userRevision: z.number().int().min(0).optional(),
  }),
  setMonthlyCredits: z.object({ userId: id, tier: id, monthlyMillicredits: millicredits }),
  credit: z.object({
    userId: id,
    credit: z.discriminatedUnion("kind", [
      amount("topup", positive),
      amount("plan", positive),
      amount("adjust", z.number().int().min(-LIMITS.movementMillicredits).max(LIMITS.movementMillicredits)),
      z.object({ kind: z.literal("grant"), model: id, runs }),
    ]),
    note: z.string().max(LIMITS.noteChars),
    reference: id,
  }),
  setBudget: z
    .object({
      userId: id,
      scope,
      millicredits,
      window: z.enum(BUDGET_WINDOWS),
      alertAt: z.array(threshold).max(BUDGET_BOUNDS.alerts),
      maxBudgets: z.number().int().min(1).max(CAPS.budgets.ceiling).optional(),
    })
    .refine(({ scope: { type, value }, alertAt }) => alertAt.length === 0 || type !== "metadata" || value !== DEFAULT_BUDGET_VALUE, {
      path: ["alertAt"],
      message: "must be empty for a default budget, which has no alerts",
    }),
  removeBudget: z.object({ userId: id, budget: z.union([z.object({ id }), z.object({ scope })]) }),
  budgets: z.object({ userId: id, of: z.object({ name: metadataName, value: metadataValue }).optional() }),
  budgetAlerts: z.object({ cursor: text }),
  takeAlerts: z.object({ userId: id, ids: z.array(z.string().min(1).max(LIMITS.idChars)).max(LIMITS.pendingAlerts) }),
  renewDue: z.object({
    limit: z.number().int().min(0).max(LIMITS.renewalPageAccounts),
    cursor: z
      .string()
      .regex(/^$|^\d{1,15}:./su, "doesn't belong to this list: send the nextCursor of its last page")
      .max(LIMITS.idChars + 16),
  }),
  openHolds: z.object({
    olderThanMs: z.number().int().min(0),
    limit: z.number().int().min(0).max(LIMITS.holdPageAccounts),
    cursor: z.string().max(LIMITS.idChars),
  }),
  check: z.object({ cursor: z.string().max(LIMITS.idChars), full: z.boolean().optional() }),
  ledger: z.object({
    userId: id,
    limit: z.number().int().min(0).max(LIMITS.ledgerPageRows),
    cursor: z.string().regex(/^\d{0,15}$/, "doesn't belong to this list: send the nextCursor of its last page"),
    kind: z.enum(MOVEMENT_KINDS).optional(),
  }),
} as const;

export type RequestOf<K extends keyof typeof REQUESTS> = z.infer<(typeof REQUESTS)[K]>;

/** @throws DomainError INVALID_REQUEST with every problem */
export const checked = <K extends keyof typeof REQUESTS>(kind: K, request: RequestOf<K>): RequestOf<K> => {
  const parsed = REQUESTS[kind].safeParse(request);
  if (parsed.success) return request;
  throw invalidRequest(parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message })));
};
