import { startPlatform, type Platform } from "../support/platform";
import { startStandIn, type StandIn } from "../../../test-support/model-server";

let platform: Platform;
let ollama: StandIn;
let comfy: StandIn;

beforeAll(async () => {
  ollama = await startStandIn({ "/v1/models": { data: [{ id: "llama3.2:3b" }, { id: "nomic-embed-text" }] } });
  comfy = await startStandIn({ "/system_stats": { system: {} } });
  platform = await startPlatform({});
});
afterAll(async () => {
  await platform?.stop();
  await Promise.all([ollama?.stop(), comfy?.stop()]);
});

const KEY = "home-key-0123456789";
const SERVERS = "/api/admin/model-servers";
const asAdmin = (path: string, method = "GET", json?: unknown) =>
  platform.send(path, { method, ...(json === undefined ? {} : { json }), headers: platform.bySession(platform.admin) });
const models = async (): Promise<Record<string, unknown>[]> => (await asAdmin("/api/models")).body as unknown as Record<string, unknown>[];

describe("servers of models", () => {
  it("are tested before they are added", async () => {
    const tried = await asAdmin(`${SERVERS}/test`, "POST", { kind: "openai", url: ollama.url });
    expect(tried).toMatchObject({
      status: 200,
      body: {
        works: true,
        message: null,
        models: [
          { id: "llama3.2:3b", makes: "chat" },
          { id: "nomic-embed-text", makes: "none", internalName: null },
        ],
      },
    });
    const { body } = await asAdmin(`${SERVERS}/test`, "POST", { kind: "comfyui", url: ollama.url });
    expect(body).toMatchObject({ works: false, message: expect.stringContaining("404") as string });
  });

  it("are added with their key, which is sent to them and never shown", async () => {
    const added = await asAdmin(SERVERS, "POST", { kind: "openai", url: ollama.url, name: "GPU box", key: KEY });
    expect(added).toMatchObject({ status: 201, body: { id: "gpu-box", status: "ready", hasKey: true, url: `${ollama.url}/v1` } });
    expect(ollama.requests.at(-1)).toBe(`/v1/models Bearer ${KEY}`);
    const everything = JSON.stringify([added.body, (await asAdmin(SERVERS)).body, (await asAdmin("/api/admin/audit")).body]);
    expect(everything).not.toContain(KEY);
    const model = (await models()).find(({ internalName }) => internalName === "gpu-box-llama3-2-3b");
    expect(model).toMatchObject({ modality: "text", runsAt: "local", status: "ready", price: { inputUsdPerMillionTokens: 0 } });
    expect(await asAdmin(SERVERS, "POST", { kind: "openai", url: ollama.url, name: "GPU box" })).toMatchObject({
      status: 409,
      body: { code: "ALREADY_EXISTS" },
    });
  });

  it("lose their key if their scheme, host or port changes, unless it is set again", async () => {
    const elsewhere = await startStandIn({ "/v1/models": { data: [{ id: "llama3.2:3b" }] } });
    try {
      const samePlace = await asAdmin(`${SERVERS}/gpu-box`, "PATCH", { url: `${ollama.url}/v1/` });
      expect(samePlace.body.hasKey).toBe(true);
      const moved = await asAdmin(`${SERVERS}/gpu-box`, "PATCH", { url: elsewhere.url });
      expect(moved).toMatchObject({ status: 200, body: { hasKey: false, url: `${elsewhere.url}/v1` } });
      await asAdmin(`${SERVERS}/gpu-box`);
      expect(new Set(elsewhere.requests)).toEqual(new Set(["/v1/models -"]));
      expect((await asAdmin(`${SERVERS}/gpu-box`, "PATCH", { url: ollama.url, key: KEY })).body.hasKey).toBe(true);
      expect(ollama.requests.at(-1)).toBe(`/v1/models Bearer ${KEY}`);
    } finally {
      await elsewhere.stop();
    }
  });

  it("are changed and removed, with each change in the audit", async () => {
    const changed = await asAdmin(`${SERVERS}/gpu-box`, "PATCH", {
      key: null,
      name: "Box",
      models: [{ id: "llama3.2:3b", makes: "transcribe" }],
    });
    expect(changed).toMatchObject({ status: 200, body: { name: "Box", hasKey: false, models: [{ makes: "transcribe" }, {}] } });
    expect((await asAdmin(`${SERVERS}/gpu-box`, "DELETE")).status).toBe(204);
    expect((await asAdmin(`${SERVERS}/gpu-box`)).status).toBe(404);
    const { body } = await asAdmin("/api/admin/audit");
    const actions = (body.rows as { action: string }[]).map(({ action }) => action);
    expect(actions).toEqual(expect.arrayContaining(["model-server.add", "model-server.update", "model-server.delete"]));
  });

  it("with ComfyUI have models from their workflows, unchanged from the export", async () => {
    await asAdmin(SERVERS, "POST", { kind: "comfyui", url: comfy.url, name: "Comfy" });
    // A number that JSON.parse would round.
    const seed = "18446744073709551615";
    const text = `{"3":{"class_type":"KSampler","inputs":{"seed":${seed}}},"6":{"class_type":"CLIPTextEncode","inputs":{"text":"a loom"},"_meta":{"title":"Prompt"}},"9":{"class_type":"SaveImage","inputs":{"images":["8",0]}}}`;
    const headers = { ...platform.bySession(platform.admin), "content-type": "application/json" };
    const send = (path: string, body: string) => platform.send(path, { method: "POST", body, headers });
    const reply = await send(`${SERVERS}/comfy/workflows/inspect`, `{"workflow":${text}}`);
    expect(reply).toMatchObject({
      status: 200,
      body: { modality: "image", inputs: [{ name: "prompt", node: "6", titled: true, value: "a loom" }, {}] },
    });
    expect(await send(`${SERVERS}/comfy/workflows`, `{"name":"Portrait","workflow":${text}}`)).toMatchObject({
      status: 201,
      body: { workflows: [{ slug: "portrait", internalName: "comfy-portrait", inputs: ["prompt"] }] },
    });
    const model = (await models()).find(({ internalName }) => internalName === "comfy-portrait");
    expect(model).toMatchObject({ asyncSupported: true, runsAt: "local", inputSchema: { properties: { prompt: {} } } });
    expect((await asAdmin(`${SERVERS}/comfy/workflows/portrait`, "DELETE")).status).toBe(204);
  });

  it.each([
    ["another kind", { kind: "ollama", url: "http://x", name: "x" }],
    ["no address", { kind: "openai", url: "gpu-box", name: "x" }],
    ["credentials in the address", { kind: "openai", url: "http://me:pw@gpu-box", name: "x" }],
    ["a name without letters", { kind: "openai", url: "http://gpu-box", name: "★" }],
  ])("are rejected with %s", async (_what, server) => {
    expect(await asAdmin(SERVERS, "POST", server)).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST" } });
  });

  it("are only for administrators", async () => {
    const { status } = await platform.send(SERVERS, { headers: platform.bySession(await platform.createUser()) });
    expect(status).toBe(403);
  });
});
