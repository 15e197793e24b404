import { rmSync } from "node:fs";
import { call, fetchFile } from "./support/client";
import { restoreEarlierData, type EarlierData } from "./support/earlier-data";
import { startPlatform, type Platform } from "./support/platform";

let platform: Platform | undefined;
let made: EarlierData["made"];
let folder: string;

beforeAll(async () => {
  const { data, env } = await restoreEarlierData();
  made = data.made;
  folder = env.MEDIA_DIR!;
  platform = await startPlatform({ env });
}, 300_000);
afterAll(async () => {
  await platform?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const as = (name: "pro" | "business", method: string, path: string, body?: unknown) =>
  call(platform!.baseUrl, method, path, { key: made.accounts[name].apiKey, ...(body === undefined ? {} : { body }) });
const read = (url: string) => fetchFile(platform!.baseUrl + new URL(url).pathname);

describe("a platform on the data of an earlier version", () => {
  it("knows its accounts, their passwords and their keys", async () => {
    const { pro } = made.accounts;
    expect((await as("pro", "GET", "/api/whoami")).body).toMatchObject({ user: { id: pro.userId, tier: "pro", approved: true } });
    const login = await call(platform!.baseUrl, "POST", "/api/auth/login", { body: { email: pro.email, password: pro.password } });
    expect(login.status).toBe(200);
    expect((await as("pro", "GET", "/api/usage")).body).toMatchObject({ total: made.proUsage });
  });

  it("serves files at the addresses that were given out, and lists, counts and deletes them", async () => {
    for (const { url, bytes } of Object.values(made.files)) {
      expect(await read(url)).toMatchObject({ status: 200, bytes });
    }
    expect((await read(made.runs.template.body.result.images[0]!.url)).status).toBe(200);
    const { author, cover } = made.files;
    expect((await as("business", "GET", "/api/media")).body).toMatchObject({
      usedBytes: author.bytes + cover.bytes,
      rows: expect.arrayContaining([expect.objectContaining({ id: author.id, origin: "upload", kept: true })]) as unknown,
    });
    expect((await as("pro", "GET", "/api/media")).body).toMatchObject({
      usedBytes: made.files.pro.bytes,
      rows: expect.arrayContaining([expect.objectContaining({ origin: "generated", kept: false })]) as unknown,
    });
  });

  it("reads, runs, changes and publishes its workflows", async () => {
    const { template, own, foreign, big } = made.workflows;
    expect((await as("pro", "POST", `/api/workflows/${own}/run`, { inputs: {} })).status).toBe(200);
    expect((await as("pro", "POST", `/api/workflows/${template}/run`, { inputs: { prompt: "again" } })).status).toBe(200);
    for (const [owner, slug] of [
      ["business", template],
      ["business", foreign],
      ["pro", big],
      ["pro", own],
    ] as const) {
      const stored = await as(owner, "GET", `/api/workflows/${slug}`);
      expect(stored.body).toMatchObject({ publishedVersion: null, changedSincePublished: false });
      // What was stored before is accepted as it is.
      expect((await as(owner, "PUT", `/api/workflows/${slug}`, stored.body)).status).toBe(200);
      expect((await as(owner, "POST", `/api/workflows/${slug}/versions`)).body).toMatchObject({ version: 1 });
    }
    expect((await as("pro", "GET", `/api/workflows/${foreign}`)).body).toMatchObject({ cover: null });
    const listed = (await as("pro", "GET", "/api/workflows")).text;
    expect(listed).not.toMatch(/javascript:|tracker|data:image/);
    expect(listed).toContain(`"slug":"${big}"`);
  });

  it("shows what ran before", async () => {
    const { executionId } = made.runs.template;
    expect((await as("pro", "GET", `/api/executions/${executionId}`)).body).toMatchObject({ status: "completed", version: null });
  });
});
