import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { readFileSync } from "node:fs";
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from "node:net";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createEgressClient, USER_AGENT, type EgressClient, type EgressRequest, type EgressResponse } from "../../src";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
interface RecordedRequest {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const listen = async <S extends Server | TcpServer>(server: S): Promise<string> => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => {
    if ("closeAllConnections" in server) server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const serve = (handler: Handler): Promise<string> => listen(createServer(handler));

/** A server that records its requests. */
const record = async (answer: Handler): Promise<{ address: string; requests: RecordedRequest[] }> => {
  const requests: RecordedRequest[] = [];
  const address = await serve((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      requests.push({ method: request.method!, url: request.url!, headers: request.headers, body });
      answer(request, response);
    });
  });
  return { address, requests };
};

const open = (...allow: string[]): EgressClient => {
  const client = createEgressClient({ allow });
  closers.push(() => client.close());
  return client;
};

const call = (address: string, overrides: Partial<EgressRequest> = {}): EgressRequest => ({
  url: `http://${address}/`,
  timeoutMs: 5_000,
  maxBytes: 1_000,
  ...overrides,
});

const to =
  (status: number, location: string): Handler =>
  (_request, response) =>
    response.writeHead(status, { location }).end("moved");

describe("the User-Agent", () => {
  it("is Nodeloom's, followed by the caller's own", async () => {
    const { address, requests } = await record((_request, response) => response.end("hello"));
    const client = open(address);
    await client.request(call(address));
    await client.request(call(address, { headers: { "User-Agent": "Weather/2" } }));
    const { version } = JSON.parse(readFileSync(join(__dirname, "../../../../package.json"), "utf8")) as { version: string };
    expect(requests.map(({ headers }) => headers["user-agent"])).toEqual([`Nodeloom/${version}`, `Nodeloom/${version} Weather/2`]);
  });

  it("is kept over redirects to other hosts, once", async () => {
    const { address, requests } = await record((_request, response) => response.end("hello"));
    const from = await serve(to(302, `http://${address}/`));
    await open(address, from).request(call(from, { maxRedirects: 1, headers: { "user-agent": "Weather/2" } }));
    expect(requests[0]!.headers["user-agent"]).toBe(`${USER_AGENT} Weather/2`);
  });
});

