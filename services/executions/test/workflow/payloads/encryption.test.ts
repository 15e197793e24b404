import { randomBytes, randomUUID } from "node:crypto";
import { defaultPayloadConverter, type Payload } from "@temporalio/common";
import { createLogger, loadConfig, payloadKeys } from "@nodeloom/platform";
import { z } from "zod";
import type { RunInput } from "../../../src/run/types";
import type { Activities, LocalActivities } from "../../../src/workflow/activity-types";
import type { HttpNodeCall } from "../../../src/run/calls";
import { bundlePath } from "../../support/temporal";
import { createRunStarter } from "../../../src/workflow/client";
import { createClaimCheckCodec } from "../../../src/workflow/claim-check";
import { connectTemporal, createEncryptionCodec } from "@nodeloom/platform/temporal";
import { inputWith, planWith } from "../../support/run-inputs";

const key = (): string => randomBytes(32).toString("hex");
const [OLD, NEW] = [key(), key()];
const SECRET = "Bearer very-secret-token";
const payload = (value: unknown): Payload => defaultPayloadConverter.toPayload(value)!;
const value = (from: Payload): unknown => defaultPayloadConverter.fromPayload(from);
const bytes = ({ metadata, data }: Payload): string =>
  [data, ...Object.values(metadata ?? {})].map((part) => Buffer.from(part ?? []).toString("latin1")).join("\n");
const sealed = async (what: unknown, ...keys: string[]): Promise<Payload> =>
  (await createEncryptionCodec(keys).encode([payload(what)]))[0]!;
const opened = async (from: Payload, ...keys: string[]): Promise<unknown> => value((await createEncryptionCodec(keys).decode([from]))[0]!);

describe("a payload", () => {
  it("can be read with its key only, and is never the same twice", async () => {
    const headers = { authorization: SECRET, ä: [1.5, null] };
    const [one, other] = [await sealed(headers, NEW), await sealed(headers, NEW)];
    expect(bytes(one)).not.toContain("secret");
    expect(bytes(one)).not.toEqual(bytes(other));
    expect(await opened(one, NEW)).toEqual(headers);
    await expect(opened(one, OLD)).rejects.toThrow(/key [0-9a-f]{8}, which TEMPORAL_PAYLOAD_KEYS does not have/);
    await expect(opened(one)).rejects.toThrow("TEMPORAL_PAYLOAD_KEYS");
  });

  it("can be read after its key was replaced, as long as the key is kept", async () => {
    const old = await sealed({ a: SECRET }, OLD);
    for (const from of [old, await sealed({ a: SECRET }, NEW, OLD)]) expect(await opened(from, NEW, OLD)).toEqual({ a: SECRET });
    expect(bytes(await sealed({}, NEW, OLD)).slice(-8)).toBe(bytes(await sealed({}, NEW)).slice(-8));
  });

  it("without encryption is rejected if there is a key, unless the keys allow it", async () => {
    const plain = await sealed({ a: SECRET });
    expect(bytes(plain)).toContain(SECRET);
    await expect(opened(plain, NEW)).rejects.toThrow("a payload is not encrypted, and TEMPORAL_PAYLOAD_KEYS does not have `unencrypted`");
    await expect(opened(plain, NEW, OLD)).rejects.toThrow("is not encrypted");
    for (const keys of [[], [NEW, "unencrypted"], ["unencrypted", NEW]]) expect(await opened(plain, ...keys)).toEqual({ a: SECRET });
  });

  it("is written as the first key states, so that encryption can be enabled without a stop", async () => {
    expect(bytes(await sealed({ a: SECRET }, "unencrypted", NEW))).toContain(SECRET);
    const one = await sealed({ a: SECRET }, NEW, "unencrypted");
    expect(bytes(one)).not.toContain(SECRET);
    expect(await opened(one, "unencrypted", NEW)).toEqual({ a: SECRET });
  });

  it("that was tampered with is rejected", async () => {
    const one = await sealed({ a: SECRET }, NEW);
    for (const position of [0, 20, one.data!.length - 1]) {
      const data = Buffer.from(one.data!);
      data[position]! ^= 1;
      await expect(opened({ ...one, data }, NEW)).rejects.toThrow();
    }
    await expect(opened({ ...one, data: Buffer.alloc(5) }, NEW)).rejects.toThrow();
  });

  it.each(["clip: sandbox-video", 7, null, true, undefined])("that is a short value on its own stays readable: %j", async (what) => {
    expect(bytes(await sealed(what, NEW))).toBe(bytes(payload(what)));
  });

  it.each([{ a: 1 }, ["x"], [], "x".repeat(300), new Uint8Array([1, 2, 3])])("with more content is encrypted (%#)", async (what) => {
    const one = await sealed(what, NEW);
    expect(Buffer.from(one.metadata!.encoding!).toString()).toBe("binary/encrypted");
    expect(await opened(one, NEW)).toEqual(what);
  });
});

