import { once } from "node:events";
import { constants, createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import {
  clientStream,
  createGrpcClient,
  createLogger,
  grpcService,
  requestContext,
  serverStream,
  startGrpcServer,
  unary,
  withRequestContext,
  type CallOptions,
  type ClientOf,
} from "../../src";
import { deferred, type Deferred } from "../../../../test-support/deferred";
import { JSON_SERVICE, startJsonService, type JsonServer, type RunningJsonService } from "../support/json-service";

/** For calls that reach this deadline only if the guarantee is broken. */
const PATIENT = { deadlineMs: 60_000 };
/** Much shorter than a call that only its deadline ends, and much longer than a busy machine's delays. */
const SOON_MS = 20_000;

const UNAVAILABLE = { name: "DomainError", kind: "unavailable", reason: "SERVICE_UNAVAILABLE" };

let service: RunningJsonService;
/** Answers calls of the current test. */
let answer: (request: unknown) => Promise<unknown>;
let generate: (request: unknown, signal: AbortSignal) => AsyncIterable<unknown>;
let receive: (requests: AsyncIterable<unknown>) => Promise<unknown>;

beforeAll(async () => {
  service = await startJsonService({
    unary: unary((request) => answer(request)),
    stream: serverStream((request, signal) => generate(request, signal)),
    upload: clientStream(
      (requests) => receive(requests),
      (message) => message === END,
    ),
  });
});
afterAll(() => service.stop());

/** Last message of an upload. */
const END = "end";
async function* ended(messages: AsyncIterable<unknown> | Iterable<unknown>): AsyncIterable<unknown> {
  yield* messages;
  yield END;
}
const collect = async (messages: AsyncIterable<unknown>): Promise<unknown[]> => {
  const all: unknown[] = [];
  for await (const message of messages) all.push(message);
  return all;
};
const elapsed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = Date.now();
  await work();
  return Date.now() - startedAt;
};
/** After this number of answered calls, work that waits for nothing has run. */
const takeTurns = async (client: ClientOf<JsonServer>): Promise<void> => {
  answer = () => Promise.resolve("done");
  for (let turn = 0; turn < 100; turn += 1) await client.unary({}, PATIENT);
};
/** Ends when the caller stops waiting. */
const until = (signal: AbortSignal): Promise<unknown> => (signal.aborted ? Promise.resolve() : once(signal, "abort"));

