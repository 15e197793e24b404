import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { createInputCheck, unavailable, type Price } from "@nodeloom/kernel";
import { createSlots, createEgressClient, createLogger, type EgressClient } from "@nodeloom/platform";
import type { Media } from "../../src/clients";
import { DOWNLOADS } from "../../src/calls/call";
import { createCallClock, type CallClock } from "../../src/calls/clock";
import { createFiles, type Files, type FilesOptions } from "../../src/calls/files";
import type { CatalogModel } from "../../src/plan/model-catalog";
import { createJobs } from "../../src/calls/jobs";
import { createGates } from "../../src/calls/gates";
import { createProvider } from "@nodeloom/providers";
import type { Stores } from "../../src/record/stores";
import { createSubmissions } from "../../src/calls/submissions";
import type { ModelCall } from "../../src/run/calls";
import { pictures, voice } from "../../../../test-support/direct";
import { startRecorder, type Recorder, type RecordedRequest } from "../../../../test-support/recorder";
import { openStore } from "../support/index";
import { startMedia, type RunningMedia } from "../support/media";
import { SANDBOX_KEY, startSandbox, type RunningSandbox } from "../support/sandbox";

const live = new AbortController().signal;
const soon = (): CallClock => createCallClock();

let sandbox: RunningSandbox;
let sandboxUrl: string;
let storage: RunningMedia;
let media: Media;
let egress: EgressClient;
let stores: Stores;
let stopStore: () => Promise<void>;
/** A provider whose responses each test sets. */
let own: Recorder;
let ownUrl: string;
let answer: (request: RecordedRequest, response: ServerResponse, body: Record<string, unknown>) => void;
let requests: Record<string, unknown>[];

beforeAll(async () => {
  sandbox = await startSandbox();
  own = await startRecorder((response, request) => {
    const body = JSON.parse(request.body || "{}") as Record<string, unknown>;
    requests.push(body);
    answer(request, response, body);
  });
  [sandboxUrl, ownUrl] = [sandbox.url, own.url];
  egress = createEgressClient({ allow: [sandbox.address, own.address] });
  storage = await startMedia({ PROVIDER_EGRESS_ALLOW: `${sandbox.address},${own.address}` });
  ({ client: media } = storage);
  ({ stores, stop: stopStore } = await openStore());
});
afterAll(async () => {
  await egress.close();
  await own.close();
  await Promise.all([sandbox.stop(), storage.stop(), stopStore()]);
});
beforeEach(() => {
  requests = [];
});

const images = (part: object = {}): object => pictures(`${sandboxUrl}/v1`, "sandbox-image-fast", part);
const speech = (part: object = {}): object => voice(sandboxUrl, "sandbox-speech", part);

const INPUTS = {
  type: "object",
  properties: { prompt: { type: "string" }, voice: {}, sandbox: {}, count: { type: "integer", default: 1, maximum: 4 } },
};
const PRICES: Record<string, Price> = { image: { basis: "image", microUsd: 20_000 }, audio: { basis: "run", microUsd: 10_000 } };

const optionsOf = (settings: object): FilesOptions => {
  const modality = (settings as { answer?: string }).answer === "bytes" ? "audio" : "image";
  const model: CatalogModel = {
    internalName: "m",
    modality,
    providerKind: String((settings as { kind?: string }).kind ?? "direct-http"),
    price: PRICES[modality]!,
    inputSchema: INPUTS,
    validate: createInputCheck(INPUTS),
    minTier: "free",
    providerJson: JSON.stringify(settings),
    inputSchemaJson: JSON.stringify(INPUTS),
  };
  return {
    catalog: {
      get: () => Promise.resolve(model),
      getAny: () => Promise.resolve(model),
      names: () => Promise.resolve([]),
      ofTasks: () => Promise.resolve(new Map()),
      retired: () => Promise.resolve(new Map()),
      getAll: () => Promise.resolve(new Map()),
    },
    provider: () => createProvider(model.providerJson, { egress, secret: () => SANDBOX_KEY }),
    gate: () => createGates(createLogger("test", "silent"))(model.providerJson),
    media,
    downloads: createSlots(DOWNLOADS),
    submissions: createSubmissions(stores),
    own: "http://media.test/",
  };
};
const calls = (settings: object, part: Partial<Pick<FilesOptions, "media" | "downloads" | "memory">> = {}): Files =>
  createFiles({ ...optionsOf(settings), ...part });
