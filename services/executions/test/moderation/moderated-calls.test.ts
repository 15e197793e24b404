import { randomUUID } from "node:crypto";
import { createInputCheck, createMediaUrls, type DomainError } from "@nodeloom/kernel";
import { createEgressClient, createLogger, createOwnServers, createSlots, type EgressClient, type OwnServers } from "@nodeloom/platform";
import { DOWNLOADS, type CallOptions } from "../../src/calls/call";
import { createCallClock } from "../../src/calls/clock";
import { createFiles } from "../../src/calls/files";
import { createProvider } from "@nodeloom/providers";
import { createSubmissions } from "../../src/calls/submissions";
import { createTexts } from "../../src/calls/texts";
import type { Calls } from "../../src/calls/ways";
import type { Media } from "../../src/clients";
import type { Question } from "../../src/moderation/hook";
import { createModeration, type Moderation, type ModerationOptions } from "../../src/moderation/moderation";
import { SIGHTS } from "../../src/moderation/settings";
import type { ModelCall } from "../../src/run/calls";
import { outputsOfResult } from "../../src/run/values";
import type { CallResult } from "../../src/run/types";
import type { ModerationRecord } from "../../src/record/moderation";
import type { Stores } from "../../src/record/stores";
import { pictures } from "../../../../test-support/direct";
import { openStore } from "../support/index";
import { catalogOf, open, PRICES } from "../support/model-calls";
import { ALLOW, SECRET, startModerationHook, type ModerationHook } from "../support/moderation-hook";
import { startRecordingServer, type RecordingServer } from "../../../../test-support/recording-server";
import { startMedia, type RunningMedia } from "../support/media";

const OWN = "http://public.test/media/";
const USER = "u";
const PNG = Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), Buffer.alloc(64, 7)]);
const REFUSE = { decision: "refuse", reason: "violence", message: "Blood is not shown here." } as const;
const live = new AbortController().signal;
const logger = createLogger("test", "silent");

let storage: RunningMedia;
let media: Media;
let provider: RecordingServer;
let egress: EgressClient;
let servers: OwnServers;
let hook: ModerationHook;
let stores: Stores;
let stopStore: () => Promise<void>;

beforeAll(async () => {
  provider = await startRecordingServer();
  hook = await startModerationHook();
  egress = createEgressClient({ allow: [provider.address] });
  servers = createOwnServers();
  storage = await startMedia();
  ({ client: media } = storage);
  ({ stores, stop: stopStore } = await openStore());
});
afterAll(async () => {
  await Promise.all([egress.close(), servers.close(), storage.stop(), provider.stop(), hook.stop(), stopStore()]);
});
afterEach(() => expect(hook.failures).toEqual([]));
beforeEach(() => {
  hook.reset();
  provider.requests.length = 0;
  provider.answer = ({ call }) =>
    call.includes("images")
      ? { json: { data: [{ b64_json: PNG.toString("base64") }] } }
      : { json: { choices: [{ message: { content: "Once upon a time" } }], usage: { prompt_tokens: 1, completion_tokens: 4 } } };
});

interface Part extends Partial<Pick<ModerationOptions, "store" | "media">> {
  fail?: "closed" | "open";
  timeoutMs?: number;
  sees?: (typeof SIGHTS)[number][];
}

const moderationOf = (part: Part = {}): Moderation =>
  createModeration({
    config: {
      MODERATION_URL: hook.url,
      MODERATION_SECRET: [SECRET],
      MODERATION_FAIL: part.fail ?? "closed",
      MODERATION_TIMEOUT_MS: part.timeoutMs ?? 5_000,
      MODERATION_SEES: part.sees ?? [...SIGHTS],
    },
    store: part.store ?? stores.moderation,
    media: part.media ?? media,
    transform: {} as never,
    egressOf: servers.clientOf,
    own: OWN,
    urls: createMediaUrls("https://platform.test"),
    logger,
  })!;