describe("a callee that can't be reached", () => {
  let silent: Server;
  const sockets = new Set<Socket>();
  beforeAll(async () => {
    // Accepts connections but never answers.
    silent = createServer((socket) => sockets.add(socket.on("error", () => undefined))).listen(0, "127.0.0.1");
    await once(silent, "listening");
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });
  const at = (port: number) => createGrpcClient<JsonServer>(JSON_SERVICE, { address: `127.0.0.1:${port}` });
  const restart = (port: number, handlers: Partial<JsonServer>) =>
    startGrpcServer({
      listen: `127.0.0.1:${port}`,
      services: [grpcService(JSON_SERVICE, handlers as JsonServer)],
      logger: createLogger("test", "silent"),
    });

  it("is SERVICE_UNAVAILABLE long before the deadline if nothing listens, repeatedly", async () => {
    const client = at(1);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const took = await elapsed(() =>
        expect(client.unary({}, PATIENT)).rejects.toMatchObject({ ...UNAVAILABLE, message: "billing is not available" }),
      );
      expect(took).toBeLessThan(SOON_MS);
    }
    client.close();
  });

  it("is SERVICE_UNAVAILABLE for every kind of call", async () => {
    const client = at(1);
    await expect(collect(client.stream({}))).rejects.toMatchObject(UNAVAILABLE);
    await expect(client.upload([1, 2, 3])).rejects.toMatchObject(UNAVAILABLE);
    client.close();
  });

  it("is SERVICE_UNAVAILABLE at the deadline if it is silent", async () => {
    const client = at((silent.address() as AddressInfo).port);
    const longer = client.unary({}, { deadlineMs: SOON_MS });
    const onEnd = jest.fn();
    longer.catch(onEnd);
    await expect(client.unary({}, { deadlineMs: 300 })).rejects.toMatchObject(UNAVAILABLE);
    expect(onEnd).not.toHaveBeenCalled();
    client.close();
  });

  it.each<[string, (stream: ServerHttp2Stream, socket: Socket) => void]>([
    ["ends the call without a word", (stream) => stream.close(constants.NGHTTP2_NO_ERROR)],
    ["breaks the call off", (stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR)],
    ["garbles the call", (stream) => stream.close(constants.NGHTTP2_PROTOCOL_ERROR)],
    ["has too much to do", (stream) => stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)],
    ["begins its answer and breaks off", (stream) => (stream.respond({ ":status": 200 }), stream.close(constants.NGHTTP2_INTERNAL_ERROR))],
    ["dies", (_stream, socket) => socket.destroy()],
  ])("is SERVICE_UNAVAILABLE if it %s", async (_what, end) => {
    const dying = createHttp2Server().on("sessionError", () => undefined);
    dying.on("connection", (socket: Socket) =>
      dying.on("stream", (stream) =>
        end(
          stream.on("error", () => undefined),
          socket,
        ),
      ),
    );
    dying.listen(0, "127.0.0.1");
    await once(dying, "listening");
    const client = at((dying.address() as AddressInfo).port);
    await expect(client.unary({})).rejects.toMatchObject(UNAVAILABLE);
    client.close();
    dying.close();
  });

  it.each<[string, (client: ClientOf<JsonServer>, options: CallOptions) => Promise<unknown>]>([
    ["a call", (client, options) => client.unary({}, options)],
    ["a stream", (client, options) => collect(client.stream({}, options))],
    ["an upload", (client, options) => client.upload([END], options)],
  ])("isn't awaited by %s whose caller aborts", async (_kind, ask) => {
    const client = at((silent.address() as AddressInfo).port);
    // By now the client is connecting.
    await expect(client.unary({}, { deadlineMs: 200 })).rejects.toMatchObject(UNAVAILABLE);
    const caller = new AbortController();
    const waiting = { deadlineMs: 2_000, reconnectMs: 2_000 };
    const endedCalls: string[] = [];
    const end = (name: string) => () => void endedCalls.push(name);
    const stays = ask(client, waiting).then(end("who stays"), end("who stays"));
    const givesUp = ask(client, { ...waiting, signal: caller.signal }).then(end("who gives up"), end("who gives up"));
    caller.abort();
    await Promise.all([stays, givesUp]);
    expect(endedCalls).toEqual(["who gives up", "who stays"]);
    client.close();
  });

  it("is found again without a new client", async () => {
    const first = await startJsonService({ unary: unary(() => Promise.resolve("first")) }, { graceMs: 0 });
    const port = Number(first.address.split(":")[1]);
    const client = at(port);
    expect(await client.unary({})).toBe("first");
    await first.stop();
    await expect(client.unary({}, { deadlineMs: 200 })).rejects.toMatchObject(UNAVAILABLE);
    const again = await restart(port, { unary: unary(() => Promise.resolve("second")) });
    expect(await client.unary({}, { ...PATIENT, waitForReady: true })).toBe("second");
    client.close();
    await again.stop();
  });

  it.each<[string, (client: ClientOf<JsonServer>) => Promise<unknown>]>([
    ["a call", (client) => client.unary({}, PATIENT)],
    ["a stream", async (client) => (await collect(client.stream({}, PATIENT)))[0]],
    ["an upload", (client) => client.upload([END], PATIENT)],
  ])("is awaited by %s while it restarts", async (_kind, ask) => {
    const first = await startJsonService({ unary: unary(() => Promise.resolve("first")) }, { graceMs: 0 });
    const port = Number(first.address.split(":")[1]);
    const client = at(port);
    expect(await client.unary({})).toBe("first");
    await first.stop();
    // By now the client has noticed that the server is unavailable.
    await expect(client.unary({}, { reconnectMs: 0 })).rejects.toMatchObject(UNAVAILABLE);
    const pendingAnswer = ask(client);
    pendingAnswer.catch(() => undefined);
    const again = await restart(port, {
      unary: unary(() => Promise.resolve("second")),
      stream: serverStream(async function* () {
        yield await Promise.resolve("second");
      }),
      upload: clientStream(
        () => Promise.resolve("second"),
        (message) => message === END,
      ),
    });
    expect(await pendingAnswer).toBe("second");
    client.close();
    await again.stop();
  });
});

