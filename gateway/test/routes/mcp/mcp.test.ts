import { request as httpRequest } from "node:http";
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from "@grpc/grpc-js";
import { createInputCheck } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import { deferred, type Deferred } from "../../../../test-support/deferred";
import { eventually } from "../../../../test-support/eventually";
import { startFakeService, type FakeService } from "../../../../test-support/fake-service";
import { startPlatform, type Platform, type User } from "../../support/platform";
import { HOSTILE } from "./hostile";
import { modern, rpcOf, valueOf, type Exchange } from "./rpc";

type Callback<T> = sendUnaryData<T>;
type RunCall = ServerUnaryCall<executions.RunRequest, executions.RunResponse>;
type NamedCall = { request: { executionId: string } };

/** A fake executions service: its requests and its responses. */
const requests: executions.RunRequest[] = [];
const cancelled: string[] = [];
let outcome: Partial<executions.Execution>;
let price: Partial<executions.QuoteResponse>;
let events: [type: string, data?: object][];
/** State of an unfinished run. */
let pending: Partial<executions.Execution>;
/** Runs end when they are watched, or when this promise resolves. */
let gate: Deferred | undefined;
let startedIds: Set<string>;
let endedIds: Set<string>;

let fake: FakeService;
let platform: Platform;
let business: User;
let rpc: ReturnType<typeof rpcOf>;

const execution = (executionId: string) => executions.Execution.fromPartial({ executionId, ...outcome });
const processing = (executionId: string) =>
  executions.Execution.fromPartial({ executionId, status: "processing", nodes: [{ id: "picture" }, { id: "out" }], ...pending });

beforeAll(async () => {
  fake = await startFakeService(executions.ExecutionsServiceService, {
    run: ({ request }: RunCall, callback: Callback<executions.RunResponse>) => {
      requests.push(request);
      startedIds.add(request.executionId);
      callback(null, executions.RunResponse.fromPartial({ execution: processing(request.executionId) }));
    },
    quote: (_call: unknown, callback: Callback<executions.QuoteResponse>) =>
      callback(null, executions.QuoteResponse.fromPartial({ nodes: [{ id: "picture" }], ...price })),
    getExecution: ({ request: { executionId } }: NamedCall, callback: Callback<executions.GetExecutionResponse>) =>
      callback(null, { execution: endedIds.has(executionId) ? execution(executionId) : processing(executionId) }),
    cancelExecution: ({ request: { executionId } }: NamedCall, callback: Callback<executions.CancelExecutionResponse>) => {
      if (!startedIds.has(executionId)) return callback({ code: 5, message: "there is none" });
      cancelled.push(executionId);
      endedIds.add(executionId);
      gate?.resolve();
      callback(null, { status: "cancel_requested" });
    },
    watchExecution: async (call: ServerWritableStream<executions.WatchExecutionRequest, executions.WatchExecutionResponse>) => {
      for (const [type, data = {}] of events)
        call.write(executions.WatchExecutionResponse.fromPartial({ type, dataJson: JSON.stringify(data) }));
      await gate?.promise;
      endedIds.add(call.request.executionId);
      call.end();
    },
  });
  platform = await startPlatform({ EXECUTIONS_ADDRESS: fake.address });
  business = await platform.createUser({ tier: "enterprise" });
  rpc = rpcOf(platform, business);
});
afterAll(async () => {
  await platform.stop();
  fake.stop();
});
beforeEach(() => {
  [requests.length, cancelled.length] = [0, 0];
  [startedIds, endedIds] = [new Set(), new Set()];
  [gate, pending] = [undefined, {}];
  events = [];
  outcome = { status: "completed", resultJson: '{"text":"hi"}', millicredits: 2_500, durationMs: 40 };
  price = { millicredits: 2_500, maxMillicredits: 2_500 };
});

