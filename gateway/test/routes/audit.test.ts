import { randomUUID } from "node:crypto";
import { status, type sendUnaryData } from "@grpc/grpc-js";
import { unary } from "@nodeloom/platform";
import { billing } from "@nodeloom/proto";
import { startFakeService } from "../../../test-support/fake-service";
import { startPlatform, type Platform } from "../support/platform";

interface Row {
  id: string;
  actor: string;
  action: string;
  target: string;
  outcome: string;
  [member: string]: unknown;
}

const rowsOf = async (platform: Platform, target: string): Promise<Row[]> => {
  const { body } = await platform.send("/api/admin/audit?limit=500", { headers: platform.bySession(platform.admin) });
  return (body.rows as unknown as Row[]).filter((row) => row.target === target);
};

describe("every write of an administrator", () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform.stop());
  const asAdmin = (path: string, method: string, json?: unknown, more: Record<string, string> = {}) =>
    platform.send(`/api/admin/${path}`, { method, json, headers: { ...platform.bySession(platform.admin), ...more } });

  it("to a user is a row with its actor, change, previous value, new value and time", async () => {
    const user = await platform.createUser({ tier: "pro" });
    const headers = platform.byKey(platform.admin);
    const reply = await platform.send(`/api/admin/users/${user.id}`, { method: "PATCH", json: { tier: "business" }, headers });
    const [row] = await rowsOf(platform, user.id);
    expect(row).toMatchObject({
      actor: platform.admin.id,
      keyId: expect.any(String) as string,
      action: "user.update",
      target: user.id,
      change: { tier: "business" },
      before: { id: user.id, tier: "pro", approved: true },
      after: { id: user.id, tier: "business", approved: true },
      outcome: "done",
      errorCode: null,
      requestId: reply.headers["x-request-id"],
      at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    });
  });

  it("to credits, a model and a tier is also a row", async () => {
    const user = await platform.createUser();
    await asAdmin(`users/${user.id}/credits`, "POST", { kind: "topup", amount: 12.5, note: "gift" });
    expect((await rowsOf(platform, user.id))[0]).toMatchObject({
      action: "user.credit",
      change: { kind: "topup", amount: 12.5, note: "gift" },
      before: { topUp: 0 },
      after: { topUp: 12.5 },
    });
    await asAdmin("models/sandbox-speech", "PATCH", { price: { perRunUsd: 0.011 } });
    expect((await rowsOf(platform, "sandbox-speech"))[0]).toMatchObject({
      action: "model.update",
      before: { price: { perRunUsd: 0.01 }, enabled: true, minTier: "free" },
      after: { price: { perRunUsd: 0.011 } },
    });
    const tier = { base: "pro", rateLimitPerMinute: null, markup: 1.5, monthlyCredits: 1, concurrency: 1 };
    await asAdmin("tiers/audited", "PUT", tier);
    await asAdmin("tiers/audited", "DELETE");
    expect(await rowsOf(platform, "audited")).toMatchObject([
      { action: "tier.delete", before: { id: "audited", ...tier }, after: null, outcome: "done" },
      { action: "tier.put", before: null, after: { id: "audited", ...tier }, outcome: "done" },
    ]);
  });

  it("that was rejected has the reason, and no new value", async () => {
    const user = await platform.createUser();
    await asAdmin(`users/${user.id}`, "PATCH", { tier: "no-such-tier" });
    expect((await rowsOf(platform, user.id))[0]).toMatchObject({ outcome: "failed", errorCode: "INVALID_REQUEST", after: null });
    await asAdmin("tiers/nobody", "DELETE");
    expect((await rowsOf(platform, "nobody"))[0]).toMatchObject({ action: "tier.delete", outcome: "failed", errorCode: "NOT_FOUND" });
  });

  it("has a separate row even if the request id is repeated", async () => {
    const user = await platform.createUser();
    const before = (await rowsOf(platform, user.id)).length;
    for (const amount of [1, 1]) await asAdmin(`users/${user.id}/credits`, "POST", { kind: "topup", amount }, { "x-request-id": "mine" });
    const rows = await rowsOf(platform, user.id);
    expect(rows.slice(0, rows.length - before)).toMatchObject([
      { requestId: "mine", before: { topUp: 1 }, after: { topUp: 2 } },
      { requestId: "mine", before: { topUp: 0 }, after: { topUp: 1 } },
    ]);
  });

  it("that succeeds after a rejection under one Idempotency-Key is done, not failed", async () => {
    const user = await platform.createUser();
    const key = { "idempotency-key": randomUUID() };
    const adjust = { kind: "adjust", amount: -2_500 };
    expect((await asAdmin(`users/${user.id}/credits`, "POST", adjust, key)).status).toBe(400);
    await asAdmin(`users/${user.id}/credits`, "POST", { kind: "topup", amount: 1_000 });
    expect((await asAdmin(`users/${user.id}/credits`, "POST", adjust, key)).status).toBe(200);
    expect((await rowsOf(platform, user.id)).slice(0, 3).map(({ outcome }) => outcome)).toEqual(["done", "done", "failed"]);
  });

  it("can be read only by administrators", async () => {
    const user = await platform.createUser();
    expect((await platform.send("/api/admin/audit", { headers: platform.byKey(user) })).body).toMatchObject({
      code: "CAPABILITY_DENIED",
      required: "*",
    });
  });
});

describe("a write whose outcome is unknown", () => {
  it("stays pending, and the retry under the same Idempotency-Key completes it", async () => {
    let fails = true;
    const account = billing.Account.fromPartial({ topUpMillicredits: 5_000 });
    const fake = await startFakeService(billing.BillingServiceService, {
      getAccount: unary(() => Promise.resolve(billing.GetAccountResponse.fromPartial({}))),
      setPlan: unary(() => Promise.resolve(billing.SetPlanResponse.fromPartial({}))),
      credit: (_call: unknown, answer: sendUnaryData<billing.CreditResponse>) =>
        fails ? answer({ code: status.UNAVAILABLE, details: "gone" }) : answer(null, billing.CreditResponse.fromPartial({ account })),
    });
    const platform = await startPlatform({ BILLING_ADDRESS: fake.address });
    const user = await platform.createUser();
    const headers = { ...platform.bySession(platform.admin), "idempotency-key": randomUUID() };
    const credit = () => platform.send(`/api/admin/users/${user.id}/credits`, { json: { kind: "topup", amount: 5 }, headers });
    expect((await credit()).status).toBe(503);
    const [pending] = await rowsOf(platform, user.id);
    expect(pending).toMatchObject({ outcome: "pending", before: { topUp: 0 }, after: null });
    fails = false;
    expect((await credit()).status).toBe(200);
    const [doneRow] = await rowsOf(platform, user.id);
    expect(doneRow).toMatchObject({ id: pending!.id, at: pending!.at, outcome: "done", after: { topUp: 5 } });
    await platform.stop();
    fake.stop();
  });
});