describe("a deadline", () => {
  /** Remaining time of a call, as its callee reads it. */
  const remainingMs = (): number => requestContext()!.deadlineMs! - Date.now();

  it("of the call applies, whatever the callee does", async () => {
    const go = deferred();
    answer = () => go.promise.then(() => "done");
    const longer = service.client.unary({}, PATIENT);
    await expect(service.client.unary({}, { deadlineMs: 200 })).rejects.toMatchObject(UNAVAILABLE);
    go.resolve();
    expect(await longer).toBe("done");
  });

  it("of the call is visible to the callee", async () => {
    answer = () => Promise.resolve(remainingMs());
    const seenDeadline = (await service.client.unary({}, PATIENT)) as number;
    expect(seenDeadline).toBeGreaterThan(PATIENT.deadlineMs - SOON_MS);
    expect(seenDeadline).toBeLessThanOrEqual(PATIENT.deadlineMs);
  });

  it("is 5 s by default", async () => {
    answer = () => Promise.resolve(remainingMs());
    const seenDeadline = (await service.client.unary({})) as number;
    expect(seenDeadline).toBeGreaterThan(500);
    expect(seenDeadline).toBeLessThanOrEqual(5_000);
  });

  it("of the request shortens the call's own, and never lengthens it", async () => {
    answer = () => Promise.resolve(remainingMs());
    const within = (deadlineMs: number, own: number): Promise<number> =>
      withRequestContext({ requestId: "r", deadlineMs: Date.now() + deadlineMs }, () =>
        service.client.unary({}, { deadlineMs: own }),
      ) as Promise<number>;
    expect(await within(20_000, 60_000)).toBeLessThanOrEqual(20_000);
    expect(await within(60_000, 20_000)).toBeLessThanOrEqual(20_000);
  });

  it("in the past fails, and nothing is served", async () => {
    const served = jest.fn(() => Promise.resolve(null));
    answer = served;
    const late = withRequestContext({ requestId: "r", deadlineMs: Date.now() - 1 }, () => service.client.unary({}));
    await expect(late).rejects.toMatchObject(UNAVAILABLE);
    expect(served).not.toHaveBeenCalled();
  });

  it("is passed on by a service that calls another", async () => {
    answer = (request) => (request === "outer" ? service.client.unary("inner", { deadlineMs: 60_000 }) : Promise.resolve(remainingMs()));
    expect(await service.client.unary("outer", { deadlineMs: 20_000 })).toBeLessThanOrEqual(20_000);
  });

  it("ends a stream and the callee's generator", async () => {
    const end = deferred();
    generate = async function* (_request, signal) {
      yield 1;
      await until(signal);
      end.resolve();
    };
    const messages: unknown[] = [];
    const read = async (deadlineMs: number): Promise<void> => {
      for await (const message of service.client.stream({}, { deadlineMs })) messages.push(message);
    };
    // If the machine is busy for longer than the deadline, the next attempt has more time to start.
    for (let deadlineMs = 200; messages.length === 0; deadlineMs *= 4) await expect(read(deadlineMs)).rejects.toMatchObject(UNAVAILABLE);
    expect(messages).toEqual([1]);
    await end.promise;
  });
});

describe("a request's id", () => {
  it("is sent with every kind of call, and passed on by a service that calls another", async () => {
    const id = (): string => requestContext()!.requestId;
    answer = (request) => (request === "outer" ? service.client.unary("inner") : Promise.resolve(id()));
    generate = async function* () {
      yield id();
      await delay(1);
      yield id();
    };
    receive = async (requests) => {
      for await (const _request of requests);
      return id();
    };
    await withRequestContext({ requestId: "req-1" }, async () => {
      expect(await service.client.unary("outer")).toBe("req-1");
      expect(await collect(service.client.stream({}))).toEqual(["req-1", "req-1"]);
      expect(await service.client.upload([1, END])).toBe("req-1");
    });
  });

  it("is created if there is none, and differs from call to call", async () => {
    answer = () => Promise.resolve(requestContext()!.requestId);
    const [first, second] = await Promise.all([service.client.unary({}), service.client.unary({})]);
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(second).not.toBe(first);
  });

  it("doesn't leak between concurrent calls", async () => {
    answer = async (request) => {
      await delay(Math.random() * 20);
      return [request, requestContext()!.requestId];
    };
    const ids = Array.from({ length: 50 }, (_, index) => `r${index}`);
    const answers = await Promise.all(ids.map((requestId) => withRequestContext({ requestId }, () => service.client.unary(requestId))));
    expect(answers).toEqual(ids.map((id) => [id, id]));
  });
});

