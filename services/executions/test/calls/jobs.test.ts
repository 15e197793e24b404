import { readWrittenPrice, type DomainError } from "@nodeloom/kernel";
import { TryAgain } from "../../src/calls/failures";
import { createSlots } from "@nodeloom/platform";
import { type Answer, peer, usePeer, polling, chat, open, modelCalls, callOf, live, soon, unheard, says } from "../support/model-calls";

usePeer();

describe("a request", () => {
  it("includes every number that affects the price, even if the caller omitted it", async () => {
    peer.answers = ({ path }) => ({ body: path.includes("chat") ? { choices: [{ message: { content: "x" } }] } : { id: "j" } });
    await modelCalls(polling(), "image").submit(callOf(), live, soon());
    await modelCalls(chat(), "text").text(callOf(), live, soon(), unheard);
    await modelCalls(polling(), "image").submit(callOf({ inputs: { prompt: "hi", count: 3 } }), live, soon());
    expect(peer.requests.map(({ body }) => body.n ?? body.max_tokens)).toEqual([2, 99, 3]);
  });
});

describe("a job that creates text", () => {
  const settings = () => ({ ...polling(), outputs: { text: "/text", json: "/words" } });
  const pollResult = (part: object) => {
    peer.answers = () => ({ body: { status: "done", ...part } });
    return modelCalls(settings(), "text").poll(callOf({ price: { basis: "run", microUsd: 5 } }), { requestId: "j" }, live);
  };

  it("returns the text, and its JSON, at its price", async () => {
    const words = [{ word: "Hi", start: 0 }];
    expect(await pollResult({ text: "Hi", words })).toEqual({
      files: [],
      text: "Hi",
      json: { value: words },
      costMicroUsd: 5,
      requestId: "j",
    });
    expect(await pollResult({ text: "" })).toMatchObject({ text: "" });
  });

  it("names JSON that doesn't match the node's schema", async () => {
    peer.answers = () => ({ body: { status: "done", text: "Hi", words: [1] } });
    const call = callOf({ schema: { type: "array", items: { type: "string" } } });
    expect(await modelCalls(settings(), "text").poll(call, { requestId: "j" }, live)).toMatchObject({
      text: "Hi",
      problems: [expect.stringContaining("0")],
    });
  });

  it.each<[string, object, RegExp]>([
    ["none", { words: [] }, /without the expected output/],
    ["one that is too long", { text: "x".repeat(256 * 1_024 + 1) }, /longer than 262144 bytes/],
  ])("fails with %s", async (_what, part, problem) => {
    await expect(pollResult(part)).rejects.toThrow(problem);
  });

  it("is charged the cost in its response", async () => {
    peer.answers = () => ({ body: { status: "done", text: "Hi", usage: { cost: 0.02 } } });
    const price = readWrittenPrice({ perRunUsd: 0.5, actual: [{ at: "/usage/cost", eachUsd: 1 }] });
    const call = callOf({ price });
    expect(await modelCalls(settings(), "text").poll(call, { requestId: "j" }, live)).toMatchObject({ costMicroUsd: 20_000 });
  });
});

describe("a body template of a platform's model", () => {
  const body = { num_images: { $input: "count" }, duration: "${seconds}s", prompt: { $input: "prompt" }, quality: "high" };
  const sentInput = { num_images: 2, prompt: "hi", quality: "high" };

  it.each([
    ["fal-queue", "request_id", sentInput],
    ["replicate", "id", { input: sentInput }],
  ])("renames inputs and pins parameters: %s", async (dialect, id, expected) => {
    peer.answers = () => ({ body: { [id]: "j" } });
    const settings = { kind: "inference-platform", dialect, app: "a/b", baseUrl: peer.baseUrl, outputs: { images: "/x" }, body };
    await modelCalls(settings, "image").submit(callOf(), live, soon());
    expect(peer.requests[0]!.body).toEqual(expected);
  });
});

