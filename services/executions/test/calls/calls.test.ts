import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { compileSchema, type DomainError, type Price } from "@nodeloom/kernel";
import { createEgressClient, createLogger, createSlots, type EgressClient } from "@nodeloom/platform";
import type { Media } from "../../src/clients";
import { FAILURES_TO_OPEN } from "../../src/calls/breaker";
import { DOWNLOADS, type CallOptions } from "../../src/calls/call";
import { TryAgain } from "../../src/calls/failures";
import { createCallClock, type CallClock } from "../../src/calls/clock";
import { createGates, type Gate } from "../../src/calls/gates";
import { createJobs, type Jobs } from "../../src/calls/jobs";
import { createSubmissions } from "../../src/calls/submissions";
import { createTexts, type Texts, type WrittenText } from "../../src/calls/texts";
import type { CatalogModel, ModelCatalog } from "../../src/plan/model-catalog";
import { createProvider, ProviderError } from "../../src/providers";
import type { ExecutionStore } from "../../src/record/store";
import type { ModelCall } from "../../src/contract/activity-types";
import type { CallResult } from "../../src/contract/run-types";
import { ATTEMPTS, TIMING } from "../../src/contract/timing";
import { openStore } from "../support/index";

type Answer = { status?: number; body?: unknown; raw?: string; headers?: Record<string, string> };
type Seen = { path: string; headers: IncomingHttpHeaders; body: Record<string, unknown> };
let server: Server;
let baseUrl: string;
let egress: EgressClient;
let store: ExecutionStore;
let stop: () => Promise<void>;
let answers: (seen: Seen) => Answer | undefined;
let seen: Seen[];

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      const call: Seen = {
        path: `${request.method} ${request.url}`,
        headers: request.headers,
        body: (text === "" ? {} : JSON.parse(text)) as Seen["body"],
      };
      seen.push(call);
      const answer = answers(call);
      if (!answer) return void response.destroy();
      response
        .writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers })
        .end(answer.raw ?? JSON.stringify(answer.body ?? {}));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  baseUrl = `http://${address}`;
  egress = createEgressClient({ allow: [address] });
  ({ store, stop } = await openStore());
});
afterAll(async () => {
  await egress.close();
  server.closeAllConnections();
  server.close();
  await stop();
});
beforeEach(() => {
  seen = [];
});

const polling = (part: Record<string, unknown> = {}): Record<string, unknown> => ({
  kind: "http-polling",
  baseUrl,
  submit: { path: "/jobs", body: { prompt: { $input: "prompt" }, n: { $input: "count" } }, requestId: "/id", ...part },
  poll: {
    path: "/jobs/{requestId}",
    status: "/status",
    succeeded: ["done"],
    failed: ["failed"],
    error: "/error",
    intervalMs: 10,
    maxIntervalMs: 20,
  },
  cancel: { path: "/jobs/{requestId}/cancel" },
  outputs: { images: "/files/*" },
  auth: { secretEnv: "KEY" },
});
const chat = (part: Record<string, unknown> = {}): Record<string, unknown> => ({ kind: "llm", baseUrl, model: "m", ...part });