const callOf = (inputs: object = {}, price: Price = PRICES.image!): ModelCall => {
  const executionId = randomUUID();
  return {
    executionId,
    userId: "u",
    nodeId: "node",
    nodeIndex: 0,
    item: 0,
    items: 1,
    startedAt: 0,
    price,
    key: `${executionId}:node:0`,
    model: "m",
    inputs: { prompt: "a loom", sandbox: { latencyMs: 0 }, ...inputs },
  };
};
const bytesAt = async (url: string): Promise<Buffer> => Buffer.from(await (await storage.fetch(url)).arrayBuffer());
const stats = async (what: "images" | "speech"): Promise<number> =>
  (
    (await (await fetch(`${sandboxUrl}/sandbox/stats`, { headers: { "x-sandbox-control-key": SANDBOX_KEY } })).json()) as Record<
      typeof what,
      { requests: number }
    >
  )[what].requests;

describe("the memory for responses", () => {
  it("is limited: responses that don't fit wait, and all are stored", async () => {
    const memory = createSlots({ concurrency: 1, queueLimit: 10 });
    const loads: number[] = [];
    const watched: typeof memory = {
      ...memory,
      enter: async (options) => {
        const leave = await memory.enter(options);
        loads.push(memory.load().inUse);
        return leave;
      },
    };
    const target = calls(images(), { memory: watched });
    const results = await Promise.all(Array.from({ length: 4 }, () => target.run(callOf({ count: 1 }), live, soon())));
    expect(results.map(({ files }) => files.length)).toEqual([1, 1, 1, 1]);
    expect(loads).toEqual([1, 1, 1, 1]);
    expect(memory.load()).toEqual({ inUse: 0, waiting: 0 });
  });
});