describe("redirects", () => {
  it.each([301, 302, 303, 307, 308])("are returned as responses unless following is requested (%i)", async (status) => {
    const { address, requests } = await record(to(status, "/elsewhere"));
    expect(await open(address).request(call(address))).toMatchObject({ status, headers: { location: "/elsewhere" } });
    expect(requests).toHaveLength(1);
  });

  it("are followed up to the limit, including relative ones", async () => {
    const { address, requests } = await record((request, response) => {
      const hop = Number(request.url!.slice(1));
      if (hop < 3) response.writeHead(302, { location: `${hop + 1}` }).end();
      else response.end("arrived");
    });
    const client = open(address);
    const url = `http://${address}/0`;
    expect((await client.request(call(address, { url, maxRedirects: 3 }))).body.toString()).toBe("arrived");
    expect(requests.map((request) => request.url)).toEqual(["/0", "/1", "/2", "/3"]);
    const tooMany = { code: "TOO_MANY_REDIRECTS", mayHaveBeenSent: true };
    await expect(client.request(call(address, { url, maxRedirects: 2 }))).rejects.toMatchObject(tooMany);
  });

  it.each([
    "http://10.0.0.1/",
    "http://169.254.169.254/latest",
    "//127.0.0.1:1/",
    "http://[::1]/",
    "file:///etc/passwd",
    "http://me@example.com/",
  ])("to %s are rejected, even if the first hop was allowed", async (location) => {
    const address = await serve(to(302, location));
    const attempt = open(address).request(call(address, { maxRedirects: 3 }));
    // The first request has arrived.
    await expect(attempt).rejects.toMatchObject({ code: "REFUSED", mayHaveBeenSent: true });
  });

  it("to an invalid URL are rejected", async () => {
    const address = await serve(to(302, "http://[nowhere/"));
    await expect(open(address).request(call(address, { maxRedirects: 1 }))).rejects.toMatchObject({ name: "EgressError", code: "REFUSED" });
  });

  it("to an unavailable address count as sent, because the first hop arrived", async () => {
    const address = await serve(to(307, "http://127.0.0.1:1/"));
    const attempt = open(address, "127.0.0.1:1").request(call(address, { method: "POST", body: "x", maxRedirects: 1 }));
    await expect(attempt).rejects.toMatchObject({ code: "UNREACHABLE", mayHaveBeenSent: true });
  });

  it("keep every header within their origin", async () => {
    const { address, requests } = await record((request, response) =>
      request.url === "/" ? to(302, "/next")(request, response) : response.end(),
    );
    await open(address).request(call(address, { maxRedirects: 1, headers: { Authorization: "secret", "xi-api-key": "secret" } }));
    expect(requests[1]!.headers).toMatchObject({ authorization: "secret", "xi-api-key": "secret" });
  });

  it("send no header that could be a secret to another origin, and don't restore it on the way back", async () => {
    const home = await record((request, response) =>
      request.url === "/" ? to(307, `http://${away.address}/`)(request, response) : response.end("back"),
    );
    const away: Awaited<ReturnType<typeof record>> = await record((request, response) =>
      to(307, `http://${home.address}/back`)(request, response),
    );
    const secrets = {
      Authorization: "secret",
      cookie: "secret",
      "X-Api-Key": "secret",
      "xi-api-key": "secret",
      "proxy-authorization": "secret",
    };
    const answer = await open(home.address, away.address).request(
      call(home.address, { maxRedirects: 2, headers: { ...secrets, accept: "text/plain", "user-agent": "nodeloom" } }),
    );
    expect(answer.body.toString()).toBe("back");
    expect(Object.values(home.requests[0]!.headers).filter((value) => value === "secret")).toHaveLength(5);
    for (const { headers } of [away.requests[0]!, home.requests[1]!]) {
      expect(JSON.stringify(headers)).not.toContain("secret");
      expect(headers).toMatchObject({ accept: "text/plain", "user-agent": `${USER_AGENT} nodeloom` });
    }
  });

  it.each([
    [301, "POST", "GET"],
    [302, "POST", "GET"],
    [303, "POST", "GET"],
    [303, "PUT", "GET"],
    [303, "HEAD", "HEAD"],
    [302, "PUT", "PUT"],
    [307, "POST", "POST"],
    [308, "POST", "POST"],
    [301, "GET", "GET"],
  ])("of status %i turn %s into %s", async (status, method, expected) => {
    const { address, requests } = await record((request, response) =>
      request.url === "/" ? to(status, "/next")(request, response) : response.end(),
    );
    const hasBody = method === "POST" || method === "PUT";
    const content = hasBody ? { body: "content", headers: { "content-type": "text/plain", "content-length": "7" } } : {};
    await open(address).request(call(address, { method, maxRedirects: 1, ...content }));
    const keepsBody = hasBody && expected === method;
    expect(requests[1]).toMatchObject({ method: expected, body: keepsBody ? "content" : "" });
    expect("content-type" in requests[1]!.headers).toBe(keepsBody);
  });
});

