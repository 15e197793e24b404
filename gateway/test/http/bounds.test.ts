import { document } from "../support/document";
import { startPlatform, type Platform } from "../support/platform";

/** Checks that the OpenAPI document states exactly what the API accepts. */

interface Parameter {
  name: string;
  schema: Record<string, unknown>;
}
interface DescribedOperation {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Record<string, unknown> }> };
  responses: Record<string, unknown>;
}
const described = (method: string, path: string): DescribedOperation => document.paths[path]![method] as unknown as DescribedOperation;
const parameter = (method: string, path: string, name: string): Record<string, unknown> =>
  described(method, path).parameters!.find((candidate) => candidate.name === name)!.schema;

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.stop());

const asAdmin = (path: string, method = "GET", json?: unknown, more: Record<string, string> = {}) =>
  platform.send(path, { method, json, headers: { ...platform.bySession(platform.admin), ...more } });
const issuePaths = ({ body }: { body: Record<string, unknown> }): string[] =>
  (body.issues as { path: string }[] | undefined)?.map(({ path }) => path) ?? [];

it("returns as many movements of an account at once as documented", async () => {
  const { maximum } = parameter("get", "/api/admin/users/{id}/ledger", "limit") as { maximum: number };
  const user = await platform.createUser();
  const page = (limit: number) => asAdmin(`/api/admin/users/${user.id}/ledger?limit=${limit}`);
  expect((await page(maximum)).status).toBe(200);
  expect(await page(maximum + 1)).toMatchObject({ status: 400, body: { issues: [{ path: "limit" }] } });
});

it("continues the check of ledgers after any documented cursor", async () => {
  const { maxLength } = parameter("get", "/api/admin/ledger/check", "cursor") as { maxLength: number };
  expect((await asAdmin(`/api/admin/ledger/check?cursor=${"x".repeat(maxLength)}`)).status).toBe(200);
  expect((await asAdmin(`/api/admin/ledger/check?cursor=${"x".repeat(maxLength + 1)}`)).status).toBe(400);
});

it("credits an account once under an Idempotency-Key of any documented length", async () => {
  const user = await platform.createUser();
  const { maxLength } = parameter("post", "/api/admin/users/{id}/credits", "Idempotency-Key") as { maxLength: number };
  const credit = () =>
    asAdmin(
      `/api/admin/users/${user.id}/credits`,
      "POST",
      { kind: "topup", amount: 5 },
      { "idempotency-key": "k".repeat(Number(maxLength)) },
    );
  expect(await credit()).toMatchObject({ status: 200, body: { credits: { topUp: 5 } } });
  expect(await credit()).toMatchObject({ status: 200, body: { credits: { topUp: 5 } } });
});

it.each([
  ["k", true],
  ["two words", true],
  ["näh", false],
  ["", false],
])("documents the form of an Idempotency-Key: %j", async (key, accepted) => {
  const { pattern } = parameter("post", "/api/workflows", "Idempotency-Key") as { pattern: string };
  expect(new RegExp(pattern).test(key)).toBe(accepted);
  const user = await platform.createUser();
  const headers = { ...platform.byKey(user), "idempotency-key": key };
  expect((await platform.send("/api/workflows", { json: { name: "Named" }, headers })).status).toBe(accepted ? 201 : 400);
});

it.each(["UPPER", "two--hyphens", "x".repeat(65)])("creates no tier named %s, and has none", async (id) => {
  const { pattern, maxLength } = parameter("put", "/api/admin/tiers/{id}", "id") as { pattern: string; maxLength: number };
  expect(new RegExp(pattern).test(id) && id.length <= maxLength).toBe(false);
  const settings = { base: "pro", rateLimitPerMinute: 10, markup: 1.5, monthlyCredits: 10, concurrency: 1 };
  const reply = await asAdmin(`/api/admin/tiers/${id}`, "PUT", settings);
  expect([reply.status, issuePaths(reply)]).toEqual([400, ["id"]]);
  expect((await asAdmin(`/api/admin/tiers/${id}`)).status).toBe(404);
});

it("rejects a change of a user that changes nothing, and documents it", async () => {
  const { schemas } = document.components as { schemas: Record<string, { minProperties?: number }> };
  expect(schemas.UserChanges?.minProperties).toBe(1);
  expect((await asAdmin(`/api/admin/users/${platform.admin.id}`, "PATCH", {})).status).toBe(400);
});

it("rejects a price at which a run could cost more than an account can hold", async () => {
  const price = (perRunUsd: number) => asAdmin("/api/admin/models/sandbox-speech", "PATCH", { price: { perRunUsd } });
  expect((await price(1_000)).status).toBe(200);
  expect((await price(1_001)).status).toBe(400);
});

it("rejects an empty upload, and documents it", async () => {
  const [content] = Object.values(described("post", "/api/media").requestBody!.content);
  expect(content!.schema.minLength).toBe(1);
  const headers = { ...platform.byKey(await platform.createUser()), "content-type": "application/octet-stream" };
  expect((await platform.send("/api/media", { method: "POST", body: "", headers })).status).toBe(400);
});

it("documents that an account can already have too many keys", () => {
  expect(Object.keys(described("post", "/api/keys").responses)).toContain("412");
});
