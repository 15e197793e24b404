import { createHash, randomUUID } from "node:crypto";
import { executionOf, fromCredits, toCredits } from "@nodeloom/kernel";
import { billing } from "@nodeloom/proto";
import { z } from "zod";
import type { Services } from "../../clients/services";
import type { Gateway } from "../../edge/gateway";
import { modelNotFound, notFound } from "../../http/errors";
import { idempotencyKey } from "../../edge/idempotency";
import { defineRoute, type CallContext } from "../../edge/route";
import { credits, identifier, iso, listQuery, MAX_CREDITS, MIN_CREDITS, nextCursor, slug, timestamp } from "../../http/schemas";
import { ledgerPage, ledgerQuery, ledgerRowView } from "../identity/ledger";
import { balances, balancesView } from "../identity/view";
import { audited } from "../../edge/audit";
import { findUser, forAdmins, ofUser, requirePerson } from "./shared";
import { jsonBody } from "../../http/body/kinds";

const MAX_RUNS = 1_000_000;
const MAX_NOTE_CHARS = 500;
const CHECK_DEADLINE_MS = 60_000;

const creditNote = z
  .string()
  .max(MAX_NOTE_CHARS)
  .default("")
  .meta({ description: "The owner of the account sees it in `GET /api/me/ledger`" });
const creditAmount = z.number().min(MIN_CREDITS).max(MAX_CREDITS);

export const topup = z.strictObject({ kind: z.literal("topup"), amount: creditAmount, note: creditNote });
export const adjust = z.strictObject({
  kind: z.literal("adjust"),
  amount: z.number().min(-MAX_CREDITS).max(MAX_CREDITS),
  note: creditNote,
});
const creditChange = z
  .discriminatedUnion("kind", [
    topup,
    z.strictObject({ kind: z.literal("plan"), amount: creditAmount, note: creditNote }),
    adjust,
    z.strictObject({ kind: z.literal("grant"), model: slug, runs: z.number().int().min(1).max(MAX_RUNS), note: creditNote }),
  ])
  .meta({ id: "CreditChange" });

const ledgerCheck = z
  .object({
    ok: z.boolean(),
    accounts: z.number(),
    mismatches: z.array(
      z.object({
        userId: z.string(),
        what: z.string().meta({ description: "balance, held, holds, grant, rows, amount, account or checkpoint", example: "balance" }),
        model: z.string().nullable().meta({ description: "Model of a grant" }),
        expected: z.number().meta({ description: "Recomputed from the ledger: credits, runs of a grant, or a number of rows" }),
        actual: z.number().meta({ description: "Value in the account" }),
        ledgerCredits: credits.meta({ description: "Sum of available and held credits in the ledger" }),
        accountCredits: credits.meta({ description: "Sum of available and held credits in the account" }),
      }),
    ),
    staleHolds: z
      .array(z.object({ userId: z.string(), executionId: z.string(), credits, heldAt: timestamp.nullable() }))
      .meta({ description: "Credits held for longer than a run can take" }),
    nextCursor: z
      .string()
      .nullable()
      .meta({ description: "Cursor for the next request, if time ran out before every account was checked" }),
  })
  .meta({ id: "LedgerCheck" });

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

/** Billing's reference for a key: fixed length for any key. */
const referenceOf = (key: string): string => createHash("sha256").update(key).digest("base64url");

type Crediting = CallContext<"admin", { id: string }, unknown, z.infer<typeof creditChange>>;

/** Credits the account in the path, once per Idempotency-Key, with an audit row. @returns the new balances */
export const creditAccount = async (context: Crediting, action: string): Promise<z.infer<typeof balances>> => {
  const { gateway, params, body: change, request } = context;
  const { billing: service } = gateway.services;
  const key = idempotencyKey(request.headers["idempotency-key"]);
  const reference = key && referenceOf(key);
  const { account: before } = await service.getAccount({ userId: params.id });
  const row = { action, target: params.id, change, before: balancesView(before), reference };
  return audited(context, row, async () => {
    const { account } = await service.credit(creditRequest(params.id, change, reference ?? randomUUID()));
    return { value: balancesView(account), after: balancesView(account) };
  });
};

/** Rejects grants for models that don't exist. A disabled model can be enabled again. */
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
    executionId: executionOf(executionId),
    credits: toCredits(millicredits),
    heldAt: iso(heldAt),
  })),
  nextCursor: nextCursor(checked.nextCursor),
});

/** Requires a person, or the ledger of an erased one. @throws NOT_FOUND, also for an organization's id */
const requireLedger = async (gateway: Gateway, userId: string): Promise<void> => {
  const user = await findUser(gateway, userId);
  const { rows } = user ? { rows: [] } : await gateway.services.billing.listLedger({ userId, limit: 1, cursor: "", kind: undefined });
  if (user ? user.organization : rows.length === 0) throw notFound("user");
};

export const adminCreditRoutes = [
  defineRoute({
    ...ofUser,
    method: "GET",
    path: "/api/admin/users/:id/ledger",
    operationId: "adminListLedger",
    summary: "List the movements of an account, newest first",
    description: "Also works for an erased account, by its former id: amounts remain, without notes.",
    query: listQuery(ledgerQuery),
    responses: { 200: ledgerPage },
    handler: async ({ gateway, params, query }) => {
      await requireLedger(gateway, params.id);
      const page = await gateway.services.billing.listLedger({
        userId: params.id,
        limit: query.limit,
        cursor: query.cursor ?? "",
        kind: query.kind,
      });
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
    body: jsonBody(creditChange),
    responses: { 200: z.object({ userId: z.string(), credits: balances }).meta({ id: "AccountBalances" }) },
    errors: ["NOT_FOUND", "MODEL_NOT_FOUND"],
    example: { kind: "topup", amount: 500, note: "Invoice 2026-014" },
    handler: async (context) => {
      const { gateway, params, body } = context;
      if (body.kind === "grant") await requireModel(gateway.services.models, body.model);
      await requirePerson(gateway, params.id);
      return { status: 200, body: { userId: params.id, credits: await creditAccount(context, "user.credit") } };
    },
  }),
  defineRoute({
    ...forAdmins,
    method: "GET",
    path: "/api/admin/ledger/check",
    operationId: "adminCheckLedger",
    summary: "Check that every account agrees with its ledger",
    description:
      "Recomputes every account from its ledger. `ok` is true if all accounts were checked and agree. Each disagreement is one entry. Takes at most a minute; then continue with `nextCursor`.",
    query: listQuery(
      z.object({
        cursor: identifier.optional(),
        full: z.enum(["true", "false"]).optional().describe("`true`: adds up all rows, and checks the yearly checkpoints"),
      }),
    ),
    responses: { 200: ledgerCheck },
    handler: async ({ gateway, query }) => {
      const checked = await gateway.services.billing.checkLedger(
        { cursor: query.cursor ?? "", full: query.full === "true" },
        { deadlineMs: CHECK_DEADLINE_MS },
      );
      return { status: 200, body: ledgerCheckView(checked) };
    },
  }),
];
