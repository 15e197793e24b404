import type { DomainError } from "@nodeloom/kernel";
import type { Media } from "../../src/clients";
import { FAILURES_TO_OPEN } from "../../src/calls/breaker";
import { createGates, type Gate } from "../../src/calls/gates";
import { DOWNLOADS } from "../../src/calls/call";
import { TryAgain } from "../../src/calls/failures";
import { createSubmissions } from "../../src/calls/submissions";
import type { CatalogModel } from "../../src/plan/model-catalog";
import type { Stores } from "../../src/record/stores";
import { createLogger, createSlots } from "@nodeloom/platform";
import { createJobs, type Jobs } from "../../src/calls/jobs";
import { createProvider, ProviderError, type JobProvider } from "@nodeloom/providers";
import { TIMING } from "../../src/run/timing";
import {
  type Answer,
  peer,
  usePeer,
  polling,
  chat,
  PRICES,
  open,
  modelCalls,
  catalogOf,
  callOf,
  live,
  soon,
  until,
  unheard,
  says,
} from "../support/model-calls";

usePeer();

describe("a request", () => {
  it("has an idempotency key for node ids in any script", async () => {
    peer.answers = () => ({ body: { id: "j" } });
    const call = callOf({ nodeId: "画像" });
    const calls = modelCalls(polling({ idempotencyHeader: "idempotency-key" }), "image");
    await calls.submit(call, live, soon());
    await calls.submit(call, live, soon());
    expect(peer.requests[0]!.headers["idempotency-key"]).toMatch(/^[0-9a-f]{64}$/);
    expect(peer.requests[1]!.headers["idempotency-key"]).toBe(peer.requests[0]!.headers["idempotency-key"]);
  });
});

