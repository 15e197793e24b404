import assert from "node:assert/strict";
import { inSection, type Case } from "../case";
import { answers, is, refuses } from "../check";

const payments = inSection("D24");

const CHECKOUT = "/api/billing/checkout";
const EVENTS = "/api/billing/events";

export const paymentCases: Case[] = [
  payments("shows whether credits can be bought, and otherwise the missing setting", async (ctx) => {
    const { session } = await ctx.shared("pro", "payments");
    const { purchases } = answers(await session.get("/api/billing"), 200).body as { purchases: object | null };
    if (purchases === null)
      refuses(await session.post(CHECKOUT, { credits: 1_000 }), 501, "NOT_CONFIGURED", { error: is.like(/STRIPE_SECRET_KEY/) });
    else answers(await session.get("/api/billing"), 200, { purchases: { creditPriceUsd: is.positive, currency: "usd", minCredits: 500 } });
  }),
  payments("approved people buy credits in whole numbers, and keys can't", async (ctx) => {
    const user = await ctx.shared("pro", "payments");
    const waiting = await ctx.actor({ tier: "free", approved: false });
    refuses(await user.post(CHECKOUT, { credits: 1_000 }), 403, "SESSION_REQUIRED");
    refuses(await ctx.anonymous.post(CHECKOUT, { credits: 1_000 }), 401, "UNAUTHENTICATED");
    refuses(await waiting.session.post(CHECKOUT, { credits: 1_000 }), 403, "ACCOUNT_NOT_APPROVED");
    for (const credits of [0, -1_000, 499, 1_000.5, 100_001])
      refuses(await user.session.post(CHECKOUT, { credits }), 400, "INVALID_REQUEST", { issues: [{ path: "credits", message: is.text }] });
  }),
  payments("payment events need Stripe's signature, and no session", async (ctx) => {
    const headers = { "stripe-signature": "t=1,v1=00" };
    const { status } = await ctx.anonymous.call("POST", EVENTS, { raw: "{}", headers });
    assert.ok(status === 401 || status === 501, `answered ${status}`);
  }),
  payments("the ledger can be filtered by kind", async (ctx) => {
    const user = await ctx.actor({ tier: "pro" });
    answers(await ctx.admin.post(`/api/admin/users/${user.userId}/credits`, { kind: "topup", amount: 5, note: "" }), 200);
    const { rows } = answers(await user.session.get("/api/me/ledger?kind=topup"), 200).body as {
      rows: { kind: string; credits: number }[];
    };
    assert.deepEqual(
      rows.map(({ kind, credits }) => [kind, credits]),
      [["topup", 5]],
    );
    refuses(await user.session.get("/api/me/ledger?kind=gift"), 400, "INVALID_REQUEST");
  }),
];
