import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Webhook } from "standardwebhooks";
import { clientOf, eventually, type Account } from "../../../test-support/client";
import { runDocumented } from "./support/documented";
import { freePort } from "../../../deploy/local/servers/ports.cjs";
import { allSnippets, placeOf } from "../../../test-support/snippets";
import { startPlatform, type Platform } from "../../../test-support/platform";

const ROOT = join(__dirname, "..", "..", "..");
const GUIDE = join(ROOT, "docs", "guide");
const REGISTRY = join(ROOT, "services", "models", "registry");

const read = (path: string): string => readFileSync(path, "utf8");
/** The fenced blocks of a page in one language, in order. */
const blocks = (path: string, language: string): string[] =>
  [...read(path).matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(([, block]) => block!);

describe("the pages", () => {
  const pages = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "AGENTS.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" }).map((name) => `docs/${name}`),
  ]
    .filter((name) => name.endsWith(".md"))
    .sort();

  /** Anchors that GitHub creates from headings. */
  const anchors = (page: string): string[] =>
    [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
      title!
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    );

  it.each(pages)("%s has no broken links", (name) => {
    const page = join(ROOT, name);
    const prose = read(page).replace(/^```[\s\S]*?^```$/gm, "");
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!).filter((target) => !/^https?:/.test(target));
    const broken = links.filter((target) => {
      const [path, anchor] = target.split("#");
      const file = path === "" ? page : resolve(dirname(page), path!);
      return !existsSync(file) || (anchor !== undefined && !anchors(file).includes(anchor));
    });
    expect(broken).toEqual([]);
  });
});