describe("a submission to a provider without idempotency keys", () => {
  const withRecords = (records: Stores, find?: JobProvider["find"]): Jobs => {
    const model = {
      internalName: "m",
      modality: "image",
      price: PRICES.image!,
      inputSchema: { type: "object" },
      validate: () => [],
    } as unknown as CatalogModel;
    return createJobs({
      catalog: catalogOf(model),
      provider: () => ({
        ...(createProvider(JSON.stringify(polling()), { egress: peer.egress, secret: () => undefined }) as JobProvider),
        ...(find ? { find } : {}),
      }),
      gate: () => open,
      media: {} as Media,
      downloads: createSlots(DOWNLOADS),
      submissions: createSubmissions(records),
      own: "http://media.test/",
    });
  };
  const away = (): Promise<never> => Promise.reject(new Error("away"));

  it("continues with a claim of its own process that was never sent", async () => {
    peer.answers = () => ({ body: { id: "late" } });
    const [calls, submissions] = [
      { ...peer.stores.calls, submitted: away },
      { ...peer.stores.submissions, release: away },
    ];
    const jobs = withRecords({ ...peer.stores, calls, submissions });
    const call = callOf();
    await expect(jobs.submit(call, live, soon())).rejects.toThrow("away");
    Object.assign(calls, { submitted: peer.stores.calls.submitted });
    expect(await jobs.submit(call, live, soon())).toMatchObject({ requestId: "late" });
    expect(peer.requests).toHaveLength(1);
  });

  it("isn't sent again by a process whose response couldn't be recorded, nor by another one", async () => {
    peer.answers = () => ({ body: { id: "unwritten" } });
    const submissions = { ...peer.stores.submissions, record: away };
    const jobs = withRecords({ ...peer.stores, submissions });
    const [call, lostCall] = [callOf(), callOf()];
    await expect(jobs.submit(call, live, soon())).rejects.toThrow("away");
    await expect(jobs.submit(lostCall, live, soon())).rejects.toThrow("away");
    await peer.stores.submissions.lose(lostCall.key);
    await expect(withRecords(peer.stores).submit(lostCall, live, soon())).rejects.toMatchObject({ reason: "PROVIDER_SUBMIT_FAILED" });
    Object.assign(submissions, { record: peer.stores.submissions.record });
    expect(await jobs.submit(call, live, soon())).toMatchObject({ requestId: "unwritten" });
    expect(peer.requests).toHaveLength(2);
    expect(await withRecords(peer.stores).submit(call, live, soon())).toMatchObject({ requestId: "unwritten" });
  });

  it("is sent once, however often it is requested", async () => {
    peer.answers = () => ({ body: { id: "only" } });
    const call = callOf();
    const calls = modelCalls(polling(), "image");
    expect(await calls.submit(call, live, soon())).toMatchObject({ requestId: "only" });
    expect(await calls.submit(call, live, soon())).toMatchObject({ requestId: "only" });
    expect(peer.requests).toHaveLength(1);
  });

  it("isn't sent again if it may have been received", async () => {
    peer.answers = () => undefined;
    const call = callOf();
    const calls = modelCalls(polling(), "image");
    await expect(calls.submit(call, live, soon())).rejects.toMatchObject({ reason: "PROVIDER_SUBMIT_FAILED" });
    await expect(calls.submit(call, live, soon())).rejects.toMatchObject({ reason: "PROVIDER_SUBMIT_FAILED" });
    expect(peer.requests).toHaveLength(1);
  });

  it("is looked up at a restarted provider, before it counts as lost", async () => {
    peer.answers = () => undefined;
    const keys: string[] = [];
    let failures = 2;
    const find: JobProvider["find"] = (key) => {
      keys.push(key);
      if (failures-- > 0) return Promise.reject(new ProviderError("unreachable", "connection refused"));
      return Promise.resolve({ requestId: "found" });
    };
    const call = callOf();
    expect(await withRecords(peer.stores, find).submit(call, live, soon())).toMatchObject({ requestId: "found" });
    expect(await withRecords(peer.stores).submit(call, live, soon())).toMatchObject({ requestId: "found" });
    expect(keys).toEqual([call.key, call.key, call.key]);
    expect(peer.requests).toHaveLength(1);

    const unknown = withRecords(peer.stores, () => Promise.resolve(undefined));
    await expect(unknown.submit(callOf(), live, soon())).rejects.toMatchObject({ reason: "PROVIDER_SUBMIT_FAILED" });
    expect(peer.requests).toHaveLength(2);
  });

  it("is looked up if the process that sent it has ended", async () => {
    const call = callOf();
    await peer.stores.submissions.claim(call.key, "another");
    await peer.stores.submissions.lose(call.key);
    const jobs = withRecords(peer.stores, () => Promise.resolve({ requestId: "of another" }));
    expect(await jobs.submit(call, live, soon())).toMatchObject({ requestId: "of another" });
    expect(peer.requests).toHaveLength(0);
  });

  it("is awaited while another process, which may only be silent, makes it", async () => {
    const call = callOf();
    expect(await peer.stores.submissions.claim(call.key, "another")).toEqual({ isNew: true });
    const waiting = modelCalls(polling(), "image").submit(call, live, soon());
    await peer.stores.submissions.record(call.key, "made elsewhere", null);
    expect(await waiting).toMatchObject({ requestId: "made elsewhere" });
    expect(peer.requests).toHaveLength(0);
  });

  it("is made once by a process that gets the request again meanwhile", async () => {
    const call = callOf();
    const calls = modelCalls(polling(), "image");
    peer.answers = () => ({ body: { id: "only" } });
    const both = await Promise.all([calls.submit(call, live, soon()), calls.submit(call, live, soon())]);
    expect(both.map(({ requestId }) => requestId)).toEqual(["only", "only"]);
    expect(peer.requests).toHaveLength(1);
  });

  it("survives a database that is briefly unavailable", async () => {
    peer.answers = () => ({ body: { id: "kept" } });
    let failures = 2;
    const { submissions } = peer.stores;
    const record: typeof submissions.record = (...args) =>
      failures-- > 0 ? Promise.reject(new Error("away")) : submissions.record(...args);
    const flaky: Stores = { ...peer.stores, submissions: { ...submissions, record } };
    const calls = withRecords(flaky);
    const call = callOf();
    await calls.submit(call, live, soon());
    expect(await peer.stores.submissions.claim(call.key, "another")).toMatchObject({ requestId: "kept" });
  });
});

const IDEMPOTENT = { idempotencyHeader: "idempotency-key" };
/** Outcome of a submission with this response, and true if its claim is free again. */
const outcomeOf = async (answer: Answer | undefined, idempotent: boolean): Promise<{ ends: string; released: boolean }> => {
  peer.answers = () => answer;
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
  return { ends, released: (await peer.stores.submissions.claim(call.key, "another")).isNew };
};
const refusedWith = (status: number): string => `PROVIDER_SUBMIT_FAILED ${status}`;

