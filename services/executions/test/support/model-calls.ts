import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { createInputCheck, type Price } from "@nodeloom/kernel";
import { createEgressClient, createSlots, type EgressClient } from "@nodeloom/platform";
import type { Media } from "../../src/clients";
import { DOWNLOADS, type CallOptions } from "../../src/calls/call";
import { createCallClock, type CallClock } from "../../src/calls/clock";
import type { Gate } from "../../src/calls/gates";
import { createJobs, type Jobs } from "../../src/calls/jobs";
import { createSubmissions } from "../../src/calls/submissions";
import { createTexts, type Texts, type WrittenText } from "../../src/calls/texts";
import type { CatalogModel, ModelCatalog } from "../../src/plan/model-catalog";
import { createProvider } from "@nodeloom/providers";
import type { Stores } from "../../src/record/stores";
import type { ModelCall } from "../../src/run/calls";
import { TIMING } from "../../src/run/timing";
import { startRecorder, type Recorder } from "../../../../test-support/recorder";
import { openStore } from "./index";

/** Calls of models against a local provider, recorded in a real store. */

export type Answer = { status?: number; body?: unknown; raw?: string; headers?: Record<string, string> };
export type RecordedRequest = { path: string; headers: IncomingHttpHeaders; body: Record<string, unknown> };

/** The provider; valid while the tests of a file run. */
export const peer = {} as {
  baseUrl: string;
  egress: EgressClient;
  stores: Stores;
  /** Response to a request; undefined breaks the connection. */
  answers: (request: RecordedRequest) => Answer | undefined;
  /** Requests of one test. */
  requests: RecordedRequest[];
};

/** Starts the provider before a file's tests and stops it afterwards. */
export const usePeer = (): void => {
  let server: Recorder;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    server = await startRecorder((response, { method, path, headers, body }) => {
      const call: RecordedRequest = { path: `${method} ${path}`, headers, body: JSON.parse(body || "{}") as RecordedRequest["body"] };
      peer.requests.push(call);
      const answer = peer.answers(call);
      if (!answer) return void response.destroy();
      response
        .writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers })
        .end(answer.raw ?? JSON.stringify(answer.body ?? {}));
    });
    peer.baseUrl = server.url;
    peer.egress = createEgressClient({ allow: [server.address] });
    ({ stores: peer.stores, stop } = await openStore());
  });
  afterAll(async () => {
    await peer.egress.close();
    await server.close();
    await stop();
  });
  beforeEach(() => {
    peer.requests = [];
  });
};

export const polling = (part: Record<string, unknown> = {}): Record<string, unknown> => ({
  kind: "http-polling",
  baseUrl: peer.baseUrl,
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
export const chat = (part: Record<string, unknown> = {}): Record<string, unknown> => ({
  kind: "llm",
  baseUrl: peer.baseUrl,
  model: "m",
  ...part,
});

export const PRICES: Record<string, Price> = {
  image: { basis: "image", microUsd: 20_000 },
  text: { basis: "tokens", inputMicroUsdPerMillion: 1_000_000, outputMicroUsdPerMillion: 1_000_000 },
};
export const open: Gate = { pass: (call) => call() };
type ModelCalls = Jobs & { text: Texts["run"] };
const callsWith = (options: CallOptions): ModelCalls => ({ ...createJobs(options), text: createTexts(options).run });
export const modelCalls = (
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
    validate: createInputCheck(inputSchema),
    minTier: "free",
    providerJson: JSON.stringify(settings),
    inputSchemaJson: "{}",
  };
  return callsWith({
    catalog: catalogOf(model),
    provider: () => createProvider(model.providerJson, { egress: peer.egress, secret: () => "super-secret-value" }),
    gate: () => gate,
    media: {} as Media,
    downloads,
    submissions: createSubmissions(peer.stores),
    own: "http://media.test/",
  });
};
export const catalogOf = (model: CatalogModel): ModelCatalog => ({
  get: () => Promise.resolve(model),
  getAny: () => Promise.resolve(model),
  names: () => Promise.resolve([]),
  ofTasks: () => Promise.resolve(new Map()),
  retired: () => Promise.resolve(new Map()),
  getAll: () => Promise.resolve(new Map()),
});
export const callOf = (part: Partial<ModelCall> = {}): ModelCall => {
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
export const live: AbortSignal = new AbortController().signal;
/** Clock of a call that still has time for retries. */
export const soon = (): CallClock => createCallClock();
/** Clock of a call with this much time left. */
export const until = (leftMs: number): CallClock => createCallClock({ askedAt: Date.now() + leftMs - TIMING.submitTotal });
export const never = (): undefined => undefined;
export const unheard: WrittenText = { restart: never, write: never };
export const says = (status: number, retryAfter?: string): Answer => ({
  status,
  headers: retryAfter === undefined ? {} : { "retry-after": retryAfter },
});