const PRICES: Record<string, Price> = {
  image: { basis: "image", microUsd: 20_000 },
  text: { basis: "tokens", inputMicroUsdPerMillion: 1_000_000, outputMicroUsdPerMillion: 1_000_000 },
};
const open: Gate = { pass: (call) => call() };
type ModelCalls = Jobs & { text: Texts["run"] };
const callsWith = (options: CallOptions): ModelCalls => ({ ...createJobs(options), text: createTexts(options).run });
const modelCalls = (
  settings: Record<string, unknown>,
  modality: "image" | "text",
  gate = open,
  downloads = createSlots(DOWNLOADS),
): ModelCalls => {
  const inputSchema = {
    type: "object",
    properties: {
      prompt: { type: "string" },
      count: { type: "integer", default: 2, maximum: 4 },
      maxTokens: { type: "integer", default: 99, maximum: 500 },
    },
  };
  const model: CatalogModel = {
    internalName: "m",
    modality,
    providerKind: String(settings.kind),
    price: PRICES[modality]!,
    inputSchema,
    validate: compileSchema(inputSchema),
    minTier: "free",
    trialRuns: 0,
    providerJson: JSON.stringify(settings),
    inputSchemaJson: "{}",
  };
  return callsWith({
    catalog: catalogOf(model),
    provider: () => createProvider(model.providerJson, { egress, secret: () => "super-secret-value" }),
    gate: () => gate,
    media: {} as Media,
    downloads,
    submissions: createSubmissions(store),
  });
};
const catalogOf = (model: CatalogModel): ModelCatalog => ({
  get: () => Promise.resolve(model),
  getAny: () => Promise.resolve(model),
  getAll: () => Promise.resolve(new Map()),
});
const callOf = (part: Partial<ModelCall> = {}): ModelCall => {
  const executionId = randomUUID();
  const nodeId = part.nodeId ?? "node";
  return {
    executionId,
    userId: "u",
    nodeId,
    nodeIndex: 0,
    item: 0,
    items: 1,
    startedAt: 0,
    price: PRICES.image!,
    key: `${executionId}:${nodeId}:0`,
    model: "m",
    inputs: { prompt: "hi" },
    ...part,
  };
};
const live = new AbortController().signal;
/** A call whose provider may be tried again. */
const soon = (): CallClock => createCallClock();
/** One whose provider is tried for so long yet. */
const until = (leftMs: number): CallClock => createCallClock({ askedAt: Date.now() + leftMs - TIMING.submitTotal });
const never = (): undefined => undefined;
const unheard: WrittenText = { restart: never, write: never };

describe("what is sent", () => {
  it("says every number that is paid for, also where the caller left it out", async () => {
    answers = ({ path }) => ({ body: path.includes("chat") ? { choices: [{ message: { content: "x" } }] } : { id: "j" } });
    await modelCalls(polling(), "image").submit(callOf(), live, soon());
    await modelCalls(chat(), "text").text(callOf(), live, soon(), unheard);
    await modelCalls(polling(), "image").submit(callOf({ inputs: { prompt: "hi", count: 3 } }), live, soon());
    expect(seen.map(({ body }) => body.n ?? body.max_tokens)).toEqual([2, 99, 3]);
  });

  it("bounds a text by the name that its model has for that, and no other", async () => {
    answers = () => ({ body: { choices: [{ message: { content: "x" } }] } });
    const limits = async (settings: Record<string, unknown>): Promise<unknown> => {
      seen = [];
      await modelCalls(settings, "text").text(callOf({ inputs: { prompt: "hi", maxTokens: 7 } }), live, soon(), unheard);
      const [{ body }] = seen as [Seen];
      return Object.fromEntries(Object.entries(body).filter(([name]) => /tokens/i.test(name)));
    };
    expect(await limits(chat())).toEqual({ max_tokens: 7 });
    expect(await limits(chat({ tokenLimit: "max_completion_tokens" }))).toEqual({ max_completion_tokens: 7 });
    expect(await limits(chat({ tokenLimit: "max_completion_tokens", stream: true }))).toEqual({ max_completion_tokens: 7 });
  });

  it("carries an idempotency key whatever script the node's id is in", async () => {
    answers = () => ({ body: { id: "j" } });
    const call = callOf({ nodeId: "画像" });
    const calls = modelCalls(polling({ idempotencyHeader: "idempotency-key" }), "image");
    await calls.submit(call, live, soon());
    await calls.submit(call, live, soon());
    expect(seen[0]!.headers["idempotency-key"]).toMatch(/^[0-9a-f]{64}$/);
    expect(seen[1]!.headers["idempotency-key"]).toBe(seen[0]!.headers["idempotency-key"]);
  });
});