describe("polls", () => {
  afterEach(() => jest.restoreAllMocks());

  it("are made as late as the provider asks", async () => {
    const at: number[] = [];
    peer.answers = () => {
      at.push(Date.now());
      return at.length === 1 ? says(429, "0.3") : { body: { status: "failed", error: "over" } };
    };
    await expect(modelCalls(polling(), "image").poll(callOf(), { requestId: "j" }, live)).rejects.toThrow(/over/);
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(290);
  });

  it("end at once if they are aborted while their files wait to be stored", async () => {
    peer.answers = () => ({ body: { status: "done", files: ["http://files.test/1"] } });
    const full = createSlots({ concurrency: 1, queueLimit: 1 });
    let release = (): void => undefined;
    const others = full.use(() => new Promise<void>((resolve) => (release = resolve)), { maxWaitMs: 60_000 });
    const cancellation = new AbortController();
    const polled = modelCalls(polling(), "image", open, full).poll(callOf(), { requestId: "j" }, cancellation.signal);
    while (full.load().waiting === 0) await new Promise(setImmediate);
    cancellation.abort(new Error("given up"));
    await expect(polled).rejects.toThrow("given up");
    expect(full.load()).toEqual({ inUse: 1, waiting: 0 });
    release();
    await others;
  });

  /** Polls with a clock that moves a minute per poll. */
  const pollSlowly = (answer: () => Answer): Promise<unknown> => {
    let now = Date.now();
    jest.spyOn(Date, "now").mockImplementation(() => now);
    peer.answers = () => {
      now += 60_000;
      return answer();
    };
    return modelCalls(polling(), "image").poll(callOf(), { requestId: "j" }, live);
  };

  it("fail if a provider has been silent for too long, and its job can continue", async () => {
    await expect(pollSlowly(() => ({ status: 500 }))).rejects.toMatchObject({ reason: "EXECUTION_FAILED", metadata: { jobMayRun: true } });
    expect(peer.requests).toHaveLength(4);
  });

  it("wait for a while for a job that was accepted and isn't known yet", async () => {
    const polled = (submittedAt: number): Promise<unknown> => {
      peer.requests = [];
      peer.answers = () => (peer.requests.length < 3 ? { status: 404 } : { body: { status: "failed", error: "over" } });
      return modelCalls(polling(), "image").poll(callOf(), { requestId: "j", submittedAt }, live);
    };
    await expect(polled(Date.now())).rejects.toThrow("over");
    peer.answers = () => ({ status: 410 });
    const poll = modelCalls(polling(), "image").poll(callOf(), { requestId: "j", submittedAt: Date.now() }, live);
    await expect(poll).rejects.toThrow("no longer knows the job");
  });

  it("look up a job again that a restarted provider doesn't know, before it counts as lost", async () => {
    const submittedAt = Date.now() - 60_000;
    peer.answers = () => (peer.requests.length < 4 ? { status: 404 } : { body: { status: "failed", error: "over" } });
    await expect(modelCalls(polling(), "image").poll(callOf(), { requestId: "j", submittedAt }, live)).rejects.toThrow("over");
    await expect(pollSlowly(() => ({ status: 404 }))).rejects.toThrow("no longer knows the job");
  });

  it("start as late as the entry states", async () => {
    const settings = polling();
    const submittedAt = Date.now();
    let askedAt = 0;
    peer.answers = () => {
      askedAt = Date.now();
      return { body: { status: "failed", error: "over" } };
    };
    const late = { ...settings, poll: { ...(settings.poll as object), firstMs: 400 } };
    await expect(modelCalls(late, "image").poll(callOf(), { requestId: "j", submittedAt }, live)).rejects.toThrow("over");
    expect(askedAt - submittedAt).toBeGreaterThanOrEqual(395);
  });

  it("don't treat a busy provider as silent", async () => {
    await expect(
      pollSlowly(() => (peer.requests.length < 8 ? { status: 429 } : { body: { status: "failed", error: "over" } })),
    ).rejects.toMatchObject({ message: "m: over", metadata: {} });
  });
});