const FIELDS = [
  { name: "subject", type: "text", label: "Subject", default: "a boat", max: 80 },
  { name: "style", type: "select", options: ["oil", "ink"], required: true },
  { name: "photo", type: "image_upload" },
];
const GRAPH = {
  nodes: [
    { id: "in", type: "request-input", data: { fields: FIELDS } },
    { id: "out", type: "response-output", data: {} },
  ],
  edges: [
    { source: "in", sourceHandle: "photo", target: "out", targetHandle: "images" },
    { source: "in", sourceHandle: "subject", target: "out", targetHandle: "text" },
  ],
};

/** A workflow whose "Agent tool" setting a signed-in person turned on. */
const saveTool = async (name: string, user = business): Promise<string> => {
  const reply = await platform.send("/api/workflows", { json: { name, ...GRAPH, mcp: true }, headers: platform.bySession(user) });
  expect(reply).toMatchObject({ status: 201, body: { mcp: true } });
  return String(reply.body.slug);
};

const toolsOf = ({ reply }: Exchange) =>
  reply!.result!.tools as {
    name: string;
    description: string;
    inputSchema: object & { properties: Record<string, object> };
    outputSchema?: object & { properties: Record<string, object> };
  }[];

describe("the switch of a workflow", () => {
  const put = (slug: string, json: object, headers: Record<string, string>) =>
    platform.send(`/api/workflows/${slug}`, { method: "PUT", json, headers });

  it("is changed only by a session; a key can send it unchanged", async () => {
    const slug = await saveTool("Switched");
    const byKey = platform.byKey(business);
    expect(await put(slug, { mcp: false }, byKey)).toMatchObject({ status: 403, body: { code: "SESSION_REQUIRED" } });
    const { body } = await platform.send(`/api/workflows/${slug}`, { headers: byKey });
    expect(await put(slug, { ...body, description: "New" }, byKey)).toMatchObject({ status: 200, body: { mcp: true, description: "New" } });
    const off = await put(slug, { mcp: false }, platform.bySession(business));
    expect(off.status).toBe(200);
    expect(off.body).not.toHaveProperty("mcp");
    const options = { json: { name: "By key", mcp: true }, headers: byKey };
    expect(await platform.send("/api/workflows", options)).toMatchObject({ status: 403, body: { code: "SESSION_REQUIRED" } });
  });

  it("is off in a clone", async () => {
    const slug = await saveTool("Original");
    const clone = await platform.send(`/api/workflows/${slug}/clone`, { json: {}, headers: platform.bySession(business) });
    expect(clone.status).toBe(201);
    expect(clone.body).not.toHaveProperty("mcp");
  });
});