describe("a submission to a provider without idempotency keys", () => {
  const withRecords = (records: ExecutionStore): Jobs => {
    const model = {
      internalName: "m",
      modality: "image",
      price: PRICES.image!,
      inputSchema: { type: "object" },
      validate: () => [],
    } as unknown as CatalogModel;
    return createJobs({
      catalog: catalogOf(model),
      provider: () => createProvider(JSON.stringify(polling()), { egress, secret: () => undefined }),
      gate: () => open,
      media: {} as Media,
      downloads: createSlots(DOWNLOADS),
      submissions: createSubmissions(records),
    });
  };
  const away = (): Promise<never> => Promise.reject(new Error("away"));

  it("goes on with a claim of its own process that was never sent", async () => {
    answers = () => ({ body: { id: "late" } });
    const records = { ...store, callSubmitted: away, releaseSubmission: away };
    const jobs = withRecords(records);
    const call = callOf();
    await expect(jobs.submit(call, live, soon())).rejects.toThrow("away");
    Object.assign(records, { callSubmitted: store.callSubmitted });
    expect(await jobs.submit(call, live, soon())).toMatchObject({ requestId: "late" });
    expect(seen).toHaveLength(1);
  });

  it("is not sent again by the process whose answer could not be recorded, nor by another one", async () => {
    answers = () => ({ body: { id: "unwritten" } });
    const records = { ...store, recordSubmission: away };
    const jobs = withRecords(records);
    const [call, lost] = [callOf(), callOf()];
    await expect(jobs.submit(call, live, soon())).rejects.toThrow("away");
    await expect(jobs.submit(lost, live, soon())).rejects.toThrow("away");
    await store.loseSubmission(lost.key);
    await expect(withRecords(store).submit(lost, live, soon())).rejects.toMatchObject({ reason: "PROVIDER_SUBMIT_FAILED" });
    Object.assign(records, { recordSubmission: store.recordSubmission });
    expect(await jobs.submit(call, live, soon())).toMatchObject({ requestId: "unwritten" });
    expect(seen).toHaveLength(2);
    expect(await withRecords(store).submit(call, live, soon())).toMatchObject({ requestId: "unwritten" });
  });

  it("is sent once, however often it is asked for", async () => {
    answers = () => ({ body: { id: "only" } });
    const call = callOf();
    const calls = modelCalls(polling(), "image");
    expect(await calls.submit(call, live, soon())).toMatchObject({ requestId: "only" });
    expect(await calls.submit(call, live, soon())).toMatchObject({ requestId: "only" });
    expect(seen).toHaveLength(1);
  });

  it("is not sent again after it may have been received", async () => {
    answers = () => undefined;
    const call = callOf();
    const calls = modelCalls(polling(), "image");
    await expect(calls.submit(call, live, soon())).rejects.toMatchObject({ reason: "PROVIDER_SUBMIT_FAILED" });
    await expect(calls.submit(call, live, soon())).rejects.toMatchObject({ reason: "PROVIDER_SUBMIT_FAILED" });
    expect(seen).toHaveLength(1);
  });

  it("is waited for while another process, which may only be silent, makes it", async () => {
    const call = callOf();
    expect(await store.claimSubmission(call.key, "another")).toEqual({ claimed: true });
    const waiting = modelCalls(polling(), "image").submit(call, live, soon());
    await store.recordSubmission(call.key, "made elsewhere", null);
    expect(await waiting).toMatchObject({ requestId: "made elsewhere" });
    expect(seen).toHaveLength(0);
  });

  it("is made once by a process that is asked for it again meanwhile", async () => {
    const call = callOf();
    const calls = modelCalls(polling(), "image");
    answers = () => ({ body: { id: "only" } });
    const both = await Promise.all([calls.submit(call, live, soon()), calls.submit(call, live, soon())]);
    expect(both.map(({ requestId }) => requestId)).toEqual(["only", "only"]);
    expect(seen).toHaveLength(1);
  });

  it("outlives a database that is away for a moment", async () => {
    answers = () => ({ body: { id: "kept" } });
    let failures = 2;
    const flaky: ExecutionStore = {
      ...store,
      recordSubmission: (...args) => (failures-- > 0 ? Promise.reject(new Error("away")) : store.recordSubmission(...args)),
    };
    const calls = withRecords(flaky);
    const call = callOf();
    await calls.submit(call, live, soon());
    expect(await store.claimSubmission(call.key, "another")).toMatchObject({ requestId: "kept" });
  });
});

