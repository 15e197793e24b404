import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { compileSchema, type DomainError, type Price } from "@nodeloom/kernel";
import { createEgressClient, type EgressClient } from "@nodeloom/platform";
import type { Media } from "../src/clients";
import { createModelCalls, type ModelCalls } from "../src/model-calls";
import type { CatalogModel, ModelCatalog } from "../src/model-catalog";
import { createProvider } from "../src/providers";
import type { ExecutionStore } from "../src/store";
import type { ModelCall } from "../src/temporal/activity-types";
import { openStore } from "./support";

type Answer = { status?: number; body?: unknown };
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
      response.writeHead(answer.status ?? 200, { "content-type": "application/json" }).end(JSON.stringify(answer.body ?? {}));
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
const chat = (): Record<string, unknown> => ({ kind: "llm", baseUrl, model: "m" });

const PRICES: Record<string, Price> = {
  image: { basis: "image", microUsd: 20_000 },
  text: { basis: "tokens", inputMicroUsdPerMillion: 1_000_000, outputMicroUsdPerMillion: 1_000_000 },
};
const modelCalls = (settings: Record<string, unknown>, modality: "image" | "text"): ModelCalls => {
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
  };
  return createModelCalls({
    catalog: catalogOf(model),
    provider: () => createProvider(model.providerJson, { egress, secret: () => "super-secret-value" }),
    media: {} as Media,
    store,
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

describe("what is sent", () => {
  it("says every number that is paid for, also where the caller left it out", async () => {
    answers = ({ path }) => ({ body: path.includes("chat") ? { choices: [{ message: { content: "x" } }] } : { id: "j" } });
    await modelCalls(polling(), "image").submit(callOf());
    await modelCalls(chat(), "text").text(callOf(), live);
    await modelCalls(polling(), "image").submit(callOf({ inputs: { prompt: "hi", count: 3 } }));
    expect(seen.map(({ body }) => body.n ?? body.max_tokens)).toEqual([2, 99, 3]);
  });

  it("carries an idempotency key whatever script the node's id is in", async () => {
    answers = () => ({ body: { id: "j" } });
    const call = callOf({ nodeId: "画像" });
    const calls = modelCalls(polling({ idempotencyHeader: "idempotency-key" }), "image");
    await calls.submit(call);
    await calls.submit(call);
    expect(seen[0]!.headers["idempotency-key"]).toMatch(/^[0-9a-f]{64}$/);
    expect(seen[1]!.headers["idempotency-key"]).toBe(seen[0]!.headers["idempotency-key"]);
  });
});

describe("a submission to a provider without idempotency keys", () => {
  it("is sent once, however often it is asked for", async () => {
    answers = () => ({ body: { id: "only" } });
    const call = callOf();
    const calls = modelCalls(polling(), "image");
    expect(await calls.submit(call)).toEqual({ requestId: "only" });
    expect(await calls.submit(call)).toEqual({ requestId: "only" });
    expect(seen).toHaveLength(1);
  });

  it("is not sent again after it may have been received", async () => {
    answers = () => undefined;
    const call = callOf();
    const calls = modelCalls(polling(), "image");
    await expect(calls.submit(call)).rejects.toMatchObject({ reason: "PROVIDER_SUBMIT_FAILED" });
    await expect(calls.submit(call)).rejects.toMatchObject({ reason: "PROVIDER_SUBMIT_FAILED" });
    expect(seen).toHaveLength(1);
  });

  it("outlives a database that is away for a moment", async () => {
    answers = () => ({ body: { id: "kept" } });
    let failures = 2;
    const flaky: ExecutionStore = {
      ...store,
      recordSubmission: (...args) => (failures-- > 0 ? Promise.reject(new Error("away")) : store.recordSubmission(...args)),
    };
    const settings = polling();
    const inputSchema = { type: "object" };
    const model = {
      internalName: "m",
      modality: "image",
      price: PRICES.image!,
      inputSchema,
      validate: () => [],
    } as unknown as CatalogModel;
    const calls = createModelCalls({
      catalog: catalogOf(model),
      provider: () => createProvider(JSON.stringify(settings), { egress, secret: () => undefined }),
      media: {} as Media,
      store: flaky,
    });
    const call = callOf();
    await calls.submit(call);
    expect(await store.claimSubmission(call.key)).toMatchObject({ requestId: "kept" });
  });
});

describe("what a provider says", () => {
  it("is shortened and cleaned before it becomes a run's error", async () => {
    answers = () => ({ body: { status: "failed", error: `super-secret-value ${"x".repeat(100_000)}` } });
    const failure = await modelCalls(polling(), "image")
      .poll(callOf(), { requestId: "j" }, live, () => undefined)
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

  it("tells the provider, also when it can't say how the job stands", async () => {
    answers = ({ path }) => (path.endsWith("/cancel") ? {} : { status: 500 });
    expect(await modelCalls(polling(), "image").cancel(callOf(), { requestId: "j" })).toEqual({ report: "provider_told", finished: null });
  });
});