const optionsOf = (modality: "image" | "text", { storage: moderationStorage }: Moderation): CallOptions => {
  const inputSchema = { type: "object", properties: { prompt: { type: "string" }, count: { type: "integer" } } };
  const settings =
    modality === "image"
      ? pictures(`${provider.url}/v1`, "m")
      : { kind: "llm", baseUrl: provider.url, model: "m", auth: { secretEnv: "KEY" } };
  const providerJson = JSON.stringify(settings);
  const model = {
    ...{
      internalName: "m",
      modality,
      providerKind: String(settings.kind),
      price: PRICES[modality]!,
      inputSchema,
      minTier: "free" as const,
    },
    ...{ validate: createInputCheck(inputSchema), providerJson, inputSchemaJson: JSON.stringify(inputSchema) },
  };
  return {
    catalog: catalogOf(model),
    provider: () => createProvider(providerJson, { egress, secret: () => "key" }),
    gate: () => open,
    ...{ media, storage: moderationStorage, downloads: createSlots(DOWNLOADS), submissions: createSubmissions(stores), own: OWN },
  };
};

/** Calls of runs in a new process. */
const callsOf = (moderation = moderationOf()): Calls =>
  moderation.calls({
    files: createFiles(optionsOf("image", moderation)),
    texts: createTexts(optionsOf("text", moderation)),
    httpRequest: () => Promise.resolve({ status: 200, body: { say: "hello" } }),
  } as unknown as Calls);

const unheard = { restart: () => undefined, write: () => undefined };
const picture = (call: ModelCall, calls = callsOf()): Promise<CallResult> => calls.files.run(call, live, createCallClock());
const text = (call: ModelCall, calls = callsOf()): Promise<CallResult> => calls.texts.run(call, live, createCallClock(), unheard);

const callOf = (part: Partial<ModelCall> = {}): ModelCall => {
  const executionId = randomUUID();
  return {
    ...{ executionId, userId: USER, nodeId: "pic", nodeIndex: 0, item: 0, items: 1, startedAt: 0, model: "m" },
    ...{ price: PRICES.image!, key: `${executionId}:pic:0`, inputs: { prompt: "a loom" } },
    ...part,
  };
};
const outputsAsked = (): Question[] => hook.questions.filter(({ kind }) => kind === "output");
const errorOf = (work: Promise<unknown>): Promise<DomainError> =>
  work.then(
    () => Promise.reject(new Error("it passed")),
    (error: DomainError) => error,
  );
const bytesAt = async (url: string): Promise<{ status: number; bytes: Buffer }> => {
  const response = await storage.fetch(url);
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
};
const idsOf = ({ executionId }: ModelCall): string[] => [`${executionId}-0-0-0`];
const listed = async (): Promise<string[]> =>
  (await media.listObjects({ ownerId: USER, limit: 500, cursor: "" })).objects.map(({ id }) => id);

