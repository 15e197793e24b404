import { createHash, randomUUID } from "node:crypto";
import { fromCredits, toCredits } from "@nodeloom/kernel";
import { billing, identity } from "@nodeloom/proto";
import { z } from "zod";
import { audited } from "./audit";
import { execution, executionView, EXECUTION_STATUSES } from "../executions/view";
import type { Services } from "../../clients";
import { modelNotFound } from "../../http/errors";
import { idempotencyKey } from "../../http/idempotency";
import { PAGE_DEFAULT } from "../../http/limits";
import { applyPlan } from "./plan-change";
import { defineRoute, type RouteDefinition } from "../../http/route";
import {
  credits,
  cursor,
  cursorPage,
  identifier,
  idParams,
  iso,
  limit,
  MIN_CREDITS,
  name,
  nextCursor,
  queryFlag,
  queryInteger,
  slug,
  tierId,
  timestamp,
  PAGES_END_EARLY,
} from "../../schemas";
import { adminUser, adminUserView, balances, balancesView } from "../identity/view";

const MAX_CREDITS = 1_000_000_000;
const MAX_RUNS = 1_000_000;
const MAX_NOTE_CHARS = 500;
const CHECK_DEADLINE_MS = 60_000;
const LEDGER_PAGE_MAX = 200;

const note = z.string().max(MAX_NOTE_CHARS).default("");
const amount = z.number().min(MIN_CREDITS).max(MAX_CREDITS);
const creditChange = z
  .discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("topup"), amount, note }),
    z.strictObject({ kind: z.literal("plan"), amount, note }),
    z.strictObject({ kind: z.literal("adjust"), amount: z.number().min(-MAX_CREDITS).max(MAX_CREDITS), note }),
    z.strictObject({ kind: z.literal("grant"), model: slug, runs: z.number().int().min(1).max(MAX_RUNS), note }),
  ])
  .meta({ id: "CreditChange" });

const ledgerRow = z
  .object({
    id: z.string(),
    kind: z.string(),
    credits: credits.meta({ description: "Signed change of available and held credits together" }),
    moved: credits.meta({ description: "Credits moved between available and held" }),
    executionId: z.string().nullable(),
    model: z.string().nullable(),
    runs: z.number().meta({ description: "Trial runs granted, used (negative) or given back" }),
    note: z.string(),
    createdAt: timestamp.nullable(),
  })
  .meta({ id: "LedgerRow" });

const ledgerCheck = z
  .object({
    ok: z.boolean(),
    accounts: z.number(),
    mismatches: z.array(
      z.object({
        userId: z.string(),
        what: z.string().meta({ description: "balance, held, holds, grant, rows, amount or account", example: "balance" }),
        model: z.string().nullable().meta({ description: "Of a grant" }),
        expected: z.number().meta({ description: "Recomputed from the ledger: credits, runs of a grant, or a number of rows" }),
        actual: z.number().meta({ description: "What the account says" }),
        ledgerCredits: credits.meta({ description: "Available and held credits together, by the ledger" }),
        accountCredits: credits.meta({ description: "Available and held credits together, by the account" }),
      }),
    ),
    staleHolds: z
      .array(z.object({ userId: z.string(), executionId: z.string(), credits, heldAt: timestamp.nullable() }))
      .meta({ description: "Credits that are held for longer than any run may take" }),
    nextCursor: z.string().nullable().meta({ description: "Where to go on when there was not time for every account" }),
  })
  .meta({ id: "LedgerCheck" });

const userChanges = z
  .strictObject({
    approved: z.boolean().optional(),
    tier: tierId.optional(),
    role: z.enum(["user", "admin"]).optional(),
    business: z
      .strictObject({ name: name.meta({ example: "Loom Works Ltd" }), verified: z.boolean() })
      .nullable()
      .optional()
      .meta({ description: "Null: the account is for no business any more" }),
  })
  .refine((changes) => Object.keys(changes).length > 0, "give at least one of approved, tier, role, business")
  .meta({ id: "UserChanges", override: { minProperties: 1 } });

const CREDIT_KINDS = {
  topup: billing.CreditKind.CREDIT_KIND_TOPUP,
  plan: billing.CreditKind.CREDIT_KIND_PLAN,
  adjust: billing.CreditKind.CREDIT_KIND_ADJUST,
  grant: billing.CreditKind.CREDIT_KIND_GRANT,
} as const;