describe("tools", () => {
  it("include those of the API and the caller's own workflows with the setting, with their fields and their result", async () => {
    const slug = await saveTool("Film maker");
    const stranger = await platform.createUser({ tier: "pro" });
    const foreign = await saveTool("Foreign", stranger);
    const tools = toolsOf(await rpc.request("tools/list"));
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["list_workflows", "get_workflow", "save_workflow", "quote", "run", "get_execution", "cancel", slug]),
    );
    expect(names).not.toContain(foreign);
    const film = tools.find(({ name }) => name === slug)!;
    expect(film.inputSchema.properties.inputs).toMatchObject({
      properties: {
        subject: { type: "string", maxLength: 80, default: "a boat" },
        style: { enum: ["oil", "ink"] },
        photo: { type: "string" },
      },
      required: ["style"],
      additionalProperties: false,
    });
    expect(Object.keys(film.inputSchema.properties)).toEqual(
      expect.arrayContaining(["inputs", "maxCredits", "metadata", "waitSeconds", "version"]),
    );
    expect(film.outputSchema!.properties.result).toMatchObject({ properties: { images: { type: "array" }, text: {} } });
  });

  it("include models if they are requested and the caller can run them", async () => {
    const { reply } = await rpc.send({ jsonrpc: "2.0", id: 1, method: "tools/list" }, {}, "?models=true");
    const model = (reply!.result!.tools as { name: string; inputSchema: object }[]).find(({ name }) => name === "model_sandbox-image");
    expect(model).toMatchObject({ inputSchema: { properties: { inputs: { properties: { prompt: { type: "string" } } } } } });
    const pro = await platform.createUser({ tier: "pro" });
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const { reply: ofPro } = await rpcOf(platform, pro).send(list, {}, "?models=true");
    expect((ofPro!.result!.tools as { name: string }[]).filter(({ name }) => name.startsWith("model_"))).toEqual([]);
  });

  it("are the same for clients of the revision without sessions", async () => {
    const list = modern("tools/list");
    const { answer, reply } = await rpc.send(list.message, list.headers);
    expect(answer.status).toBe(200);
    expect((reply!.result!.tools as object[]).length).toBeGreaterThan(6);
    const call = modern("tools/call", { name: "run", arguments: { model: "sandbox-image", inputs: {}, maxCredits: 9 } });
    expect(valueOf(await rpc.send(call.message, call.headers))).toMatchObject({ status: "completed", result: { text: "hi" } });
  });

  it("save and read a workflow unchanged", async () => {
    const saved = valueOf(await rpc.call("save_workflow", { name: "By agent", ...GRAPH }));
    expect(saved).toMatchObject({ name: "By agent", nodes: GRAPH.nodes });
    expect(saved).not.toHaveProperty("mcp");
    const changed = valueOf(await rpc.call("save_workflow", { slug: saved.slug, description: "Better" }));
    expect(changed).toMatchObject({ slug: saved.slug, description: "Better", nodes: GRAPH.nodes });
    expect(valueOf(await rpc.call("get_workflow", { slug: saved.slug }))).toEqual(changed);
    const listed = valueOf(await rpc.call("list_workflows", { limit: 1 }));
    expect(listed).toMatchObject({ workflows: [{ slug: saved.slug }], nextCursor: expect.any(String) as string });
  });

  it("need the capabilities of their routes, and count towards their limits", async () => {
    const key = await platform.send("/api/keys", { json: { name: "reads", preset: "read-only" }, headers: platform.bySession(business) });
    const reader = rpcOf(platform, { ...business, key: String(key.body.key) });
    const { reply } = await reader.call("run", { model: "sandbox-image", inputs: {}, maxCredits: 1 });
    expect(reply!.result).toMatchObject({ isError: true });
    expect(JSON.parse(reply!.result!.content![0]!.text!)).toMatchObject({ code: "CAPABILITY_DENIED", required: "model:sandbox-image:run" });
    expect(requests).toEqual([]);
  });
});