describe("a stream", () => {
  let ending: Deferred<string>;
  const endless = (): void => {
    ending = deferred<string>();
    generate = async function* (_request, signal) {
      try {
        for (let count = 0; !signal.aborted; count += 1) {
          yield count;
          await Promise.race([delay(5), until(signal)]);
        }
      } finally {
        ending.resolve(signal.aborted ? "aborted" : "ended");
      }
    };
  };

  it("gives every message in order, however slowly it is read", async () => {
    generate = async function* () {
      for (let index = 0; index < 2_000; index += 1) yield { index, padding: "x".repeat(500) };
    };
    let expected = 0;
    for await (const message of service.client.stream({}, PATIENT)) {
      expect((message as { index: number }).index).toBe(expected);
      expected += 1;
      if (expected % 500 === 0) await delay(20);
    }
    expect(expected).toBe(2_000);
  });

  it("makes its generator wait for a reader that doesn't read", async () => {
    let producedCount = 0;
    generate = async function* () {
      for (; producedCount < 10_000; producedCount += 1) yield "x".repeat(10_000);
    };
    const messages = service.client.stream({}, PATIENT)[Symbol.asyncIterator]();
    await messages.next();
    await takeTurns(service.client);
    expect(producedCount).toBeLessThan(1_000);
    await messages.return!();
  });

  it("aborts the generator if its reader stops", async () => {
    endless();
    for await (const message of service.client.stream({})) if (message === 3) break;
    expect(await ending.promise).toBe("aborted");
  });

  it("ends without an error if its caller aborts, and aborts the generator", async () => {
    endless();
    const controller = new AbortController();
    const messages: unknown[] = [];
    for await (const message of service.client.stream({}, { signal: controller.signal }))
      if (messages.push(message) === 3) controller.abort();
    expect(messages.length).toBeGreaterThanOrEqual(3);
    expect(await ending.promise).toBe("aborted");
  });

  it("aborts the generator if its client disconnects, even while it waits for something else", async () => {
    ending = deferred<string>();
    generate = async function* (_request, signal) {
      yield 1;
      await until(signal);
      ending.resolve("aborted");
    };
    const client = createGrpcClient<JsonServer>(JSON_SERVICE, { address: service.address });
    const messages = client.stream({})[Symbol.asyncIterator]();
    await messages.next();
    await messages.return!();
    client.close();
    expect(await ending.promise).toBe("aborted");
  });

  it("can fail after messages: they arrive, then the error", async () => {
    generate = async function* () {
      yield 1;
      yield 2;
      await Promise.resolve();
      throw new Error("broken");
    };
    const messages: unknown[] = [];
    const reading = (async () => {
      for await (const message of service.client.stream({})) messages.push(message);
    })();
    await expect(reading).rejects.toMatchObject({ reason: "INTERNAL" });
    expect(messages).toEqual([1, 2]);
  });
});