describe("the keys in the environment", () => {
  const schema = z.object({ KEYS: payloadKeys().describe("keys") });
  it("are none, one or several, of which the first encrypts", () => {
    expect(loadConfig(schema, {}).KEYS).toEqual([]);
    expect(loadConfig(schema, { KEYS: `${NEW}, ${OLD}` }).KEYS).toEqual([NEW, OLD]);
    expect(loadConfig(schema, { KEYS: `${NEW},unencrypted` }).KEYS).toEqual([NEW, "unencrypted"]);
  });
  it.each(["short", `${NEW},Unencrypted!`, `${NEW}0`, `${NEW};${OLD}`, Buffer.alloc(32).toString("base64")])(
    "in another form are rejected without being shown (%#)",
    (text) => {
      expect(() => loadConfig(schema, { KEYS: text })).toThrow(/KEYS is malformed \(must be 64 hexadecimal digits\)/);
      expect(() => loadConfig(schema, { KEYS: text })).not.toThrow(text);
    },
  );
});

const inputOf = (executionId: string): RunInput => {
  const step = {
    ...{
      id: "call",
      type: "http-request" as const,
      sources: {},
      listPorts: [],
      textPorts: [],
      inputNames: [],
      maxItems: 1,
      maxMillicredits: 0,
    },
    literals: { method: "POST", url: "https://x.test/", headers: { authorization: SECRET }, body: "private words" },
  };
  return inputWith(executionId, planWith([step]), { mode: "sync" });
};

/** A worker on its own task queue, and the inputs of its activities. */
const startWorker = async (taskQueue: string, keys: readonly string[]) => {
  const nowhere = { put: () => Promise.resolve(), get: () => Promise.resolve(null) };
  const temporal = await connectTemporal({
    ...{ address: process.env.TEMPORAL_ADDRESS!, namespace: "default", taskQueue, logger: createLogger("test", "silent") },
    dataConverter: { payloadCodecs: [createClaimCheckCodec(nowhere), createEncryptionCodec(keys)] },
    ...{ workflowBundle: { codePath: bundlePath }, shutdownGraceMs: 2_000 },
  });
  const calls: HttpNodeCall[] = [];
  const activities = {
    claim: () => Promise.resolve(true),
    shortHttpRequest: () => Promise.resolve({ declined: true }),
    settle: (_input, end) => Promise.resolve({ status: end.status, millicredits: 0 }),
    httpRequest: (call) => {
      calls.push(call);
      return Promise.resolve({ status: 200, body: { answer: "private answer" } });
    },
  } satisfies Partial<Activities & LocalActivities>;
  return { temporal, calls, work: () => temporal.work(activities as unknown as Activities & LocalActivities) };
};

const newQueue = (): string => `sealed-${randomUUID().slice(0, 8)}`;

it("Temporal's history has none of a run's headers, texts and answers, but still shows its course", async () => {
  const taskQueue = newQueue();
  const { temporal, calls, work } = await startWorker(taskQueue, [NEW, OLD]);
  await work();
  try {
    const executionId = randomUUID();
    await createRunStarter({ client: temporal.client, taskQueue }).start(inputOf(executionId));
    expect(await temporal.client.workflow.getHandle(executionId).result()).toEqual({ status: "completed", millicredits: 0 });
    expect(calls).toMatchObject([{ call: { headers: { authorization: SECRET }, body: "private words" } }]);

    const execution = { workflowId: executionId };
    const { history } = await temporal.client.workflowService.getWorkflowExecutionHistory({ namespace: "default", execution });
    const seenParts: string[] = [];
    const visit = (part: unknown): void => {
      if (part instanceof Uint8Array) seenParts.push(Buffer.from(part).toString("latin1"));
      else if (typeof part === "string") seenParts.push(part);
      else if (typeof part === "object" && part !== null) Object.values(part).forEach(visit);
    };
    visit(history);
    const story = seenParts.join("\n");
    for (const hidden of ["secret", "private", "authorization", "x.test"]) expect(story).not.toContain(hidden);
    for (const phrase of ["binary/encrypted", "httpRequest", "call: http request"]) expect(story).toContain(phrase);
  } finally {
    await temporal.stop();
  }
});

describe("a run started by a person in Temporal with unencrypted arguments", () => {
  let worker: Awaited<ReturnType<typeof startWorker>>;
  let stranger: Awaited<ReturnType<typeof startWorker>>;
  const taskQueue = newQueue();
  const start = async (): Promise<string> => {
    const executionId = randomUUID();
    // The start isn't eager, so the other worker executes nothing.
    const args = [inputOf(executionId)];
    await stranger.temporal.client.workflow.start("executeGraph", { workflowId: executionId, taskQueue, args });
    return executionId;
  };
  const workWith = async (...keys: string[]): Promise<void> => {
    worker = await startWorker(taskQueue, keys);
    await worker.work();
  };

  beforeAll(async () => {
    stranger = await startWorker(taskQueue, []);
  });
  afterEach(() => worker.temporal.stop());
  afterAll(() => stranger.temporal.stop());

  it("does nothing if there are keys", async () => {
    await workWith(NEW);
    const handle = stranger.temporal.client.workflow.getHandle(await start());
    const isRefused = async (): Promise<boolean> =>
      (await handle.fetchHistory()).events!.some(({ workflowTaskFailedEventAttributes: failed }) => failed);
    while (!(await isRefused())) await new Promise(setImmediate);
    expect(worker.calls).toEqual([]);
    await handle.terminate();
  });

  it("continues if the keys allow it", async () => {
    await workWith(NEW, "unencrypted");
    const executionId = await start();
    expect(await worker.temporal.client.workflow.getHandle(executionId).result()).toMatchObject({ status: "completed" });
    expect(worker.calls).toHaveLength(1);
  });
});
