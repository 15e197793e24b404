import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startPlatform, type Platform } from "../support/platform";

const REGISTRY = join(__dirname, "..", "..", "..", "services", "models", "registry");
const SCHNELL = JSON.parse(readFileSync(join(REGISTRY, "flux-schnell.json"), "utf8")) as Record<string, unknown>;
const entryNamed = (internalName: string, change: object = {}): Record<string, unknown> => ({ ...SCHNELL, internalName, ...change });

describe("a model that an administrator adds", () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform.stop());
  const asAdmin = (path: string, method = "GET", json?: unknown, more: Record<string, string> = {}) =>
    platform.send(`/api/admin/models${path}`, { method, json, headers: { ...platform.bySession(platform.admin), ...more } });
  const audited = async (target: string): Promise<Record<string, unknown>[]> => {
    const { body } = await platform.send("/api/admin/audit?limit=100", { headers: platform.bySession(platform.admin) });
    return (body.rows as unknown as Record<string, unknown>[]).filter((row) => row.target === target);
  };

  it("is added, read, replaced and deleted by its revision, each with a row", async () => {
    const entry = entryNamed("mine");
    const added = await asAdmin("", "POST", entry);
    expect([added.status, added.headers.etag, added.headers.location]).toEqual([201, '"1"', "/api/admin/models/mine"]);
    expect(added.body).toMatchObject({ internalName: "mine", company: "fal", status: "needs-key", asOf: SCHNELL.asOf });
    expect((await asAdmin("", "POST", entry)).status).toBe(201);
    expect((await asAdmin("/mine")).body).toEqual(entry);

    const renamed = entryNamed("mine", { displayName: "Mine" });
    expect((await asAdmin("/mine", "PUT", renamed, { "if-match": '"7"' })).status).toBe(412);
    const replaced = await asAdmin("/mine", "PUT", renamed, { "if-match": '"1"' });
    expect([replaced.status, replaced.headers.etag, replaced.body.displayName]).toEqual([200, '"2"', "Mine"]);
    expect((await asAdmin("", "POST", entry)).body).toMatchObject({ code: "ALREADY_EXISTS" });

    expect((await asAdmin("/mine", "DELETE", undefined, { "if-match": '"1"' })).status).toBe(412);
    expect((await asAdmin("/mine", "DELETE")).status).toBe(204);
    expect((await asAdmin("/mine")).status).toBe(404);
    const rows = await audited("mine");
    expect(rows.map(({ action, outcome }) => [action, outcome])).toEqual(
      expect.arrayContaining([
        ["model.add", "done"],
        ["model.replace", "done"],
        ["model.delete", "done"],
        ["model.replace", "failed"],
      ]),
    );
    expect(rows.find(({ action, outcome }) => action === "model.replace" && outcome === "done")).toMatchObject({
      before: entry,
      after: renamed,
    });
  });

  it("is validated like files, and errors have their path", async () => {
    const wrong = await asAdmin("", "POST", entryNamed("wrong", { minTier: "gold", price: { perFortnightUsd: 1 } }));
    expect(wrong.status).toBe(400);
    const { issues } = wrong.body as unknown as { issues: { path: string }[] };
    expect(issues.map(({ path }) => path)).toEqual(expect.arrayContaining(["minTier", "price"]));
    const elsewhere = { ...(SCHNELL.provider as object), baseUrl: "https://evil.example" };
    expect((await asAdmin("", "POST", entryNamed("elsewhere", { provider: elsewhere }))).body).toMatchObject({
      issues: [{ path: "provider.auth.secretEnv" }],
    });
  });

  it("can't replace a file's model, which PATCH changes", async () => {
    for (const reply of [
      await asAdmin("/sandbox-image", "PUT", entryNamed("sandbox-image")),
      await asAdmin("", "POST", entryNamed("sandbox-image")),
      await asAdmin("/sandbox-image", "DELETE"),
    ]) {
      expect([reply.status, reply.body.error]).toEqual([409, expect.stringContaining("PATCH")]);
    }
    expect((await asAdmin("/sandbox-image")).body).toMatchObject({ internalName: "sandbox-image", sandbox: true });
  });

  it("can be added only by an administrator", async () => {
    const user = await platform.createUser({ tier: "enterprise" });
    const { status } = await platform.send("/api/admin/models", {
      method: "POST",
      json: entryNamed("x"),
      headers: platform.bySession(user),
    });
    expect(status).toBe(403);
  });

  it.each<[string, object]>([
    ["says which model", { provider: "fal" }],
    ["says it once", { provider: "fal", app: "a/b", model: "a/b" }],
    ["names a provider that can be asked", { provider: "midjourney", app: "x" }],
  ])("is imported with a request that %s", async (_what, json) => {
    expect((await asAdmin("/import", "POST", json)).status).toBe(400);
  });
});

describe("the list of models", () => {
  it("can be filtered by words, by output and by provider", async () => {
    const platform = await startPlatform();
    const names = async (query: string): Promise<string[]> => {
      const { body } = await platform.send(`/api/models${query}`, { headers: platform.bySession(platform.admin) });
      return (body as unknown as { internalName: string }[]).map(({ internalName }) => internalName);
    };
    try {
      expect(await names("?provider=sandbox&modality=video")).toEqual(["sandbox-video-pro", "sandbox-video"]);
      expect(await names("?q=sandbox%20speech")).toEqual(["sandbox-speech"]);
      expect(await names("?provider=nobody")).toEqual([]);
    } finally {
      await platform.stop();
    }
  });
});
