import { Agent, get, type IncomingMessage } from "node:http";
import { startHttpServer, type RunningHttpServer } from "../../src";
import { deferred } from "../../../../test-support/deferred";

const LONG_MS = 60_000;

interface Answer {
  status: number;
  connection: string | undefined;
  body: string;
}
const ask = (port: number, path: string, agent: Agent): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const request = get({ host: "127.0.0.1", port, path, agent }, (response: IncomingMessage) => {
      let body = "";
      response.on("data", (chunk: Buffer) => (body += chunk.toString()));
      response.once("end", () => resolve({ status: response.statusCode!, connection: response.headers.connection, body }));
      response.once("error", reject);
    });
    request.once("error", reject);
  });

describe("an HTTP server that drains", () => {
  let agent: Agent;
  let server: RunningHttpServer;
  beforeEach(() => (agent = new Agent({ keepAlive: true, maxSockets: 8 })));
  afterEach(async () => {
    agent.destroy();
    await server.stop();
  });

  it("still serves, and every response closes its connection, including one in progress and one that a proxy wrote", async () => {
    const [start, go] = [deferred(), deferred()];
    server = await startHttpServer({
      listen: "127.0.0.1:0",
      app: (request, response) => {
        if (request.url === "/proxied") response.setHeader("Connection", "keep-alive");
        if (request.url !== "/slow") return response.end("quick");
        start.resolve();
        return void go.promise.then(() => response.end("slow"));
      },
    });
    expect(await ask(server.port, "/", agent)).toMatchObject({ connection: "keep-alive" });
    const slow = ask(server.port, "/slow", agent);
    await start.promise;
    server.drain();
    expect(await ask(server.port, "/", agent)).toEqual({ status: 200, connection: "close", body: "quick" });
    expect(await ask(server.port, "/proxied", agent)).toMatchObject({ connection: "close" });
    go.resolve();
    expect(await slow).toEqual({ status: 200, connection: "close", body: "slow" });
  });

  it("resets no connection that is continuously in use", async () => {
    server = await startHttpServer({ listen: "127.0.0.1:0", app: (_request, response) => response.end("served"), graceMs: LONG_MS });
    let [served, draining, isDone] = [0, false, false];
    const failures: unknown[] = [];
    const client = async (): Promise<void> => {
      // Continues until a response closes this connection, because a balancer keeps its connections.
      for (;;) {
        const answer = await ask(server.port, "/", agent).catch((error: unknown) => void failures.push(error));
        served += 1;
        if (!answer || answer.connection === "close" || isDone) return;
      }
    };
    const clients = Array.from({ length: 8 }, client);
    while (served < 200) await new Promise((resolve) => setImmediate(resolve));
    server.drain();
    draining = true;
    await Promise.all(clients);
    expect([failures, draining]).toEqual([[], true]);
    isDone = true;
    await server.stop();
  });

  it("closes the connection of a stream with sent headers when the stream ends", async () => {
    const [start, go] = [deferred(), deferred()];
    server = await startHttpServer({
      listen: "127.0.0.1:0",
      graceMs: LONG_MS,
      app: (_request, response) => {
        response.write("first ");
        start.resolve();
        void go.promise.then(() => response.end("last"));
      },
    });
    const stream = ask(server.port, "/", agent);
    await start.promise;
    const stopped = server.stop();
    go.resolve();
    expect((await stream).body).toBe("first last");
    await stopped;
  });

  it("answers the next request on a connection even if a stream on it has just ended, and then closes it", async () => {
    const [start, go] = [deferred(), deferred()];
    server = await startHttpServer({
      listen: "127.0.0.1:0",
      graceMs: LONG_MS,
      app: (request, response) => {
        if (request.url !== "/stream") return response.end("next");
        response.write("first ");
        start.resolve();
        void go.promise.then(() => response.end("last"));
      },
    });
    agent.destroy();
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const stream = ask(server.port, "/stream", agent);
    await start.promise;
    const stopped = server.stop();
    // The next request is sent on the same connection after the stream has ended, because there is only one.
    const next = ask(server.port, "/", agent);
    go.resolve();
    expect((await stream).body).toBe("first last");
    expect(await next).toEqual({ status: 200, connection: "close", body: "next" });
    await stopped;
  });
});