describe("a run", () => {
  const run = (args: object = {}, headers = {}, id: unknown = 1) =>
    rpc.call("run", { model: "sandbox-image", inputs: { prompt: "x" }, ...args }, headers, id);

  it("without maxCredits starts only at an exact price, which becomes its limit", async () => {
    expect(valueOf(await run())).toEqual({
      executionId: requests[0]!.executionId,
      status: "completed",
      result: { text: "hi" },
      cost: 2.5,
      ms: 40,
    });
    expect(requests[0]).toMatchObject({ maxMillicredits: 2_500, inputsJson: '{"prompt":"x"}' });
    price = { millicredits: 2_500, maxMillicredits: 125_000 };
    expect(valueOf(await run())).toMatchObject({ code: "INVALID_REQUEST", issues: [{ path: "maxCredits" }] });
    price = { millicredits: 2_500, maxMillicredits: 2_500, mayCostLess: true };
    expect(valueOf(await run())).toMatchObject({ code: "INVALID_REQUEST" });
    expect(requests).toHaveLength(1);
    expect(valueOf(await run({ maxCredits: 130 }))).toMatchObject({ status: "completed" });
    expect(requests[1]).toMatchObject({ maxMillicredits: 130_000 });
  });

  it("is the same for a repeated call in its session, and a new one in another session", async () => {
    const [one, other] = [await rpc.open(), await rpc.open()];
    const ids = [];
    for (const [session, id] of [
      [one, 7],
      [one, 7],
      [one, "7"],
      [other, 7],
      [{}, 7],
      [{}, 7],
    ] as const)
      ids.push(valueOf(await run({ maxCredits: 3 }, session, id)).executionId);
    expect(ids[1]).toBe(ids[0]);
    expect(new Set(ids).size).toBe(5);
    expect(requests[0]!.fingerprint).toBe(requests[1]!.fingerprint);
    await run({ maxCredits: 4 }, one, 7);
    expect(requests.at(-1)!.fingerprint).not.toBe(requests[0]!.fingerprint);
  });

  it("accepts calls only from its own user", async () => {
    const stranger = rpcOf(platform, await platform.createUser({ tier: "pro" }));
    const { answer, reply } = await stranger.request("tools/list", {}, await rpc.open());
    expect([answer.status, reply!.error]).toMatchObject([404, { code: -32_001 }]);
  });

  it("reports increasing progress from its events", async () => {
    events = [
      ["admitted"],
      ["submitted", { nodeId: "picture" }],
      ["node.delta"],
      ["node.completed", { nodeId: "picture" }],
      ["node.completed", { nodeId: "out" }],
      ["settled"],
    ];
    const params = { name: "run", arguments: { model: "sandbox-image", inputs: {}, maxCredits: 3 }, _meta: { progressToken: "p" } };
    const { notifications, reply } = await rpc.request("tools/call", params);
    expect(reply!.result).toMatchObject({ structuredContent: { status: "completed" } });
    const steps = notifications.map(({ params: step }) => step!.progress!);
    expect(steps).toHaveLength(4);
    expect(steps.every((step, at) => at === 0 || step > steps[at - 1]!)).toBe(true);
    expect(notifications.at(-1)!.params).toEqual({ progressToken: "p", progress: 2, total: 2, message: "out completed (2 of 2 nodes)" });
    // Without a progress token, no progress is streamed.
    const { answer, notifications: none } = await rpc.request("tools/call", { ...params, _meta: {} });
    expect([none, String(answer.headers["content-type"])]).toEqual([[], expect.stringMatching(/^application\/json/)]);
    const { message, headers } = modern("tools/call", { name: "run", arguments: params.arguments });
    expect((await rpc.send(message, headers)).answer.headers["content-type"]).toMatch(/^application\/json/);
  });

  it("that takes longer than a response can wait continues, and can be queried", async () => {
    gate = deferred();
    const first = valueOf(await run({ maxCredits: 3, waitSeconds: 0 }));
    expect(first).toEqual({ executionId: requests[0]!.executionId, status: "processing" });
    const waiting = rpc.call("get_execution", { executionId: first.executionId, waitSeconds: 60 });
    gate.resolve();
    expect(valueOf(await waiting)).toMatchObject({ executionId: first.executionId, result: { text: "hi" } });
    expect(cancelled).toEqual([]);
  });

  it("that fails returns an answer with the error", async () => {
    outcome = {
      status: "failed",
      error: executions.ExecutionError.fromPartial({ code: "EXECUTION_FAILED", message: "no", nodeId: "model" }),
    };
    const answer = await run();
    expect(answer.reply!.result).toMatchObject({ isError: true });
    expect(valueOf(answer)).toMatchObject({
      error: "no",
      code: "EXECUTION_FAILED",
      nodeId: "model",
      executionId: requests[0]!.executionId,
    });
  });

  it("returns images and sound inline up to a limit, and other files as links", async () => {
    const stored = async (bytes: Buffer): Promise<string> =>
      String(
        (
          await platform.send("/api/media", {
            body: bytes,
            headers: { ...platform.byKey(business), "content-type": "application/octet-stream" },
          })
        ).body.url,
      );
    const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
    const large = Buffer.concat([png, Buffer.alloc(1024 * 1024)]);
    const [small, big] = [await stored(png), await stored(large)];
    outcome.resultJson = JSON.stringify({
      images: [{ url: small }, { url: big }, { url: "https://elsewhere.example/a.png" }],
      text: "two",
    });
    const { reply } = await run();
    expect(reply!.result!.content!.slice(1)).toEqual([
      { type: "image", mimeType: "image/png", data: png.toString("base64") },
      { type: "resource_link", uri: big, name: expect.any(String) as string, mimeType: "image/png", size: large.length },
      { type: "resource_link", uri: "https://elsewhere.example/a.png", name: "a.png" },
    ]);
  });

  it("is shown with its output when it is read", async () => {
    const { executionId } = valueOf(await run());
    const url = "https://elsewhere.example/a.png";
    outcome.resultJson = JSON.stringify({ images: [{ url }] });
    const { reply } = await rpc.call("get_execution", { executionId });
    expect(reply!.result!.content!.at(-1)).toEqual({ type: "resource_link", uri: url, name: "a.png" });
  });

  it.each([
    ["several pictures", 4, 300_000, 0],
    ["a picture of 992 kB", 1, 992_000, 0],
    ["a text that is too long to be said twice", 0, 0, 600_000],
    ["a text that is too long to be said once", 0, 0, 1_200_000],
  ])("is a message of less than 1 MiB, whatever its output is: %s", async (_, count, bytes, characters) => {
    const png = Buffer.concat([
      Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64"),
    ]);
    const headers = { ...platform.byKey(business), "content-type": "application/octet-stream" };
    const images = [];
    for (let index = 0; index < count; index++) {
      const { body } = await platform.send("/api/media", { body: Buffer.concat([png, Buffer.alloc(bytes, index)]), headers });
      images.push({ url: String(body.url) });
    }
    outcome.resultJson = JSON.stringify({ images, text: "x".repeat(characters) });
    const { answer, reply } = await run();
    expect(Buffer.byteLength(answer.text)).toBeLessThan(1024 * 1024);
    const { structuredContent, content } = reply!.result! as {
      structuredContent: { status: string; result?: { text: string } };
      content: { type: string }[];
    };
    expect(structuredContent.status).toBe("completed");
    expect(structuredContent.result?.text.length).toBe(characters > 1_000_000 ? undefined : characters);
    expect(content.length).toBe(1 + count + (characters > 1_000_000 ? 2 : 0));
  });

  it("matches its tool's schema", async () => {
    const tool = toolsOf(await rpc.request("tools/list")).find(({ name }) => name === "run")!;
    expect(createInputCheck(tool.outputSchema!)(valueOf(await run()))).toEqual([]);
    pending = { queued: true, position: 3 };
    expect(createInputCheck(tool.outputSchema!)(valueOf(await run({ waitSeconds: 0 })))).toEqual([]);
  });
});