const IDEMPOTENT = { idempotencyHeader: "idempotency-key" };
/** How a submission that got this answer ends, and whether its claim is free again. */
const outcomeOf = async (answer: Answer | undefined, idempotent: boolean): Promise<{ ends: string; released: boolean }> => {
  answers = () => answer;
  const call = callOf();
  const ends = await modelCalls(polling(idempotent ? IDEMPOTENT : {}), "image")
    .submit(call, live, soon())
    .then(
      () => "taken",
      (error: unknown) => {
        if (error instanceof TryAgain) return `again after ${Math.floor(error.afterMs / 1_000)} s`;
        return error instanceof ProviderError
          ? "again"
          : `${(error as DomainError).reason} ${String((error as DomainError).metadata.providerStatus)}`;
      },
    );
  return { ends, released: (await store.claimSubmission(call.key, "another")).claimed };
};
const says = (status: number, retryAfter?: string): Answer => ({
  status,
  headers: retryAfter === undefined ? {} : { "retry-after": retryAfter },
});
const refusedWith = (status: number): string => `PROVIDER_SUBMIT_FAILED ${status}`;

describe("a submission that fails", () => {
  it.each<[string, Answer | undefined, boolean, string, boolean]>([
    ["429 that says when", says(429, "2"), false, "again after 2 s", true],
    ["429 that says when, with keys", says(429, "2"), true, "again after 2 s", true],
    ["503 that says when", says(503, "1"), false, "again after 1 s", true],
    ["429 that does not say when", says(429), false, refusedWith(429), true],
    ["429 that says nonsense", says(429, "soon"), false, refusedWith(429), true],
    ["503 that does not say when", says(503), false, refusedWith(503), false],
    ["500 that says when", says(500, "1"), false, refusedWith(500), false],
    ["500, with keys", says(500), true, refusedWith(500), true],
    ["422", says(422), false, refusedWith(422), true],
    ["409, which may be an answer to an earlier one", says(409), false, refusedWith(409), false],
    ["a pause longer than there is time", says(429, "3600"), false, refusedWith(429), true],
    ["an answer that never came", undefined, false, "PROVIDER_SUBMIT_FAILED undefined", false],
    ["an answer that never came, with keys", undefined, true, "again", true],
  ])("%s", async (_name, answer, idempotent, ends, released) => {
    expect(await outcomeOf(answer, idempotent)).toEqual({ ends, released });
  });

  it.each<[string, Answer | undefined, boolean]>([
    ["429 that says when", says(429, "2"), false],
    ["422", says(422), false],
    ["503 that says when", says(503, "1"), false],
    ["500", says(500), true],
    ["an answer that never came", undefined, true],
  ])("counts as sent unless the provider certainly did not take it: %s", async (_name, answer, counts) => {
    for (const settings of [polling(), polling(IDEMPOTENT)]) {
      answers = () => answer;
      const call = callOf();
      await expect(modelCalls(settings, "image").submit(call, live, soon())).rejects.toThrow();
      expect(await store.callsOf(call.executionId)).toHaveLength(counts ? 1 : 0);
    }
    const call = callOf({ price: PRICES.text!, model: "m" });
    answers = () => answer;
    await expect(modelCalls(chat(), "text").text(call, live, until(0), unheard)).rejects.toThrow();
    expect(await store.callsOf(call.executionId)).toHaveLength(counts ? 1 : 0);
  });

  it("counts as sent when an earlier attempt may have reached the provider, whatever this one is answered", async () => {
    const call = callOf();
    const calls = modelCalls(polling(IDEMPOTENT), "image");
    answers = () => undefined;
    await expect(calls.submit(call, live, soon())).rejects.toThrow();
    answers = () => says(429, "1");
    await expect(calls.submit(call, live, soon())).rejects.toBeInstanceOf(TryAgain);
    expect(await store.callsOf(call.executionId)).toHaveLength(1);
  });

  it("is sent again, once, after the provider had no time", async () => {
    const call = callOf();
    const calls = modelCalls(polling(), "image");
    answers = () => says(429, "0");
    await expect(calls.submit(call, live, soon())).rejects.toBeInstanceOf(TryAgain);
    answers = () => ({ body: { id: "late" } });
    expect(await calls.submit(call, live, soon())).toMatchObject({ requestId: "late" });
    expect(await calls.submit(call, live, soon())).toMatchObject({ requestId: "late" });
    expect(seen).toHaveLength(2);
  });
});