describe("the webhook receivers of the guide", () => {
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  const body = JSON.stringify({ type: "execution.completed", data: { executionId: "e1" } });
  const message = (signer = secret): Record<string, string> => {
    const now = new Date();
    return {
      "content-type": "application/json",
      "webhook-id": "msg_e1",
      "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
      "webhook-signature": `v1,bm90aGluZw== ${new Webhook(signer).sign("msg_e1", now, body)}`,
    };
  };
  const stranger = `whsec_${randomBytes(32).toString("base64")}`;

  it("Python: accepts a genuine message, and no other", () => {
    const [, verify] = blocks(join(GUIDE, "webhooks.md"), "python");
    const ask = `${verify!}\nimport json, sys\nfor case in json.load(sys.stdin): print(verify(case["secret"], case["headers"], case["body"].encode()))`;
    const cases = [
      { secret, headers: message(), body },
      { secret, headers: message(), body: body.replace("e1", "e2") },
      { secret, headers: message(stranger), body },
      { secret, headers: { ...message(), "webhook-timestamp": "1700000000" }, body },
    ];
    const answer = execFileSync("python3", ["-c", ask], { input: JSON.stringify(cases), encoding: "utf8" });
    expect(answer.trim().split("\n")).toEqual(["True", "False", "False", "False"]);
  });

  it("Node.js: accepts a genuine message, and no other", async () => {
    const [app] = blocks(join(GUIDE, "webhooks.md"), "js");
    const commands: unknown[][] = [];
    let server: Server | undefined;
    // Runs the page's program in a test environment, with a port of the test, and output to the test.
    const load = (name: string): unknown => {
      const loaded: unknown = jest.requireActual(name);
      if (name !== "express") return loaded;
      const express = loaded as typeof import("express");
      return Object.assign(() => {
        const exampleApp = express();
        return Object.assign(exampleApp, { listen: (port: number) => (server = createServer(exampleApp).listen(port, "127.0.0.1")) });
      }, express);
    };
    const run = new Function("require", "process", "console", app!) as (...surroundings: unknown[]) => void;
    run(load, { env: { WEBHOOK_SECRET: secret, PORT: 0 } }, { log: (...words: unknown[]) => commands.push(words) });
    await once(server!, "listening");
    const { port } = server!.address() as { port: number };
    const send = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}/hook`, { method: "POST", headers, body })).status;
    try {
      expect([await send(message()), await send(message(stranger))]).toEqual([204, 401]);
      expect(commands).toEqual([["execution.completed", "e1"]]);
    } finally {
      server!.close();
    }
  });
});

/** The page's fictional service, as described in its manual. */
const startLumen = async (port: number, url: string): Promise<{ server: Server; submissions: unknown[]; stopped: string[] }> => {
  const submissions: unknown[] = [];
  const stopped: string[] = [];
  const polls = new Map<string, number>();
  const film = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from("ftypisom\0\0\x02\0isommp42"), Buffer.alloc(64)]);
  const json = (response: ServerResponse, status: number, answer: unknown): void =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
  const submit = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    submissions.push({ key: request.headers["idempotency-key"], body: JSON.parse(Buffer.concat(chunks).toString()) as unknown });
    json(response, 201, { id: `g${submissions.length}` });
  };
  const server = createServer((request, response) => {
    if (request.url === "/film.mp4") return void response.writeHead(200, { "content-type": "video/mp4" }).end(film);
    if (request.headers.authorization !== "Bearer lumen-secret") return json(response, 401, {});
    if (request.method === "POST") return void submit(request, response);
    const id = request.url!.slice("/v1/generations/".length);
    if (request.method === "DELETE") {
      stopped.push(id);
      return json(response, 200, {});
    }
    polls.set(id, (polls.get(id) ?? 0) + 1);
    const { body } = submissions[Number(id.slice(1)) - 1] as { body: { text: string } };
    if (body.text.includes("never") || polls.get(id) === 1) return json(response, 200, { state: "working", percent: 40 });
    if (body.text.includes("fail")) return json(response, 200, { state: "error", reason: "too dark" });
    return json(response, 200, { state: "done", assets: [{ href: `${url}/film.mp4` }] });
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  return { server, submissions, stopped };
};

interface Dialect {
  provider: { kind: string; dialect?: string; auth: object; outputs?: object; request?: { path: string; body: object } };
  name: string;
  modality: "image" | "audio" | "text";
}

/** A request of the page for a sandbox model, with instructions for the sandbox. */
const calledHere = ({ request }: Dialect["provider"], model: object): object => ({
  ...request,
  body: { ...request?.body, ...model, sandbox: { $input: "sandbox" } },
});

/** The other providers of the page, with address, secret and model names replaced by the sandbox's. */
const shownDialects = (): Dialect[] =>
  blocks(join(GUIDE, "add-a-provider.md"), "json")
    .slice(1)
    .map((block) => JSON.parse(block) as Dialect["provider"])
    // Blocks without a kind show only a part.
    .filter(({ kind }) => (kind as string | undefined) !== undefined)
    .map((provider) => {
      const name = `guide-${provider.dialect ?? provider.kind}${provider.kind === "direct-http" ? `-${Object.keys(provider.outputs!)[0]}` : ""}`;
      const places: Record<string, [object, Dialect["modality"]]> = {
        "guide-fal-queue": [{ baseUrl: "${SANDBOX_URL}/queue", app: "sandbox-image-fast" }, "image"],
        "guide-replicate": [{ baseUrl: "${SANDBOX_URL}", app: "nodeloom/sandbox-image-fast" }, "image"],
        "guide-direct-http-images": [
          { baseUrl: "${SANDBOX_URL}/v1", request: calledHere(provider, { model: "sandbox-image-fast" }) },
          "image",
        ],
        "guide-direct-http-audios": [{ baseUrl: "${SANDBOX_URL}", request: calledHere(provider, { model_id: "sandbox-speech" }) }, "audio"],
        "guide-llm": [{ baseUrl: "${SANDBOX_URL}/v1", model: "sandbox-chat" }, "text"],
      };
      const [place, modality] = places[name]!;
      return { name, modality, provider: { ...provider, ...place, auth: { ...provider.auth, secretEnv: "GUIDE_KEY" } } };
    });

const OUTPUT_OF = { image: "images", audio: "audios", text: "text" } as const;

/** A complete entry for a provider of the page. */
const entryOf = ({ provider, name, modality }: Dialect): object => ({
  internalName: name,
  displayName: name,
  modality,
  provider,
  inputSchema: {
    type: "object",
    required: ["prompt"],
    properties: {
      prompt: { type: "string" },
      sandbox: { type: "object" },
      count: { type: "integer", maximum: 4 },
      voice: { type: "string" },
      ...(modality === "text" ? { maxTokens: { type: "integer", default: 50, maximum: 100 } } : {}),
    },
  },
  outputs: [OUTPUT_OF[modality]],
  price: modality === "text" ? { inputUsdPerMillionTokens: 1, outputUsdPerMillionTokens: 1 } : { perRunUsd: 0.01 },
  minTier: "free",
});

const PIXEL = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

describe("the examples of the guide", () => {
  let platform: Platform;
  let lumen: Awaited<ReturnType<typeof startLumen>>;
  let folder: string;
  let user: Account;
  let client: ReturnType<typeof clientOf>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "nodeloom-guide-"));
    cpSync(REGISTRY, folder, { recursive: true });
    const [entry] = blocks(join(GUIDE, "add-a-provider.md"), "json");
    writeFileSync(join(folder, "lumen-video.json"), entry!);
    for (const dialect of shownDialects()) writeFileSync(join(folder, `${dialect.name}.json`), JSON.stringify(entryOf(dialect)));
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    lumen = await startLumen(port, url);
    const env = { MODELS_REGISTRY_DIR: folder, LUMEN_URL: url, LUMEN_API_KEY: "lumen-secret", GUIDE_KEY: "sandbox" };
    platform = await startPlatform({ allow: [`127.0.0.1:${port}`], env });
    client = clientOf(platform);
    user = await client.account({ tier: "business" });
  });
  afterAll(async () => {
    await platform.stop();
    lumen.server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const post = (path: string, body: unknown = undefined): ReturnType<typeof client.call> =>
    client.call("POST", path, { key: user.key, body });
  const speeches = async (): Promise<number> =>
    ((await (await platform.sandboxControl("/sandbox/stats")).json()) as { speech: { requests: number } }).speech.requests;
  const film = (inputs: object): ReturnType<typeof client.call> => post("/api/models/lumen-video/run", { inputs });

  it("run the first workflow", async () => {
    const [graph] = blocks(join(GUIDE, "workflows.md"), "json");
    expect((await post("/api/workflows", JSON.parse(graph!))).status).toBe(201);
    expect((await post("/api/workflows/greeting/run", { inputs: {} })).body).toMatchObject({ result: { text: "Hello, world!" } });
  });

  it.each(["text-box", "list", "media-upload", "request-input", "response-output"])("run the graph of the page on %s", async (page) => {
    const [graph, answered] = blocks(join(GUIDE, "nodes", `${page}.md`), "json");
    const upload = await fetch(`${platform.baseUrl}/api/media`, {
      method: "POST",
      headers: { "x-api-key": user.key!, "content-type": "image/png" },
      body: PIXEL,
    });
    const { id, url } = (await upload.json()) as { id: string; url: string };
    const { body: created } = await post("/api/workflows", JSON.parse(graph!.replace("MEDIA_ID", id)));
    const { inputs, result } = JSON.parse(answered!.replace("MEDIA_URL", url)) as { inputs: object; result: object };
    expect((await post(`/api/workflows/${created.slug as string}/run`, { inputs })).body).toMatchObject({ success: true, result });
  });

  it("create a provider from one file: submitted as described, stored and priced", async () => {
    const { status, body } = await film({ prompt: "a lighthouse", seconds: 2 });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { result: { videos: [{ url: expect.any(String) as string }] }, cost: 10.4 },
    });
    expect(lumen.submissions.at(-1)).toEqual({
      key: expect.any(String) as string,
      body: { text: "a lighthouse", length: 2, watermark: false },
    });
  });

  it("show a failure in the provider's own words", async () => {
    expect(await film({ prompt: "fail" })).toMatchObject({
      status: 500,
      body: { code: "EXECUTION_FAILED", error: expect.stringContaining("too dark") as string },
    });
  });

  it("stop a job at the provider", async () => {
    const { body } = await post("/api/models/lumen-video/run?async=true", { inputs: { prompt: "never" } });
    const id = body.executionId as string;
    const submitted = await eventually(
      () => client.call("GET", `/api/executions/${id}`, { key: user.key }),
      (answer) => answer.body.requestId !== null,
    );
    expect((await post(`/api/executions/${id}/cancel`)).body).toEqual({ status: "cancel_requested" });
    const endedRun = await eventually(
      () => client.call("GET", `/api/executions/${id}`, { key: user.key }),
      (answer) => answer.body.status === "cancelled",
    );
    expect(endedRun.body.nodes).toEqual(expect.arrayContaining([expect.objectContaining({ cancelReport: "provider_told" })]));
    expect(lumen.stopped).toEqual([submitted.body.requestId]);
  });

  it.each(shownDialects())("run a model of $name", async ({ name, modality }) => {
    const { status, body } = await post(`/api/models/${name}/run`, { inputs: { prompt: "a loom", sandbox: { latencyMs: 0 } } });
    const file = { url: expect.stringContaining(`${platform.baseUrl}/media/`) as string };
    const result = modality === "text" ? { text: expect.stringContaining("sandbox") as string } : { [OUTPUT_OF[modality]]: [file] };
    expect({ status, body }).toMatchObject({ status: 200, body: { result } });
  });

  it("run unchanged from the pages, in a shell, in Node.js and in Python", async () => {
    const { failures, blocks } = await runDocumented({ baseUrl: platform.baseUrl, account: user, post });
    expect(failures).toEqual([]);
    expect(blocks).toBeGreaterThan(15);
  });

  it("have graphs that can be saved", async () => {
    const graphs = allSnippets()
      .filter(({ language }) => language === "json")
      .map((one) => ({ place: placeOf(one), graph: JSON.parse(one.code) as Record<string, unknown> }))
      .filter(({ graph }) => Array.isArray(graph.nodes) && Array.isArray(graph.edges));
    expect(graphs.length).toBeGreaterThan(6);
    for (const { place, graph } of graphs) {
      const { status, text } = await post("/api/workflows", { name: place, ...graph });
      expect({ place, status, text: status === 201 ? "" : text }).toEqual({ place, status: 201, text: "" });
    }
  });

  it("report correctly that a provider with synchronous responses couldn't be stopped", async () => {
    const inputs = { prompt: "a loom", sandbox: { fail: "hang" } };
    expect(await post("/api/models/guide-direct-http-audios/run?async=true", { inputs })).toMatchObject({
      status: 400,
      body: { code: "ASYNC_NOT_SUPPORTED" },
    });
    const before = await speeches();
    const run = client.call("POST", "/api/models/guide-direct-http-audios/run", {
      key: user.key,
      body: { inputs },
      headers: { prefer: "wait=0" },
    });
    const id = (await run).body.executionId as string;
    await eventually(speeches, (count) => count > before);
    expect((await post(`/api/executions/${id}/cancel`)).body).toEqual({ status: "cancel_requested" });
    const endedRun = await eventually(
      () => client.call("GET", `/api/executions/${id}`, { key: user.key }),
      (answer) => answer.body.status === "cancelled",
    );
    expect(endedRun.body.nodes).toEqual(expect.arrayContaining([expect.objectContaining({ cancelReport: "could_not_stop" })]));
  });
});