describe("a cancelled call", () => {
  const args = { model: "sandbox-image", inputs: {}, maxCredits: 3 };
  const callOff = (session: Record<string, string>, requestId: unknown) =>
    rpc.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } }, session);

  it("ends its run by a notification of its session", async () => {
    const session = await rpc.open();
    gate = deferred();
    outcome = { status: "cancelled" };
    const running = rpc.call("run", args, session, 5);
    await eventually(() => requests.length === 1);
    expect((await callOff(session, 6)).answer.status).toBe(202);
    expect(cancelled).toEqual([]);
    expect((await callOff(session, 5)).answer.status).toBe(202);
    expect(valueOf(await running)).toMatchObject({ error: "the run was cancelled" });
    expect(cancelled).toEqual([requests[0]!.executionId]);
  });

  it("ends a run that hasn't started yet, as soon as it starts", async () => {
    const session = await rpc.open();
    await callOff(session, "early");
    outcome = { status: "cancelled" };
    await rpc.call("run", args, session, "early");
    expect(cancelled).toEqual([requests[0]!.executionId]);
  });

  it("ends its run when its client disconnects, from 2026-07-28 on and not before", async () => {
    const leave = async (message: object, headers: Record<string, string>): Promise<void> => {
      const { hostname, port } = new URL(platform.baseUrl);
      const outgoing = httpRequest({
        hostname,
        port,
        path: "/mcp",
        method: "POST",
        headers: { ...headers, ...platform.byKey(business), "content-type": "application/json" },
      });
      outgoing.on("error", () => undefined).end(JSON.stringify(message));
      const before = requests.length;
      await eventually(() => requests.length > before);
      outgoing.destroy();
    };
    gate = deferred();
    await leave({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "run", arguments: args } }, {});
    const { message, headers } = modern("tools/call", { name: "run", arguments: args });
    await leave(message, headers);
    await eventually(() => cancelled.length > 0);
    expect(cancelled).toEqual([requests[1]!.executionId]);
    gate.resolve();
  });
});