describe("a file that a call creates", () => {
  it("is available only to the hook until it is approved, and then to everyone", async () => {
    const call = callOf();
    let lastQuestion: Question | undefined;
    hook.decide = async (question) => {
      if (question.kind === "input") return ALLOW;
      lastQuestion = question;
      const { url } = question.files[0]!;
      expect(await bytesAt(url)).toMatchObject({ status: 200 });
      expect((await bytesAt(url.replace(/look=.*/, "look=0"))).status).toBe(404);
      expect((await bytesAt(url.split("?")[0]!)).status).toBe(404);
      expect((await media.getObjects({ ids: idsOf(call), ownerId: USER })).objects).toEqual([]);
      await expect(media.getProvenance({ id: idsOf(call)[0]!, ownerId: USER })).rejects.toThrow("not found");
      expect(await listed()).not.toContain(idsOf(call)[0]);
      return ALLOW;
    };
    const result = await picture(call);
    const { url } = result.files[0]!;
    expect((await bytesAt(url)).status).toBe(200);
    expect(await listed()).toContain(idsOf(call)[0]);
    expect(lastQuestion).toMatchObject({ kind: "output", accountId: USER, node: "pic", model: "m", texts: [] });
    expect(lastQuestion!.files).toEqual([
      {
        url: expect.stringContaining(`${url}?look=`) as string,
        contentType: "image/png",
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
    ]);
  });

  it("is removed if it is rejected, and its call fails, is charged, and isn't made by another model", async () => {
    hook.decide = ({ kind }) => (kind === "output" ? REFUSE : ALLOW);
    const call = callOf();
    const error = await errorOf(picture(call));
    expect(error).toMatchObject({
      kind: "failed",
      reason: "CONTENT_REFUSED",
      message: "its output was refused: Blood is not shown here. (violence)",
    });
    expect(error.metadata).toEqual({ refused: { costMicroUsd: 20_000, requestId: null } });
    const [outputQuestion] = outputsAsked();
    expect((await bytesAt(outputQuestion!.files[0]!.url)).status).toBe(404);
    expect((await media.getObjects({ ids: idsOf(call), ownerId: USER, withHeld: true })).objects).toEqual([]);
  });

  it.each(["before the decision was kept", "before the file was removed", "after the file was removed"] as const)(
    "is checked under one id, created once, and still rejected after its process was killed %s",
    async (point) => {
      hook.decide = ({ kind }) => (kind === "output" ? REFUSE : ALLOW);
      const call = callOf();
      let kill!: (what: "killed") => void;
      const death = new Promise<"killed">((resolve) => (kill = resolve));
      const dies = (): Promise<never> => {
        kill("killed");
        return new Promise(() => undefined);
      };
      const insert = (record: ModerationRecord) => (record.kind === "output" ? dies() : stores.moderation.insert(record));
      const deaths: Record<typeof point, Part> = {
        "before the decision was kept": { store: { ...stores.moderation, insert } },
        "before the file was removed": { media: { ...media, decideHeld: dies } },
        "after the file was removed": { media: { ...media, decideHeld: (request) => media.decideHeld(request).then(dies) } },
      };
      expect(await Promise.race([picture(call, callsOf(moderationOf(deaths[point]))), death])).toBe("killed");
      expect(await errorOf(picture(call))).toMatchObject({ reason: "CONTENT_REFUSED", metadata: { refused: { costMicroUsd: 20_000 } } });
      expect(new Set(outputsAsked().map(({ id }) => id)).size).toBe(1);
      expect(provider.requests).toHaveLength(1);
      expect((await media.getObjects({ ids: idsOf(call), ownerId: USER, withHeld: true })).objects).toEqual([]);
    },
  );

  it("is decided once: a repeated attempt finds the decision and the file", async () => {
    const call = callOf();
    const first = await picture(call);
    expect(await picture(call)).toEqual(first);
    expect(outputsAsked()).toHaveLength(1);
  });

  it("is not returned, but charged, if its run stops after the rejection", async () => {
    const call = callOf();
    hook.decide = ({ kind }) => (kind === "output" ? REFUSE : ALLOW);
    await errorOf(picture(call));
    expect(await callsOf().files.stop(call)).toMatchObject({ finished: null, refused: { costMicroUsd: 20_000, requestId: null } });
  });
});

describe("a text that a call creates", () => {
  it("is checked before it is returned, and can then be sent on without a second check", async () => {
    const call = callOf({ price: PRICES.text! });
    expect((await text(call)).text).toBe("Once upon a time");
    expect(hook.questions.map(({ kind, texts }) => [kind, texts])).toEqual([
      ["input", ["a loom"]],
      ["output", ["Once upon a time"]],
    ]);
    const { executionId } = call;
    await picture(callOf({ executionId, key: `${executionId}:next:0`, nodeId: "next", inputs: { prompt: "Once upon a time" } }));
    expect(hook.questions.filter(({ kind }) => kind === "input")).toHaveLength(1);
  });

  it("is not streamed to followers", () => {
    const calls = moderationOf().calls({ textStreams: { open: () => Promise.reject(new Error("told")) } } as unknown as Calls);
    expect(() => calls.textStreams.open(callOf())).not.toThrow();
  });

  it("is rejected like one of an HTTP node, which costs nothing", async () => {
    hook.decide = ({ texts }) => (texts.includes('{"say":"hello"}') ? REFUSE : ALLOW);
    const error = await errorOf(callsOf().httpRequest({ ...callOf(), call: {} as never }, live));
    expect(error).toMatchObject({ reason: "CONTENT_REFUSED", metadata: {} });
  });
});

it("a prompt that is created during the run is rejected before it is sent, for free", async () => {
  hook.decide = ({ texts }) => (texts.includes("blood") ? REFUSE : ALLOW);
  const error = await errorOf(picture(callOf({ inputs: { prompt: "blood" } })));
  expect(error).toMatchObject({
    reason: "CONTENT_REFUSED",
    message: "its prompt was refused: Blood is not shown here. (violence)",
    metadata: {},
  });
  expect(provider.requests).toEqual([]);
});

describe("while the hook is unavailable", () => {
  beforeEach(() => {
    hook.respond = () => ({ status: 503 });
  });

  it("nothing is sent to a provider", async () => {
    const error = await errorOf(picture(callOf(), callsOf(moderationOf({ timeoutMs: 100 }))));
    expect(error).toMatchObject({ kind: "unavailable", reason: "SERVICE_UNAVAILABLE", metadata: { moderation: "away" } });
    expect(provider.requests).toEqual([]);
  });

  it("an output waits for it, and its call isn't repeated", async () => {
    let away = true;
    hook.respond = ({ json }) => {
      if ((json() as Question).kind === "input" || !away) return { json: ALLOW };
      away = false;
      return { status: 503 };
    };
    const pendingPicture = picture(callOf(), callsOf(moderationOf({ timeoutMs: 60_000 })));
    expect((await pendingPicture).files).toHaveLength(1);
    expect(provider.requests).toHaveLength(1);
  });

  it("everything passes if the installation is configured so, and is listed as unchecked", async () => {
    const call = callOf({ userId: randomUUID() });
    expect((await picture(call, callsOf(moderationOf({ timeoutMs: 100, fail: "open" })))).files).toHaveLength(1);
    const rows = await stores.moderation.list(call.userId, 10, undefined);
    expect(rows.map(({ decision, kind }) => [decision, kind])).toEqual([
      ["unchecked", "output"],
      ["unchecked", "input"],
    ]);
  });
});

describe("a rerun", () => {
  const takenFrom = async (call: ModelCall, result: CallResult, moderation: Moderation): Promise<boolean> => {
    const earlier = { outputs: outputsOfResult(result), from: call.executionId, savedMicroUsd: 1 };
    const [earlierResult] = await moderation.earlier(() => Promise.resolve([earlier]))([], { userId: USER, sources: [], pins: false });
    return earlierResult !== null;
  };

  it("reuses approved results, and repeats unchecked ones and those checked under another policy", async () => {
    hook.decide = () => ({ ...ALLOW, policy: "1" });
    const moderation = moderationOf();
    const call = callOf();
    const result = await picture(call, callsOf(moderation));
    expect(await takenFrom(call, result, moderation)).toBe(true);
    expect(await takenFrom(callOf(), result, moderation)).toBe(false);
    hook.decide = () => ({ ...ALLOW, policy: "2" });
    await picture(callOf(), callsOf(moderation));
    expect(await takenFrom(call, result, moderation)).toBe(false);
  });
});

it("content that the installation excludes is neither checked nor held back", async () => {
  const moderation = moderationOf({ sees: ["inputs"] });
  const result = await picture(callOf(), callsOf(moderation));
  expect(hook.questions.map(({ kind }) => kind)).toEqual(["input"]);
  expect((await bytesAt(result.files[0]!.url)).status).toBe(200);
});