describe("files in the response", () => {
  it("are stored in the platform, in order, and priced by their number", async () => {
    const result = await calls(images()).run(callOf({ count: 2 }), live, soon());
    expect(result.files).toHaveLength(2);
    for (const { url, contentType } of result.files) {
      expect([contentType, url]).toEqual(["image/png", expect.stringMatching(/^http:\/\/public\.test\/media\/\w+\.png$/)]);
      expect((await bytesAt(url)).subarray(1, 4).toString()).toBe("PNG");
    }
    expect(result.costMicroUsd).toBe(40_000);
    expect(result.requestId).toMatch(/^req-/);
    expect(JSON.stringify(result).length).toBeLessThan(1_000);
  });

  it("can be an address instead, or a data URL", async () => {
    const result = await calls(images({ parameters: { response_format: "url" } })).run(callOf(), live, soon());
    expect(result.files[0]!.url).toMatch(/^http:\/\/public\.test\/media\//);
    const picture = await bytesAt(result.files[0]!.url);
    answer = (_request, response) =>
      response.end(JSON.stringify({ data: [{ url: `data:image/png;base64,${picture.toString("base64")}` }] }));
    const inline = await calls(images({ baseUrl: ownUrl })).run(callOf(), live, soon());
    expect(await bytesAt(inline.files[0]!.url)).toEqual(picture);
  });

  it("can be the response itself: a sound, with the requested voice", async () => {
    const target = calls(speech());
    const rachel = await target.run(callOf({}, PRICES.audio!), live, soon());
    expect(rachel).toMatchObject({
      files: [{ contentType: "audio/wav" }],
      costMicroUsd: 10_000,
      requestId: expect.stringMatching(/^req-/) as string,
    });
    const adam = await target.run(callOf({ voice: "adam" }, PRICES.audio!), live, soon());
    const [first, second] = await Promise.all([bytesAt(rachel.files[0]!.url), bytesAt(adam.files[0]!.url)]);
    expect(first.subarray(0, 4).toString()).toBe("RIFF");
    expect(second).not.toEqual(first);
  });

  it("are stored in parallel up to the process's limit for all of its calls", async () => {
    let now = 0;
    let most = 0;
    const counting = {
      ...media,
      upload: async (...args: Parameters<Media["upload"]>) => {
        most = Math.max(most, (now += 1));
        try {
          return await media.upload(...args);
        } finally {
          now -= 1;
        }
      },
    };
    const part = { media: counting as Media, downloads: createSlots({ concurrency: 2, queueLimit: 100 }) };
    const targets = [calls(images(), part), calls(images(), part)];
    const results = await Promise.all(targets.map((target) => target.run(callOf({ count: 4 }), live, soon())));
    expect(results.map(({ files }) => files.length)).toEqual([4, 4]);
    expect(most).toBe(2);
    await expect(
      calls(images(), { downloads: createSlots({ concurrency: 1, queueLimit: 0 }) }).run(callOf({ count: 2 }), live, soon()),
    ).rejects.toMatchObject({ reason: "EXECUTION_FAILED", message: expect.stringMatching(/too many are waiting/) as string });
  });

  it("are found again by one look-up, in order", async () => {
    const requestedIds: string[][] = [];
    const counting = {
      ...media,
      getObjects: (...[request, ...rest]: Parameters<Media["getObjects"]>) => {
        requestedIds.push(request.ids);
        return media.getObjects(request, ...rest);
      },
    };
    const target = calls(images(), { media: counting as Media });
    const call = callOf({ count: 4 });
    const first = await target.run(call, live, soon());
    expect(requestedIds).toEqual([]);
    expect(await target.run(call, live, soon())).toEqual(first);
    expect(requestedIds).toEqual([[0, 1, 2, 3].map((index) => `${call.executionId}-0-0-${index}`)]);
  });

  it("are stored again, completely, if storage fails during the upload", async () => {
    let losses = 2;
    const dying = {
      ...media,
      upload: async (...args: Parameters<Media["upload"]>) => {
        if (losses-- === 0) return media.upload(...args);
        for await (const _ of args[0]) break;
        throw unavailable("media is not available");
      },
    } as unknown as Media;
    const { files } = await calls(speech(), { media: dying }).run(callOf({}, PRICES.audio), live, soon());
    const { files: undisturbed } = await calls(speech()).run(callOf({}, PRICES.audio), live, soon());
    expect(losses).toBe(-1);
    expect(await bytesAt(files[0]!.url)).toEqual(await bytesAt(undisturbed[0]!.url));
  });

  it("are rejected above 100 MB", async () => {
    const piece = Buffer.alloc(4 * 1_024 * 1_024, 1);
    answer = (_request, response) => {
      response.writeHead(200, { "content-type": "audio/wav" });
      response.write("RIFF\x24\0\0\0WAVEfmt ", "latin1");
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on("drain", more);
      more();
    };
    await expect(calls(speech({ baseUrl: ownUrl })).run(callOf(), live, soon())).rejects.toMatchObject({
      reason: "EXECUTION_FAILED",
      message: expect.stringMatching(/larger than/) as string,
    });
  });

  it("that are invalid, or of another kind, are not a success", async () => {
    const nothing = { sandbox: { latencyMs: 0, fail: "incomplete" } };
    for (const settings of [images(), speech()])
      await expect(calls(settings).run(callOf(nothing), live, soon())).rejects.toMatchObject({ reason: "PROVIDER_RESPONSE_INCOMPLETE" });
    answer = (_request, response) => response.end("<html>a page</html>");
    await expect(calls(speech({ baseUrl: ownUrl })).run(callOf(), live, soon())).rejects.toMatchObject({ reason: "EXECUTION_FAILED" });
  });
});

describe("the address of a job's file", () => {
  const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const poll = { path: "/jobs/{requestId}", status: "/status", succeeded: ["done"], failed: ["failed"], intervalMs: 50 };
  const submit = { path: "/jobs", body: {}, requestId: "/id" };
  const jobs = (): ReturnType<typeof createJobs> =>
    createJobs(optionsOf({ kind: "http-polling", baseUrl: ownUrl, submit, poll, outputs: { images: "/files/*" } }));
  let polls: number;
  /** A provider that signs a new address at each poll. @param good number of the valid address */
  const signing = (good: number, addressOf = (poll: number) => `${ownUrl}/file-${poll}`): void => {
    polls = 0;
    answer = ({ path }, response) => {
      if (path.startsWith("/jobs/")) return response.end(JSON.stringify({ status: "done", files: [addressOf((polls += 1))] }));
      if (path === `/file-${good}`) return response.end(Buffer.from(PIXEL, "base64"));
      response.writeHead(403).end();
    };
  };
  const followed = () => jobs().poll(callOf(), { requestId: "j" }, live);

  it("is requested again after it expired", async () => {
    signing(2);
    expect(await followed()).toMatchObject({ files: [{ contentType: "image/png" }], costMicroUsd: 20_000 });
    expect(polls).toBe(2);
  });

  it("fails the call if the next one has also expired, or is the same", async () => {
    signing(3);
    await expect(followed()).rejects.toMatchObject({ reason: "EXECUTION_FAILED", message: expect.stringContaining("403") as string });
    expect(polls).toBe(2);
    signing(0, () => `${ownUrl}/file-1`);
    await expect(followed()).rejects.toMatchObject({ reason: "EXECUTION_FAILED" });
    expect(polls).toBe(2);
  });
});

describe("a request", () => {
  it("includes the fixed members, values that no input can change, and the key in its header", async () => {
    let headers: IncomingHttpHeaders = {};
    answer = (request, response) => {
      headers = request.headers;
      response.writeHead(418).end("{}");
    };
    const settings = images({ baseUrl: ownUrl, parameters: { size: "64x64" } });
    await expect(calls(settings).run(callOf({ size: "huge", model: "other" }), live, soon())).rejects.toMatchObject({
      reason: "PROVIDER_SUBMIT_FAILED",
      metadata: { providerStatus: 418 },
    });
    expect(requests).toEqual([{ prompt: "a loom", sandbox: { latencyMs: 0 }, n: 1, size: "64x64", model: "sandbox-image-fast" }]);
    expect(headers.authorization).toBe(`Bearer ${SANDBOX_KEY}`);
  });

  it.each(["..", ""])("never goes to another path for a voice called %j", async (voice) => {
    await expect(calls(speech({ baseUrl: ownUrl })).run(callOf({ voice }), live, soon())).rejects.toThrow("m: input voice: ");
    expect(requests).toEqual([]);
  });

  it("is sent once: a repeated attempt finds the stored files", async () => {
    const before = await stats("images");
    const target = calls(images());
    const call = callOf({ count: 2 });
    const first = await target.run(call, live, soon());
    expect(await target.run(call, live, soon())).toEqual(first);
    expect((await stats("images")) - before).toBe(1);
  });

  it("is not sent again if it may have been received", async () => {
    answer = (_request, response) => response.destroy();
    const target = calls(images({ baseUrl: ownUrl }));
    const call = callOf();
    for (let attempt = 0; attempt < 2; attempt += 1)
      await expect(target.run(call, live, soon())).rejects.toMatchObject({ reason: "PROVIDER_SUBMIT_FAILED" });
    expect(requests).toHaveLength(1);
  });

  it("is not sent again if its response was incomplete", async () => {
    answer = (_request, response) => {
      response.writeHead(200, { "content-type": "audio/wav", "content-length": "1000" });
      response.write("RIFF", () => response.destroy());
    };
    const target = calls(speech({ baseUrl: ownUrl }));
    const call = callOf();
    await expect(target.run(call, live, soon())).rejects.toMatchObject({
      reason: "EXECUTION_FAILED",
      message: expect.stringMatching(/did not arrive/) as string,
    });
    await expect(target.run(call, live, soon())).rejects.toMatchObject({ reason: "PROVIDER_SUBMIT_FAILED" });
    expect(requests).toHaveLength(1);
  });

  it("is sent again if it certainly was not received", async () => {
    const call = callOf();
    await expect(calls(images({ baseUrl: "http://127.0.0.1:1" })).run(call, live, soon())).rejects.toMatchObject({ kind: "unreachable" });
    expect((await calls(images()).run(call, live, soon())).files).toHaveLength(1);
  });

  it("waits for a provider that states its waiting time", async () => {
    answer = (_request, response) => response.writeHead(429, { "retry-after": "1" }).end("{}");
    const call = callOf();
    await expect(calls(images({ baseUrl: ownUrl })).run(call, live, soon())).rejects.toMatchObject({ name: "TryAgain" });
    expect((await calls(images()).run(call, live, soon())).files).toHaveLength(1);
  });
});

describe("an aborted call", () => {
  it("before it was sent is stopped, and can't be sent any more", async () => {
    const before = await stats("images");
    const target = calls(images());
    const call = callOf();
    expect(await target.stop(call)).toEqual({ report: "stopped", finished: null });
    await expect(target.run(call, live, soon())).rejects.toMatchObject({ reason: "PROVIDER_SUBMIT_FAILED" });
    expect(await stats("images")).toBe(before);
  });

  it("while the provider works closes the connection, and the report states that it could not be stopped", async () => {
    const arrived = new Promise<ServerResponse>((resolve) => (answer = (_request, response) => resolve(response)));
    const target = calls(speech({ baseUrl: ownUrl }));
    const call = callOf();
    const cancellation = new AbortController();
    const run = target.run(call, cancellation.signal, soon());
    run.catch(() => undefined);
    const closed = once(await arrived, "close");
    cancellation.abort(new Error("cancelled"));
    expect(await target.stop(call)).toEqual({ report: "could_not_stop", finished: null });
    await expect(run).rejects.toThrow("cancelled");
    await closed;
  });

  it("after it was stored keeps its output", async () => {
    const target = calls(images());
    const call = callOf();
    const result = await target.run(call, live, soon());
    expect(await target.stop(call)).toEqual({ report: "stopped", finished: result });
  });
});