const creditRequest = (userId: string, change: z.infer<typeof creditChange>, reference: string): billing.CreditRequest =>
  billing.CreditRequest.fromPartial({
    userId,
    kind: CREDIT_KINDS[change.kind],
    note: change.note,
    reference,
    ...(change.kind === "grant" ? { model: change.model, runs: change.runs } : { millicredits: fromCredits(change.amount) }),
  });

/** A client's key as billing's name of a movement: of one length, whatever the key's. */
const referenceOf = (key: string): string => createHash("sha256").update(key).digest("base64url");

const ledgerRowView = (row: billing.LedgerRow): z.infer<typeof ledgerRow> => ({
  id: row.id,
  kind: row.kind,
  credits: toCredits(row.millicredits),
  moved: toCredits(row.movedMillicredits),
  executionId: row.executionId || null,
  model: row.model || null,
  runs: row.runs,
  note: row.note,
  createdAt: iso(row.createdAt),
});

/** A grant for a model that does not exist would never be used. One that is switched off may come back. */
const requireModel = async (service: Services["models"], internalName: string): Promise<void> => {
  const { models } = await service.listModels({ includeDisabled: true });
  if (!models.some((model) => model.internalName === internalName)) throw modelNotFound(internalName);
};

const COUNTED = new Set(["grant", "rows"]);

const ledgerCheckView = (checked: billing.CheckLedgerResponse): z.infer<typeof ledgerCheck> => ({
  ok: checked.ok,
  accounts: checked.accounts,
  mismatches: checked.mismatches.map(({ userId, what, model, expected, actual, ledgerMillicredits, accountMillicredits }) => ({
    userId,
    what,
    model: model || null,
    expected: COUNTED.has(what) ? expected : toCredits(expected),
    actual: COUNTED.has(what) ? actual : toCredits(actual),
    ledgerCredits: toCredits(ledgerMillicredits),
    accountCredits: toCredits(accountMillicredits),
  })),
  staleHolds: checked.staleHolds.map(({ userId, executionId, millicredits, heldAt }) => ({
    userId,
    executionId,
    credits: toCredits(millicredits),
    heldAt: iso(heldAt),
  })),
  nextCursor: nextCursor(checked.nextCursor),
});

const shared = { tag: "Admin", auth: "admin", limit: "user" } as const satisfies Partial<RouteDefinition<"admin">>;
const ofUser = { ...shared, params: idParams("user"), errors: ["NOT_FOUND"] } as const;