describe("an upload", () => {
  it("delivers every message in order, and one reply", async () => {
    receive = async (requests) => (await collect(requests)).length;
    const many = async function* (): AsyncIterable<unknown> {
      for (let index = 0; index < 2_000; index += 1) yield { index, padding: "x".repeat(500) };
    };
    expect(await service.client.upload(ended(many()), PATIENT)).toBe(2_000);
    expect(await service.client.upload([END])).toBe(0);
  });

  it("makes a fast caller wait for a callee that doesn't read", async () => {
    const go = deferred();
    receive = async (requests) => {
      await go.promise;
      return (await collect(requests)).length;
    };
    let producedCount = 0;
    const many = async function* (): AsyncIterable<unknown> {
      for (; producedCount < 3_000; producedCount += 1) yield "x".repeat(10_000);
    };
    const answered = service.client.upload(ended(many()), PATIENT);
    await takeTurns(service.client);
    expect(producedCount).toBeLessThan(1_000);
    go.resolve();
    expect(await answered).toBe(3_000);
  });

  it("that the callee rejects early ends early, and releases its source", async () => {
    receive = () => Promise.reject(new Error("no"));
    const closed = deferred();
    let producedCount = 0;
    const many = async function* (): AsyncIterable<unknown> {
      try {
        for (; producedCount < 100_000; producedCount += 1) yield "x".repeat(10_000);
      } finally {
        closed.resolve();
      }
    };
    await expect(service.client.upload(many(), PATIENT)).rejects.toMatchObject({ reason: "INTERNAL" });
    await closed.promise;
    expect(producedCount).toBeLessThan(10_000);
  });

  it("can be answered before it was read to its end", async () => {
    receive = async (requests) => {
      for await (const request of requests) if (request === 3) return "enough";
      return "all";
    };
    expect(await service.client.upload([1, 2, 3, 4, 5])).toBe("enough");
  });

  it("without an end is never treated as complete", async () => {
    receive = async (requests) => (await collect(requests)).length;
    await expect(service.client.upload([1, 2, 3])).rejects.toMatchObject(UNAVAILABLE);
    await expect(service.client.upload([])).rejects.toMatchObject(UNAVAILABLE);
  });

  it("with a failing source is never treated as complete", async () => {
    const outcome = deferred<string>();
    receive = async (requests) => {
      await collect(requests).then(
        () => outcome.resolve("whole"),
        () => outcome.resolve("broken off"),
      );
      return null;
    };
    const failing = async function* (): AsyncIterable<unknown> {
      yield 1;
      await delay(50);
      throw new Error("the disk is gone");
    };
    await expect(service.client.upload(failing())).rejects.toThrow("the disk is gone");
    expect(await outcome.promise).toBe("broken off");
  });

  it("aborted by its caller is never treated as complete", async () => {
    const outcome = deferred<string>();
    const started = deferred();
    receive = async (requests) => {
      started.resolve();
      await collect(requests).then(
        () => outcome.resolve("whole"),
        () => outcome.resolve("broken off"),
      );
      return null;
    };
    const controller = new AbortController();
    const slow = async function* (): AsyncIterable<unknown> {
      yield 1;
      await until(controller.signal);
    };
    const answered = service.client.upload(slow(), { signal: controller.signal });
    void started.promise.then(() => controller.abort());
    await expect(answered).rejects.toMatchObject(UNAVAILABLE);
    expect(await outcome.promise).toBe("broken off");
  });
});

describe("a caller that aborts", () => {
  it("gets the error at once", async () => {
    const [started, go] = [deferred(), deferred()];
    answer = () => {
      started.resolve();
      return go.promise.then(() => "too late");
    };
    const controller = new AbortController();
    const call = service.client.unary({}, { ...PATIENT, signal: controller.signal });
    await started.promise;
    controller.abort();
    expect(await elapsed(() => expect(call).rejects.toMatchObject(UNAVAILABLE))).toBeLessThan(SOON_MS);
    go.resolve();
  });

  it("before the call isn't served at all", async () => {
    const served = jest.fn(() => Promise.resolve(null));
    answer = served;
    await expect(service.client.unary({}, { signal: AbortSignal.abort() })).rejects.toMatchObject(UNAVAILABLE);
    answer = () => Promise.resolve("next");
    expect(await service.client.unary({})).toBe("next");
    expect(served).not.toHaveBeenCalled();
  });

  it("leaves no listener on its signal, call after call", async () => {
    answer = () => Promise.resolve("done");
    const { signal } = new AbortController();
    const added = jest.spyOn(signal, "addEventListener");
    const removed = jest.spyOn(signal, "removeEventListener");
    for (let call = 0; call < 20; call += 1) await service.client.unary({}, { signal });
    await delay(0);
    expect(added).toHaveBeenCalledTimes(20);
    expect(removed).toHaveBeenCalledTimes(20);
  });
});

describe("a message", () => {
  const large = (megabytes: number): string => "x".repeat(megabytes * 1024 * 1024);

  it("of 15 MB works in both directions", async () => {
    answer = (request) => Promise.resolve(request);
    expect(await service.client.unary(large(15), PATIENT)).toHaveLength(15 * 1024 * 1024);
  });

  it("of 17 MB is rejected in either direction, and the service continues", async () => {
    const served = jest.fn((request: unknown) => Promise.resolve(request === "large" ? large(17) : "small"));
    answer = served;
    await expect(service.client.unary(large(17), PATIENT)).rejects.toMatchObject({ name: "DomainError" });
    expect(served).not.toHaveBeenCalled();
    await expect(service.client.unary("large", PATIENT)).rejects.toMatchObject({ name: "DomainError" });
    expect(await service.client.unary("small")).toBe("small");
  });
});