describe("a provider's error", () => {
  it("is shortened and cleaned before it becomes a run's error", async () => {
    peer.answers = () => ({ body: { status: "failed", error: `super-secret-value ${"x".repeat(100_000)}` } });
    const failure = await modelCalls(polling(), "image")
      .poll(callOf(), { requestId: "j" }, live)
      .catch((error: unknown) => error as DomainError);
    expect(failure).toMatchObject({ reason: "EXECUTION_FAILED" });
    expect((failure as DomainError).message).toMatch(/^m: \[secret\] xxx/);
    expect((failure as DomainError).message.length).toBeLessThan(600);
  });
});

describe("an error in a response with status 200", () => {
  const coded = () => ({ ...polling(), error: { when: "/code", not: [0], message: "/message" } });

  it("rejects the submission with the provider's message, free of charge", async () => {
    peer.answers = () => ({ body: { code: 1102, message: "super-secret-value has no balance" } });
    const call = callOf();
    await expect(modelCalls(coded(), "image").submit(call, live, soon())).rejects.toMatchObject({
      reason: "PROVIDER_SUBMIT_FAILED",
      message: "m: [secret] has no balance",
      metadata: { providerStatus: 200, providerBody: expect.stringContaining("1102") as string },
    });
    expect(await peer.stores.calls.of(call.executionId)).toEqual([]);
  });

  it("ends the job", async () => {
    peer.answers = () => ({ body: { code: "E7" } });
    await expect(modelCalls(coded(), "image").poll(callOf(), { requestId: "j" }, live)).rejects.toThrow('the error "E7"');
  });

  it("is ignored if the code reports success", async () => {
    peer.answers = () => ({ body: { code: 0, id: "j" } });
    expect(await modelCalls(coded(), "image").submit(callOf(), live, soon())).toMatchObject({ requestId: "j" });
  });
});

describe("cancelling", () => {
  it("accepts a response without a body", async () => {
    peer.answers = ({ path }) => (path.startsWith("DELETE") ? { status: 204, raw: "" } : { body: { status: "working" } });
    const settings = { ...polling(), cancel: { method: "DELETE", path: "/jobs/{requestId}" } };
    expect(await modelCalls(settings, "image").cancel(callOf(), { requestId: "j" })).toEqual({ report: "provider_told", finished: null });
  });

  it("reports at once a provider that doesn't stop", async () => {
    peer.answers = ({ path }) => (path.endsWith("/cancel") ? { status: 409 } : { body: { status: "working" } });
    expect(await modelCalls(polling(), "image").cancel(callOf(), { requestId: "j" })).toEqual({ report: "could_not_stop", finished: null });
  });

  it("is retried if the provider fails for a moment", async () => {
    peer.answers = ({ path }) => (path.endsWith("/cancel") ? { status: 503 } : { body: { status: "working" } });
    await expect(modelCalls(polling(), "image").cancel(callOf(), { requestId: "j" })).rejects.toThrow(/503/);
  });

  it("is retried if the provider is busy, at the stated time", async () => {
    peer.answers = ({ path }) => (path.endsWith("/cancel") ? says(429, "2") : { body: { status: "working" } });
    const failure = await modelCalls(polling(), "image")
      .cancel(callOf(), { requestId: "j" })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TryAgain);
    expect((failure as TryAgain).afterMs).toBeGreaterThanOrEqual(2_000);
  });

  it("notifies the provider, even if it can't report the job's state", async () => {
    peer.answers = ({ path }) => (path.endsWith("/cancel") ? {} : { status: 500 });
    expect(await modelCalls(polling(), "image").cancel(callOf(), { requestId: "j" })).toEqual({ report: "provider_told", finished: null });
  });
});