describe("limits of an exchange", () => {
  const endless: Handler = (_request, response) => {
    const timer = setInterval(() => response.write("x"), 20);
    response.once("close", () => clearInterval(timer));
  };

  it("accepts a body of exactly the limit, and not a byte more", async () => {
    const address = await serve((request, response) => response.end("x".repeat(Number(request.url!.slice(1)))));
    const client = open(address);
    expect((await client.request(call(address, { url: `http://${address}/1000` }))).body).toHaveLength(1_000);
    const tooLarge = { code: "TOO_LARGE", mayHaveBeenSent: true };
    await expect(client.request(call(address, { url: `http://${address}/1001` }))).rejects.toMatchObject(tooLarge);
    await expect(client.request(call(address, { url: `http://${address}/50000000` }))).rejects.toMatchObject(tooLarge);
  });

  it("stops reading an endless body at the limit", async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const address = await serve((_request, response) => {
      closed = once(response, "close");
      const more = (): void => {
        while (response.write("x".repeat(10_000)));
        response.once("drain", more);
      };
      more();
    });
    await expect(open(address).request(call(address))).rejects.toMatchObject({ code: "TOO_LARGE" });
    await closed;
  });

  it("times out for an address that never sends a header", async () => {
    const address = await serve(() => undefined);
    await expect(open(address).request(call(address, { timeoutMs: 150 }))).rejects.toMatchObject({
      code: "TIMEOUT",
      mayHaveBeenSent: true,
    });
  });

  it("times out for headers that arrive too slowly", async () => {
    const address = await listen(
      createTcpServer((socket) => {
        socket.write("HTTP/1.1 200 OK\r\nx-slow: ");
        const timer = setInterval(() => socket.write("x"), 20);
        socket.on("close", () => clearInterval(timer)).on("error", () => undefined);
      }),
    );
    await expect(open(address).request(call(address, { timeoutMs: 150 }))).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  it("times out for a body that arrives too slowly, even with garbage collection meanwhile", async () => {
    const address = await serve(endless);
    const timer = setInterval(collectGarbage, 25);
    const attempt = open(address).request(call(address, { timeoutMs: 300, signal: new AbortController().signal }));
    await expect(attempt.finally(() => clearInterval(timer))).rejects.toMatchObject({ code: "TIMEOUT", mayHaveBeenSent: true });
  });

  it("counts all redirects towards one time-out", async () => {
    const address = await serve((_request, response) => setTimeout(() => response.writeHead(302, { location: "/" }).end(), 60));
    await expect(open(address).request(call(address, { timeoutMs: 150, maxRedirects: 50 }))).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  it("drops an unread response", async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const address = await serve((request, response) => {
      closed = once(response, "close");
      endless(request, response);
    });
    const { status } = await open(address).stream(call(address, { timeoutMs: 150 }));
    expect(status).toBe(200);
    await closed;
  });

  /**
   * Answers at once and ends the connection.
   * @returns its address, and a promise for the time when the client has noticed the end
   */
  const endAfter = async (head: string, bytes: number): Promise<{ address: string; over: Promise<void> }> => {
    let resume: () => void = () => undefined;
    const over = new Promise<void>((resolve) => (resume = resolve));
    const address = await listen(
      createTcpServer((socket) => {
        socket.on("error", () => undefined).once("close", () => setImmediate(resume));
        socket.once("data", () => {
          socket.write(`HTTP/1.1 200 OK\r\n${head}Connection: close\r\n\r\n`);
          socket.end(Buffer.alloc(bytes, "x"));
        });
      }),
    );
    return { address, over };
  };

  it.each([60_000, 65_536, 65_537, 70_000, 100_000])("reads %i bytes after their server has closed", async (bytes) => {
    for (const head of [`Content-Length: ${bytes}\r\n`, ""]) {
      const { address, over } = await endAfter(head, bytes);
      const { body } = await open(address).stream(call(address, { maxBytes: 1_000_000 }));
      await over;
      let readBytes = 0;
      for await (const chunk of body) readBytes += chunk.length;
      expect(readBytes).toBe(bytes);
    }
  });

  it("treats a response as incomplete if its server closes before the end, however late it is read", async () => {
    const { address, over } = await endAfter("Content-Length: 100000\r\n", 70_000);
    const { body } = await open(address).stream(call(address, { maxBytes: 1_000_000 }));
    await over;
    await expect(body[Symbol.asyncIterator]().return?.()).resolves.toBeDefined();
    const again = await endAfter("Content-Length: 100000\r\n", 70_000);
    const late = await open(again.address).stream(call(again.address, { maxBytes: 1_000_000 }));
    await again.over;
    const readAll = async (): Promise<void> => {
      for await (const chunk of late.body) expect(chunk.length).toBeGreaterThan(0);
    };
    await expect(readAll()).rejects.toMatchObject({ code: "UNREACHABLE" });
  });

  it("fails with the caller's own reason after an abort before or meanwhile", async () => {
    const address = await serve(endless);
    const client = open(address);
    const reason = new Error("the run was cancelled");
    await expect(client.request(call(address, { signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    const controller = new AbortController();
    const attempt = client.request(call(address, { signal: controller.signal }));
    setTimeout(() => controller.abort(reason), 100);
    await expect(attempt).rejects.toBe(reason);
  });

  it("leaves no listener on the caller's signal", async () => {
    const address = await serve((_request, response) => response.end("x"));
    const { signal } = new AbortController();
    const added = jest.spyOn(signal, "addEventListener");
    const removed = jest.spyOn(signal, "removeEventListener");
    await open(address).request(call(address, { signal }));
    expect(added).toHaveBeenCalledTimes(1);
    expect(removed.mock.calls[0]!.slice(0, 2)).toEqual(added.mock.calls[0]!.slice(0, 2));
  });
});

describe("whether a failed request was sent", () => {
  it("is no if the connection is refused", async () => {
    const address = await serve(() => undefined);
    await closers.pop()!();
    const attempt = open(address).request(call(address, { method: "POST", body: "x" }));
    await expect(attempt).rejects.toMatchObject({ code: "UNREACHABLE", mayHaveBeenSent: false });
  });

  it("is no if every address of a name refuses", async () => {
    const address = await serve(() => undefined);
    await closers.pop()!();
    const port = address.split(":")[1]!;
    const client = createEgressClient({
      allow: [`name.test:${port}`],
      lookup: (_host, _options, callback) =>
        callback(null, [
          { address: "127.0.0.1", family: 4 },
          { address: "127.0.0.2", family: 4 },
        ]),
    });
    closers.push(() => client.close());
    await expect(client.request(call(`name.test:${port}`))).rejects.toMatchObject({ code: "UNREACHABLE", mayHaveBeenSent: false });
  });

  it("is no if the name has no address", async () => {
    const notFound = Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND", syscall: "getaddrinfo" });
    const client = createEgressClient({ lookup: (_host, _options, callback) => callback(notFound, []) });
    closers.push(() => client.close());
    await expect(client.request(call("nowhere.test"))).rejects.toMatchObject({ code: "UNREACHABLE", mayHaveBeenSent: false });
  });

  it.each([
    ["a header that smuggles another", { headers: { a: "b\r\nhost: internal" } }],
    ["a header with a malformed name", { headers: { "a b": "c" } }],
    ["a length that is wrong", { method: "POST", body: "abc", headers: { "content-length": "2" } }],
    ["a method that is none", { method: "GET\r\nX: y" }],
    ["a method for proxies", { method: "CONNECT" }],
  ])("is no for %s", async (_name, overrides) => {
    const { address, requests } = await record((_request, response) => response.end());
    await expect(open(address).request(call(address, overrides))).rejects.toMatchObject({ code: "REFUSED", mayHaveBeenSent: false });
    expect(requests).toEqual([]);
  });

  it.each<[string, Handler]>([
    ["the connection is reset before an answer", (request) => request.socket.resetAndDestroy()],
    ["the connection is closed before an answer", (request) => request.socket.destroy()],
    ["the answer is no HTTP", (request) => request.socket.end("nonsense\r\n\r\n")],
  ])("is unknown if %s", async (_name, handler) => {
    const address = await serve(handler);
    const attempt = open(address).request(call(address, { method: "POST", body: "x" }));
    await expect(attempt).rejects.toMatchObject({ code: "UNREACHABLE", mayHaveBeenSent: true });
  });

  it("is yes if the response is incomplete", async () => {
    const address = await serve((request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => request.socket.destroy());
    });
    const message = "the answer broke off after 4 of 100 bytes";
    await expect(open(address).request(call(address))).rejects.toMatchObject({ code: "UNREACHABLE", mayHaveBeenSent: true, message });
  });

  it("never shows the socket's error", async () => {
    const address = await serve((request) => request.socket.resetAndDestroy());
    const error = await open(address)
      .request(call(address))
      .catch((reason: Error) => reason);
    expect((error as Error).message).toBe("the connection was closed before an answer came");
  });
});

describe("an answer", () => {
  it("has lower-case headers, repeated ones joined, and its body byte by byte", async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 128]);
    const address = await serve((_request, response) => response.writeHead(201, { "X-One": "1", "set-cookie": ["a=1", "b=2"] }).end(bytes));
    const answer: EgressResponse = await open(address).request(call(address));
    expect(answer).toMatchObject({ status: 201, headers: { "x-one": "1", "set-cookie": "a=1, b=2" } });
    expect(answer.body.equals(bytes)).toBe(true);
  });

  it("with an error status is returned", async () => {
    const address = await serve((_request, response) => response.writeHead(503).end("busy"));
    expect(await open(address).request(call(address))).toMatchObject({ status: 503 });
  });

  it("streams: the first event arrives before the response ends", async () => {
    let finish = (): void => undefined;
    const address = await serve((_request, response) => {
      response.write("data: first\n\n");
      finish = () => response.end("data: last\n\n");
    });
    const { body } = await open(address).stream(call(address));
    const parts: string[] = [];
    for await (const chunk of body) {
      parts.push(chunk.toString());
      finish();
    }
    expect(parts).toEqual(["data: first\n\n", "data: last\n\n"]);
  });
});