describe("a submission that fails", () => {
  it.each<[string, Answer | undefined, boolean, string, boolean]>([
    ["429 that says when", says(429, "2"), false, "again after 2 s", true],
    ["429 that says when, with keys", says(429, "2"), true, "again after 2 s", true],
    ["503 that says when", says(503, "1"), false, "again after 1 s", true],
    ["429 that does not say when", says(429), false, "again", true],
    ["429 that says nonsense", says(429, "soon"), false, "again", true],
    ["429 of an account that is spent", { status: 429, body: { error: { code: "insufficient_quota" } } }, false, refusedWith(429), true],
    [
      "503 of llama.cpp, which loads its model",
      { status: 503, body: { error: { code: 503, message: "Loading model", type: "unavailable_error" } } },
      false,
      "again",
      true,
    ],
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
    ["429 that does not say when", says(429), false],
    ["422", says(422), false],
    ["503 that says when", says(503, "1"), false],
    ["500", says(500), true],
    ["an answer that never came", undefined, true],
  ])("counts as sent unless the provider certainly didn't accept it: %s", async (_name, answer, counts) => {
    for (const settings of [polling(), polling(IDEMPOTENT)]) {
      peer.answers = () => answer;
      const call = callOf();
      await expect(modelCalls(settings, "image").submit(call, live, soon())).rejects.toThrow();
      expect(await peer.stores.calls.of(call.executionId)).toHaveLength(counts ? 1 : 0);
    }
    const call = callOf({ price: PRICES.text!, model: "m" });
    peer.answers = () => answer;
    await expect(modelCalls(chat(), "text").text(call, live, until(0), unheard)).rejects.toThrow();
    expect(await peer.stores.calls.of(call.executionId)).toHaveLength(counts ? 1 : 0);
  });

  it("counts as sent if an earlier attempt may have reached the provider, whatever the response to this one is", async () => {
    const call = callOf();
    const calls = modelCalls(polling(IDEMPOTENT), "image");
    peer.answers = () => undefined;
    await expect(calls.submit(call, live, soon())).rejects.toThrow();
    peer.answers = () => says(429, "1");
    await expect(calls.submit(call, live, soon())).rejects.toBeInstanceOf(TryAgain);
    expect(await peer.stores.calls.of(call.executionId)).toHaveLength(1);
  });

  it("is sent again once after the provider was busy", async () => {
    const call = callOf();
    const calls = modelCalls(polling(), "image");
    peer.answers = () => says(429, "0");
    await expect(calls.submit(call, live, soon())).rejects.toBeInstanceOf(TryAgain);
    peer.answers = () => ({ body: { id: "late" } });
    expect(await calls.submit(call, live, soon())).toMatchObject({ requestId: "late" });
    expect(await calls.submit(call, live, soon())).toMatchObject({ requestId: "late" });
    expect(peer.requests).toHaveLength(2);
  });
});

describe("an unavailable provider", () => {
  afterEach(() => jest.restoreAllMocks());
  const gateOf = (settings: Record<string, unknown>): Gate => createGates(createLogger("test", "silent"))(JSON.stringify(settings));

  it("is not called: submissions wait, or fail if no time is left", async () => {
    peer.answers = () => says(502);
    const settings = polling(IDEMPOTENT);
    const calls = modelCalls(settings, "image", gateOf(settings));
    const clock = jest.spyOn(Date, "now");
    for (let failures = 0; failures < FAILURES_TO_OPEN; failures += 1) {
      if (failures === FAILURES_TO_OPEN - 1) clock.mockReturnValue(Date.now() + TIMING.breakerOutage);
      await expect(calls.submit(callOf(), live, soon())).rejects.toMatchObject({ metadata: { providerStatus: 502 } });
    }
    await expect(calls.submit(callOf(), live, soon())).rejects.toMatchObject({
      name: "TryAgain",
      problem: { reason: "EXECUTION_FAILED", message: `m: provider ${new URL(peer.baseUrl).host} is not available at the moment` },
    });
    await expect(calls.submit(callOf(), live, until(0))).rejects.toMatchObject({ reason: "EXECUTION_FAILED" });
    expect(peer.requests).toHaveLength(FAILURES_TO_OPEN);
  });

  it("leaves no claim on a call that wasn't sent", async () => {
    peer.answers = () => ({ body: { id: "j" } });
    const settings = polling({});
    const gate: Gate = { pass: () => Promise.reject(new ProviderError("unavailable", "away", undefined, undefined, 10)) };
    const call = callOf();
    await expect(modelCalls(settings, "image", gate).submit(call, live, soon())).rejects.toBeInstanceOf(TryAgain);
    expect(await modelCalls(settings, "image").submit(call, live, soon())).toMatchObject({ requestId: "j" });
  });

  it("is still polled about its jobs, and asked to stop them", async () => {
    const shut: Gate = { pass: () => Promise.reject(new Error("shut")) };
    peer.answers = ({ path }) => (path.endsWith("/cancel") ? {} : { body: { status: "failed", error: "over" } });
    await expect(modelCalls(polling(), "image", shut).poll(callOf(), { requestId: "j" }, live)).rejects.toThrow("m: over");
    peer.answers = ({ path }) => (path.endsWith("/cancel") ? {} : { body: { status: "working" } });
    expect((await modelCalls(polling(), "image", shut).cancel(callOf(), { requestId: "j" })).report).toBe("provider_told");
  });
});