export const adminUserRoutes = [
  defineRoute({
    ...shared,
    method: "GET",
    path: "/api/admin/users",
    operationId: "adminListUsers",
    summary: "List users",
    query: z.object({ approved: queryFlag.optional(), q: identifier.optional(), limit, cursor: cursor.optional() }),
    responses: { 200: cursorPage(adminUser) },
    handler: async ({ gateway, query }) => {
      const page = await gateway.services.identity.listUsers({
        approved: query.approved,
        query: query.q ?? "",
        limit: query.limit,
        cursor: query.cursor ?? "",
      });
      return { status: 200, body: { rows: page.users.map(adminUserView), nextCursor: nextCursor(page.nextCursor) } };
    },
  }),
  defineRoute({
    ...ofUser,
    method: "PATCH",
    path: "/api/admin/users/:id",
    operationId: "adminUpdateUser",
    summary: "Approve a user, or change the tier, the role or the business",
    description: "Approval gives the credits of the tier. Sending the same change again completes one that was interrupted.",
    body: userChanges,
    responses: { 200: adminUser },
    example: { approved: true, tier: "pro" },
    handler: async (context) => {
      const { gateway, params, body } = context;
      const { identity: service } = gateway.services;
      const known = (await service.getUser({ userId: params.id })).user;
      const action = { action: "user.update", target: params.id, change: body, before: known && adminUserView(known) };
      const changed = await audited(context, action, async () => {
        const { user, before } = await service.updateUser(
          identity.UpdateUserRequest.fromPartial({
            userId: params.id,
            approved: body.approved,
            tier: body.tier,
            role: body.role,
            ...(body.business === undefined ? {} : { business: { business: body.business ?? undefined } }),
          }),
        );
        if (!user || !before) throw new Error("identity answered without a user");
        return { value: { user, before }, before: adminUserView(before), after: adminUserView(user) };
      });
      if (body.approved !== undefined || body.tier !== undefined) await applyPlan(gateway.services, changed.before, changed.user);
      return { status: 200, body: adminUserView(changed.user) };
    },
  }),
  defineRoute({
    ...ofUser,
    method: "GET",
    path: "/api/admin/users/:id/ledger",
    operationId: "adminListLedger",
    summary: "List the movements of an account, newest first",
    query: z.object({ limit: queryInteger(1, LEDGER_PAGE_MAX, PAGE_DEFAULT), cursor: cursor.optional() }),
    responses: { 200: cursorPage(ledgerRow) },
    handler: async ({ gateway, params, query }) => {
      await gateway.services.identity.getUser({ userId: params.id });
      const page = await gateway.services.billing.listLedger({ userId: params.id, limit: query.limit, cursor: query.cursor ?? "" });
      return { status: 200, body: { rows: page.rows.map(ledgerRowView), nextCursor: nextCursor(page.nextCursor) } };
    },
  }),
  defineRoute({
    ...ofUser,
    method: "POST",
    path: "/api/admin/users/:id/credits",
    operationId: "adminCreditUser",
    summary: "Add or adjust credits, or grant trial runs",
    idempotent: "once",
    body: creditChange,
    responses: { 200: z.object({ userId: z.string(), credits: balances }).meta({ id: "AccountBalances" }) },
    errors: ["NOT_FOUND", "MODEL_NOT_FOUND"],
    example: { kind: "topup", amount: 500, note: "Invoice 2026-014" },
    handler: async (context) => {
      const { gateway, params, body, request } = context;
      const key = idempotencyKey(request.headers["idempotency-key"]);
      const reference = key && referenceOf(key);
      const { billing: service, identity: users } = gateway.services;
      if (body.kind === "grant") await requireModel(gateway.services.models, body.model);
      const [{ account: before }] = await Promise.all([service.getAccount({ userId: params.id }), users.getUser({ userId: params.id })]);
      const action = { action: "user.credit", target: params.id, change: body, before: balancesView(before), reference };
      const credits = await audited(context, action, async () => {
        const { account } = await service.credit(creditRequest(params.id, body, reference ?? randomUUID()));
        return { value: balancesView(account), after: balancesView(account) };
      });
      return { status: 200, body: { userId: params.id, credits } };
    },
  }),
  defineRoute({
    ...shared,
    method: "GET",
    path: "/api/admin/ledger/check",
    operationId: "adminCheckLedger",
    summary: "Check that every account agrees with its ledger",
    description:
      "Recomputes every account from its ledger. `ok` is true when all were checked and all agree; an account that disagrees is there once for each thing that does. Takes at most a minute: after that, `nextCursor` says where to go on.",
    query: z.object({ cursor: identifier.optional() }),
    responses: { 200: ledgerCheck },
    handler: async ({ gateway, query }) => {
      const checked = await gateway.services.billing.checkLedger({ cursor: query.cursor ?? "" }, { deadlineMs: CHECK_DEADLINE_MS });
      return { status: 200, body: ledgerCheckView(checked) };
    },
  }),
  defineRoute({
    ...shared,
    method: "GET",
    path: "/api/admin/executions",
    operationId: "adminListExecutions",
    summary: "List every user's executions, newest first",
    description: PAGES_END_EARLY,
    query: z.object({ userId: identifier.optional(), status: z.enum(EXECUTION_STATUSES).optional(), limit, cursor: cursor.optional() }),
    responses: { 200: cursorPage(execution.extend({ userId: z.string() }).meta({ id: "AdminExecution" })) },
    handler: async ({ gateway, query }) => {
      const page = await gateway.services.executions.listExecutions({
        userId: query.userId ?? "",
        status: query.status ?? "",
        workflowSlug: "",
        limit: query.limit,
        cursor: query.cursor ?? "",
        metadata: {},
      });
      const rows = page.executions.map((stored) => ({ ...executionView(stored), userId: stored.userId }));
      return { status: 200, body: { rows, nextCursor: nextCursor(page.nextCursor) } };
    },
  }),
];
