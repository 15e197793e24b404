import { createGrpcClient } from "@nodeloom/platform";
import { billing, usage } from "@nodeloom/proto";
import { startPlatform, type Platform, type User } from "../support/platform";

let platform: Platform;
beforeAll(async () => void (platform = await startPlatform()));
afterAll(() => platform.stop());

type Sum = { runs: number; creditsCost: number };

const get = (path: string, user: User) => platform.send(path, { headers: platform.bySession(user) });
const ran = async (user: User, at: string, source: string, models: Record<string, number>, status = "completed"): Promise<void> => {
  const service = createGrpcClient<usage.UsageServiceServer>(usage.UsageServiceService, { address: platform.env.USAGE_ADDRESS! });
  const modelCredits = Object.entries(models).map(([model, millicredits]) => ({ model, millicredits }));
  await service.finishRun(
    usage.FinishRunRequest.fromPartial({
      run: { executionId: `${user.id} ${at} ${source}`, userId: user.id, modelIds: Object.keys(models), source, startedAt: new Date(at) },
      status,
      millicredits: modelCredits.reduce((sum, { millicredits }) => sum + millicredits, 0),
      modelCredits,
    }),
  );
  service.close();
};

it("lists the runs of one status, including cancelled ones", async () => {
  const user = await platform.createUser({ tier: "pro" });
  await ran(user, "2026-05-04T00:00:00.000Z", "api-slim", { "sandbox-chat": 6 });
  await ran(user, "2026-05-05T00:00:00.000Z", "api-slim", { "sandbox-chat": 4 }, "cancelled");
  const { body } = await get("/api/usage?status=cancelled", user);
  expect(body).toMatchObject({ total: 1, rows: [{ status: "cancelled", creditsCost: 0.004 }] });
});

describe("the caller's summed usage", () => {
  it("has credits and runs by day and model, only the caller's own", async () => {
    const [user, other] = [await platform.createUser({ tier: "pro" }), await platform.createUser({ tier: "pro" })];
    await ran(user, "2026-05-04T00:00:00.000Z", "api-workflow", { "sandbox-image": 2_600, "sandbox-chat": 4 });
    await ran(user, "2026-05-04T23:59:59.999Z", "canvas", { "sandbox-image": 2_600 });
    await ran(user, "2026-05-05T00:00:00.000Z", "api-slim", { "sandbox-chat": 6 });
    await ran(other, "2026-05-04T12:00:00.000Z", "api-slim", { "sandbox-chat": 1_000 });
    const { status, body } = await get("/api/usage/summary?from=2026-05-01&to=2026-05-31", user);
    expect(status).toBe(200);
    expect(body).toEqual({
      from: "2026-05-01",
      to: "2026-05-31",
      runs: 3,
      creditsCost: 5.21,
      days: [
        {
          ...{ day: "2026-05-04", runs: 2, creditsCost: 5.204 },
          models: [
            { model: "sandbox-chat", runs: 1, creditsCost: 0.004 },
            { model: "sandbox-image", runs: 2, creditsCost: 5.2 },
          ],
        },
        { day: "2026-05-05", runs: 1, creditsCost: 0.006, models: [{ model: "sandbox-chat", runs: 1, creditsCost: 0.006 }] },
      ],
    });
    const canvas = await get("/api/usage/summary?from=2026-05-01&to=2026-05-31&source=canvas", user);
    expect(canvas.body as unknown as Sum).toMatchObject({ runs: 1, creditsCost: 2.6 });
    expect((await get("/api/usage/summary?from=2026-05-06&to=2026-05-06", user)).body).toMatchObject({ runs: 0, creditsCost: 0, days: [] });
  });

  it("covers the last thirty days unless a range is given", async () => {
    const user = await platform.createUser({ tier: "free" });
    const { body } = await get("/api/usage/summary", user);
    expect(Date.parse(String(body.to)) - Date.parse(String(body.from))).toBe(29 * 24 * 60 * 60 * 1_000);
    expect(body.to).toBe(new Date().toISOString().slice(0, 10));
  });

  it.each([
    ["from=yesterday", "from"],
    ["from=2026-05-02&to=2026-05-01", "to"],
    ["from=2020-01-01&to=2026-01-01", "from"],
    ["from=1751-06-27", "from"],
    ["source=all", "source"],
  ])("rejects %s, by the parameter's name", async (query, path) => {
    const answer = await get(`/api/usage/summary?${query}`, platform.admin);
    expect(answer.body).toMatchObject({ code: "INVALID_REQUEST", issues: [{ path }] });
    expect(answer.status).toBe(400);
  });
});

describe("the caller's own ledger", () => {
  it("lists only the account's movements, page by page, and rejects keys", async () => {
    const [user, other] = [await platform.createUser({ tier: "pro" }), await platform.createUser({ tier: "pro" })];
    const headers = platform.bySession(platform.admin);
    for (const note of ["first", "second"]) {
      await platform.send(`/api/admin/users/${user.id}/credits`, { json: { kind: "topup", amount: 5, note }, headers });
    }
    const { body } = await get("/api/me/ledger?limit=1", user);
    expect(body.rows).toMatchObject([{ kind: "topup", credits: 5, note: "second" }]);
    const next = await get(`/api/me/ledger?limit=1&cursor=${encodeURIComponent(String(body.nextCursor))}`, user);
    expect(next.body.rows).toMatchObject([{ kind: "topup", credits: 5, note: "first" }]);
    expect((await get("/api/me/ledger", other)).text).not.toContain("first");
    expect((await platform.send("/api/me/ledger", { headers: platform.byKey(user) })).body.code).toBe("SESSION_REQUIRED");
  });

  it("names a transaction's run by the ID that its client received", async () => {
    const user = await platform.createUser({ tier: "pro" });
    const service = createGrpcClient<billing.BillingServiceServer>(billing.BillingServiceService, {
      address: platform.env.BILLING_ADDRESS!,
    });
    const executionId = "6f1f6a5c-2f5b-4d0e-9d44-0a4a2f3f9a10";
    const items = [{ key: "g", model: "sandbox-image-fast", maxMillicredits: 600 }];
    await service.hold(billing.HoldRequest.fromPartial({ userId: user.id, executionId: `${executionId}.1`, items }));
    service.close();
    const { body } = await get("/api/me/ledger?limit=1", user);
    expect(body.rows).toMatchObject([{ kind: "hold", moved: 0.6, executionId }]);
  });
});

it("models show the price for the caller's tier", async () => {
  const [pro, business] = [await platform.createUser({ tier: "pro" }), await platform.createUser({ tier: "business" })];
  const priceFor = async (user: User, name: string) => (await get(`/api/models/${name}`, user)).body.tierPrice;
  expect(await priceFor(pro, "sandbox-image")).toEqual({ perImageCredits: 3 });
  expect(await priceFor(business, "sandbox-image")).toEqual({ perImageCredits: 2.6 });
  expect(await priceFor(business, "sandbox-chat")).toEqual({ inputCreditsPerMillionTokens: 65, outputCreditsPerMillionTokens: 195 });
  const { body } = await get("/api/models", pro);
  const listed = (body as unknown as { internalName: string; tierPrice: unknown }[]).find(
    ({ internalName }) => internalName === "sandbox-video",
  );
  expect(listed!.tierPrice).toEqual({ perSecondCredits: 7.5 });
});