describe("a provider that is away", () => {
  afterEach(() => jest.restoreAllMocks());
  const gateOf = (settings: Record<string, unknown>): Gate => createGates(createLogger("test", "silent"))(JSON.stringify(settings));

  it("is not called: submissions wait, or fail when there is no time left", async () => {
    answers = () => says(502);
    const settings = polling(IDEMPOTENT);
    const calls = modelCalls(settings, "image", gateOf(settings));
    const clock = jest.spyOn(Date, "now");
    for (let failures = 0; failures < FAILURES_TO_OPEN; failures += 1) {
      if (failures === FAILURES_TO_OPEN - 1) clock.mockReturnValue(Date.now() + TIMING.breakerOutage);
      await expect(calls.submit(callOf(), live, soon())).rejects.toMatchObject({ metadata: { providerStatus: 502 } });
    }
    await expect(calls.submit(callOf(), live, soon())).rejects.toMatchObject({
      name: "TryAgain",
      problem: { reason: "EXECUTION_FAILED", message: `m: provider ${new URL(baseUrl).host} is not available at the moment` },
    });
    await expect(calls.submit(callOf(), live, until(0))).rejects.toMatchObject({ reason: "EXECUTION_FAILED" });
    expect(seen).toHaveLength(FAILURES_TO_OPEN);
  });

  it("leaves no claim on what was not sent", async () => {
    answers = () => ({ body: { id: "j" } });
    const settings = polling({});
    const gate: Gate = { pass: () => Promise.reject(new ProviderError("unavailable", "away", undefined, undefined, 10)) };
    const call = callOf();
    await expect(modelCalls(settings, "image", gate).submit(call, live, soon())).rejects.toBeInstanceOf(TryAgain);
    expect(await modelCalls(settings, "image").submit(call, live, soon())).toMatchObject({ requestId: "j" });
  });

  it("still is asked about its jobs, and told to stop them", async () => {
    const shut: Gate = { pass: () => Promise.reject(new Error("shut")) };
    answers = ({ path }) => (path.endsWith("/cancel") ? {} : { body: { status: "failed", error: "over" } });
    await expect(modelCalls(polling(), "image", shut).poll(callOf(), { requestId: "j" }, live)).rejects.toThrow("m: over");
    answers = ({ path }) => (path.endsWith("/cancel") ? {} : { body: { status: "working" } });
    expect((await modelCalls(polling(), "image", shut).cancel(callOf(), { requestId: "j" })).report).toBe("provider_told");
  });
});