it("accepts pages of the local machine under each of its names, and of no other origin", async () => {
  const { port } = new URL(platform.baseUrl);
  const status = async (origin: string): Promise<number> => (await rpc.request("tools/list", {}, { origin })).answer.status;
  for (const host of ["127.0.0.1", "localhost", "[::1]"]) expect(await status(`http://${host}:${port}`)).toBe(200);
  for (const origin of [`http://localhost:${Number(port) + 1}`, `https://localhost:${port}`, `http://localhost.example:${port}`])
    expect(await status(origin)).toBe(403);
});

it("lists tools on pages of less than 1 MiB, each of them once", async () => {
  const options = Array.from({ length: 1_500 }, (_, index) => `option ${index} ${"x".repeat(80)}`);
  const nodes = [{ id: "in", type: "request-input", data: { fields: [{ name: "style", type: "select", options }] } }];
  for (let index = 0; index < 8; index++)
    await platform.send("/api/workflows", {
      json: { name: `Large ${index}`, nodes, edges: [], mcp: true },
      headers: platform.bySession(business),
    });
  const names: string[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await rpc.send(
      { jsonrpc: "2.0", id: 1, method: "tools/list", params: cursor === undefined ? {} : { cursor } },
      {},
      "?models=true",
    );
    expect(Buffer.byteLength(page.answer.text)).toBeLessThan(1024 * 1024);
    names.push(...toolsOf(page).map(({ name }) => name));
    cursor = page.reply!.result!.nextCursor as string | undefined;
    pages += 1;
  } while (cursor !== undefined && pages < 20);
  expect(pages).toBeGreaterThan(1);
  expect(names.filter((name) => name.startsWith("large-"))).toHaveLength(8);
  expect(names).toEqual(expect.arrayContaining(["run", "model_sandbox-image"]));
  expect(new Set(names).size).toBe(names.length);
});

describe("a hostile message", () => {
  it.each(HOSTILE)(
    "gets a clean error: $name",
    async ({ message, raw, headers = {}, path = "/mcp", method = "POST", status, rpc: code, tool }) => {
      const body = raw ?? JSON.stringify(message);
      const options = {
        method,
        body,
        headers: { "content-type": "application/json", authorization: `Bearer ${business.key!}`, ...headers },
      };
      const answer = await platform.send(path, options);
      const data =
        answer.text
          .split("\n")
          .find((line) => line.startsWith("data: {"))
          ?.slice("data: ".length) ?? answer.text;
      const rpcMessage =
        data === ""
          ? undefined
          : (JSON.parse(data) as { error?: { code: number }; result?: { isError?: boolean; content: { text: string }[] } });
      expect([answer.status, rpcMessage?.error?.code]).toEqual([status, code]);
      if (tool !== undefined) {
        expect(rpcMessage!.result!.isError).toBe(true);
        expect((JSON.parse(rpcMessage!.result!.content[0]!.text) as { code?: string }).code ?? "").toBe(tool);
      }
      // The error contains neither a stack trace nor a path of the server.
      expect(answer.text).not.toMatch(/node_modules|\.js:\d|\n\s+at /);
      expect(requests).toEqual([]);
    },
  );

  it("doesn't affect the other responses", async () => {
    expect(toolsOf(await rpc.request("tools/list")).length).toBeGreaterThan(6);
  });
});
