import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { deferred } from "../../../test-support/deferred";
import { createApiClient } from "../src/http";
import { loadEach, loadFor, loadPaced, steadyLoad } from "../src/load";

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("load", () => {
  it("keeps the requested number of tasks running, and no more", async () => {
    let running = 0;
    let most = 0;
    const sample = await loadFor(50, 5, async () => {
      running += 1;
      most = Math.max(most, running);
      await tick();
      running -= 1;
    });
    expect(most).toBe(5);
    expect(running).toBe(0);
    expect(sample.latenciesMs.length).toBeGreaterThanOrEqual(5);
    expect(sample.seconds).toBeGreaterThanOrEqual(0.05);
  });

  it("runs each item once and returns results in the items' order", async () => {
    const { sample, results } = await loadEach([1, 2, 3, 4, 5], 2, async (item) => {
      await tick();
      return item * 10;
    });
    expect(results).toEqual([10, 20, 30, 40, 50]);
    expect(sample.latenciesMs).toHaveLength(5);
  });

  it("fails when a task does", async () => {
    const fail = (): Promise<never> => Promise.reject(new Error("refused"));
    await expect(loadFor(1_000, 1, fail)).rejects.toThrow("refused");
    await expect(loadEach([1], 1, fail)).rejects.toThrow("refused");
  });

  it("at a fixed rate starts each item on time, before earlier ones are done", async () => {
    const { promise: released, resolve: release } = deferred();
    const startedAt = performance.now();
    const { results, sample } = await loadPaced([1, 2, 3, 4], 100, async (item) => {
      if (item === 4) release();
      await released;
      return item;
    });
    expect(results).toEqual([1, 2, 3, 4]);
    expect(sample.latenciesMs).toHaveLength(4);
    // The fourth task is due after 30 ms. Timers round to whole milliseconds.
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(28);
  });

  it("at a steady rate starts tasks before earlier ones are done, and waits for them at the end", async () => {
    const { promise: released, resolve: release } = deferred();
    let started = 0;
    let endedCalls = 0;
    const stop = await new Promise<() => Promise<void>>((resolve) => {
      const end = steadyLoad(200, async () => {
        started += 1;
        if (started === 3) resolve(end);
        await released;
        endedCalls += 1;
      });
    });
    expect(endedCalls).toBe(0);
    release();
    await stop();
    expect(endedCalls).toBe(started);
  });

  it("at a steady rate reports at the end that a task failed", async () => {
    const stop = await new Promise<() => Promise<void>>((resolve) => {
      const end = steadyLoad(200, () => {
        resolve(end);
        return Promise.reject(new Error("refused"));
      });
    });
    await expect(stop()).rejects.toThrow("refused");
  });
});

describe("the API client", () => {
  let server: Server;
  let connections = 0;
  const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === "/silent") return;
      response.statusCode = request.url === "/refused" ? 403 : 200;
      response.end(JSON.stringify({ key: request.headers["x-api-key"] }));
    });
    server.on("connection", () => (connections += 1));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it("sends its key, and reuses one connection for consecutive calls", async () => {
    const api = createApiClient(url(), "k", new AbortController().signal);
    for (let call = 0; call < 5; call += 1) expect(await api.expect(200, "GET", "/")).toEqual({ key: "k" });
    expect(connections).toBe(1);
    api.close();
  });

  it("reports an unexpected response", async () => {
    const api = createApiClient(url(), "k", new AbortController().signal);
    await expect(api.expect(200, "POST", "/refused", {})).rejects.toThrow('POST /refused was answered 403: {"key":"k"}');
    api.close();
  });

  it("aborts calls in progress when the bench is cancelled", async () => {
    const calledOff = new AbortController();
    const api = createApiClient(url(), "k", calledOff.signal);
    const call = api.call("GET", "/silent");
    calledOff.abort();
    await expect(call).rejects.toThrow();
    api.close();
  });
});