describe("a text model that streams", () => {
  const piece = (content: string): string => `data: ${JSON.stringify({ id: "c1", choices: [{ delta: { content } }] })}\n\n`;
  const streaming = { ...chat(), stream: true, auth: { secretEnv: "KEY" } };
  const run = async (raw: string): Promise<{ said: string[]; result: unknown }> => {
    answers = () => ({ raw, headers: { "content-type": "text/event-stream; charset=utf-8" } });
    const said: string[] = [];
    const written: WrittenText = { restart: () => said.push("<restart>"), write: (text) => said.push(text) };
    const result = await modelCalls({ ...streaming, baseUrl }, "text")
      .text(callOf({ price: PRICES.text! }), live, soon(), written)
      .catch((error: unknown) => error);
    return { said, result };
  };

  it("is heard piece by piece, and gives what it would have given at once", async () => {
    const usage = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } })}\r\n\r\n`;
    const { said, result } = await run(`: hello\n\n${piece("Once ")}${piece("")}${piece("upon")}${usage}data: [DONE]\n\n`);
    expect(said).toEqual(["<restart>", "Once ", "upon"]);
    expect(result).toMatchObject({ text: "Once upon", costMicroUsd: 7, requestId: "c1" });
    expect(seen[0]!.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  it.each<[string, string, string]>([
    ["breaks off", piece("Once "), "PROVIDER_SUBMIT_FAILED"],
    ["fails in between", `${piece("Once ")}data: {"error":{"message":"super-secret-value overloaded"}}\n\n`, "PROVIDER_SUBMIT_FAILED"],
    ["sends no JSON", `${piece("Once ")}data: {\n\n`, "PROVIDER_SUBMIT_FAILED"],
    ["says nothing", "data: [DONE]\n\n", "PROVIDER_RESPONSE_INCOMPLETE"],
  ])("gives no text when it %s", async (_name, raw, reason) => {
    const { result } = await run(raw);
    expect(result).toMatchObject({ reason });
    expect((result as Error).message).not.toContain("super-secret-value");
  });

  it("may answer at once all the same", async () => {
    answers = () => ({ body: { choices: [{ message: { content: "whole" } }] } });
    expect((await modelCalls({ ...streaming, baseUrl }, "text").text(callOf(), live, soon(), unheard)).text).toBe("whole");
  });
});

describe("a text model that is asked for JSON", () => {
  const schema = { type: "array", items: { $ref: "#/$defs/a" }, $defs: { a: { type: "integer" } } };
  const asked = (part: Partial<ModelCall> = {}): ModelCall => callOf({ schema, price: PRICES.text!, ...part });
  const answer = (content: string, more: object = {}): void => {
    answers = () => ({ body: { choices: [{ message: { content }, ...more }] } });
  };
  const run = (call: ModelCall, settings: object = {}): Promise<CallResult> =>
    modelCalls({ ...chat(), ...settings }, "text").text(call, live, soon(), unheard);
  const structured = { structuredOutput: "json_schema" };
  const sent = (): Record<string, unknown> => seen.at(-1)!.body as Record<string, unknown>;

  it("is told the schema in words where it has no mode of its own", async () => {
    answer("```json\n[1,2]\n```");
    expect(await run(asked({ inputs: { prompt: "hi", system: "Be brief." } }))).toMatchObject({ json: { value: [1, 2] } });
    const [system, user] = sent().messages as { role: string; content: string }[];
    expect(system!.content).toMatch(/^Be brief\.\n\nAnswer with JSON alone/);
    expect(system!.content).toContain(JSON.stringify(schema));
    expect(user).toEqual({ role: "user", content: "hi" });
    expect(sent()).not.toHaveProperty("response_format");
  });

  it("is given the schema by its own mode, inside an object, and what it answers is taken out of that", async () => {
    answer('{"answer":[1,2]}');
    expect(await run(asked(), structured)).toMatchObject({ text: "[1,2]", json: { value: [1, 2] } });
    expect(sent().messages).toEqual([{ role: "user", content: "hi" }]);
    expect(sent().response_format).toMatchObject({
      type: "json_schema",
      json_schema: { schema: { properties: { answer: { items: { $ref: "#/properties/answer/$defs/a" } } }, required: ["answer"] } },
    });
  });

  it("is given the schema of an object as it is", async () => {
    answer('{"answer":1}');
    expect(await run(asked({ schema: { type: "object" } }), structured)).toMatchObject({ json: { value: { answer: 1 } } });
    expect(sent().response_format).toMatchObject({ json_schema: { schema: { type: "object" } } });
  });

  it("is charged for an answer that does not fit, and says why that is", async () => {
    answer('["x"]');
    const result = await run(asked());
    expect(result).toMatchObject({ text: '["x"]', problems: ["0 must be a whole number"] });
    expect(result).not.toHaveProperty("json");
    expect(result.costMicroUsd).toBeGreaterThan(0);
    answer("[1,", { finish_reason: "length" });
    expect((await run(asked())).problems).toEqual(["is no JSON", "ends where the most tokens were reached"]);
  });

  it("is told what it answered before, and what was wrong with that", async () => {
    answer("[1]");
    await run(asked({ repair: { answer: "words", problems: ["is no JSON", "is short"] } }));
    expect((sent().messages as unknown[]).slice(1)).toEqual([
      { role: "user", content: "hi" },
      { role: "assistant", content: "words" },
      { role: "user", content: expect.stringContaining("it is no JSON; it is short") as string },
    ]);
  });
});

describe("a text model whose answer does not arrive", () => {
  it("is asked again a few times", async () => {
    answers = () => (seen.length < ATTEMPTS.textBroken ? undefined : { body: { choices: [{ message: { content: "x" } }] } });
    expect((await modelCalls(chat(), "text").text(callOf(), live, soon(), unheard)).text).toBe("x");
    answers = () => undefined;
    await expect(modelCalls(chat(), "text").text(callOf(), live, soon(), unheard)).rejects.toMatchObject({
      reason: "PROVIDER_SUBMIT_FAILED",
    });
    expect(seen).toHaveLength(2 * ATTEMPTS.textBroken);
  });

  it("is asked until it can be reached, and no longer than there is time", async () => {
    let refusals = 3;
    const gate: Gate = {
      pass: (work) => (refusals-- > 0 ? Promise.reject(new ProviderError("unreachable", "connection refused")) : work()),
    };
    answers = () => ({ body: { choices: [{ message: { content: "x" } }] } });
    expect((await modelCalls(chat(), "text", gate).text(callOf(), live, soon(), unheard)).text).toBe("x");
    refusals = 100;
    await expect(modelCalls(chat(), "text", gate).text(callOf(), live, until(300), unheard)).rejects.toMatchObject({
      reason: "EXECUTION_FAILED",
    });
  });
});

describe("a text model that has no time", () => {
  it("is waited for", async () => {
    answers = () => (seen.length < 3 ? says(429, "0") : { body: { choices: [{ message: { content: "x" } }] } });
    expect((await modelCalls(chat(), "text").text(callOf(), live, soon(), unheard)).text).toBe("x");
  });

  it("is not waited for past the deadline", async () => {
    answers = () => says(503, "3600");
    await expect(modelCalls(chat(), "text").text(callOf(), live, soon(), unheard)).rejects.toMatchObject({
      metadata: { providerStatus: 503 },
    });
  });

  it("is not waited for after a cancellation", async () => {
    const cancelled = new AbortController();
    answers = () => {
      cancelled.abort();
      return says(429, "50");
    };
    await expect(modelCalls(chat(), "text").text(callOf(), cancelled.signal, soon(), unheard)).rejects.toThrow();
    expect(seen).toHaveLength(1);
  });
});

describe("polls", () => {
  afterEach(() => jest.restoreAllMocks());

  it("come as late as the provider asks", async () => {
    const at: number[] = [];
    answers = () => {
      at.push(Date.now());
      return at.length === 1 ? says(429, "0.3") : { body: { status: "failed", error: "over" } };
    };
    await expect(modelCalls(polling(), "image").poll(callOf(), { requestId: "j" }, live)).rejects.toThrow(/over/);
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(290);
  });

  it("end at once when they are given up while their files wait to be stored", async () => {
    answers = () => ({ body: { status: "done", files: ["http://files.test/1"] } });
    const full = createSlots({ concurrency: 1, queueLimit: 1 });
    let release = (): void => undefined;
    const others = full.use(() => new Promise<void>((resolve) => (release = resolve)), { maxWaitMs: 60_000 });
    const given = new AbortController();
    const polled = modelCalls(polling(), "image", open, full).poll(callOf(), { requestId: "j" }, given.signal);
    while (full.load().waiting === 0) await new Promise(setImmediate);
    given.abort(new Error("given up"));
    await expect(polled).rejects.toThrow("given up");
    expect(full.load()).toEqual({ inUse: 1, waiting: 0 });
    release();
    await others;
  });

  /** Polls with a clock that moves by a minute at each of them. */
  const pollSlowly = (answer: () => Answer): Promise<unknown> => {
    let now = Date.now();
    jest.spyOn(Date, "now").mockImplementation(() => now);
    answers = () => {
      now += 60_000;
      return answer();
    };
    return modelCalls(polling(), "image").poll(callOf(), { requestId: "j" }, live);
  };

  it("give up a provider that has been silent for too long, whose job may go on", async () => {
    await expect(pollSlowly(() => ({ status: 500 }))).rejects.toMatchObject({ reason: "EXECUTION_FAILED", metadata: { jobMayRun: true } });
    expect(seen).toHaveLength(4);
  });

  it("do not take a provider for silent that only has no time", async () => {
    await expect(
      pollSlowly(() => (seen.length < 8 ? { status: 429 } : { body: { status: "failed", error: "over" } })),
    ).rejects.toMatchObject({ message: "m: over", metadata: {} });
  });
});

describe("what a provider says", () => {
  it("is shortened and cleaned before it becomes a run's error", async () => {
    answers = () => ({ body: { status: "failed", error: `super-secret-value ${"x".repeat(100_000)}` } });
    const failure = await modelCalls(polling(), "image")
      .poll(callOf(), { requestId: "j" }, live)
      .catch((error: unknown) => error as DomainError);
    expect(failure).toMatchObject({ reason: "EXECUTION_FAILED" });
    expect((failure as DomainError).message).toMatch(/^m: \[secret\] xxx/);
    expect((failure as DomainError).message.length).toBeLessThan(600);
  });

  it("is priced by an estimate when it does not count its tokens", async () => {
    answers = () => ({ body: { choices: [{ message: { content: "y".repeat(400) } }] } });
    const { costMicroUsd } = await modelCalls(chat(), "text").text(
      callOf({ inputs: { prompt: "x".repeat(40) }, price: PRICES.text! }),
      live,
      soon(),
      unheard,
    );
    expect(costMicroUsd).toBe(10 + 100);
  });
});

describe("cancelling", () => {
  it("reports at once a provider that refuses to stop", async () => {
    answers = ({ path }) => (path.endsWith("/cancel") ? { status: 409 } : { body: { status: "working" } });
    expect(await modelCalls(polling(), "image").cancel(callOf(), { requestId: "j" })).toEqual({ report: "could_not_stop", finished: null });
  });

  it("is tried again where the provider fails for a moment", async () => {
    answers = ({ path }) => (path.endsWith("/cancel") ? { status: 503 } : { body: { status: "working" } });
    await expect(modelCalls(polling(), "image").cancel(callOf(), { requestId: "j" })).rejects.toThrow(/503/);
  });

  it("is tried again where the provider has no time, when it says", async () => {
    answers = ({ path }) => (path.endsWith("/cancel") ? says(429, "2") : { body: { status: "working" } });
    const failure = await modelCalls(polling(), "image")
      .cancel(callOf(), { requestId: "j" })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TryAgain);
    expect((failure as TryAgain).afterMs).toBeGreaterThanOrEqual(2_000);
  });

  it("tells the provider, also when it can't say how the job stands", async () => {
    answers = ({ path }) => (path.endsWith("/cancel") ? {} : { status: 500 });
    expect(await modelCalls(polling(), "image").cancel(callOf(), { requestId: "j" })).toEqual({ report: "provider_told", finished: null });
  });
});
