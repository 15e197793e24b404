import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { createEgressClient, type EgressClient } from "@nodeloom/platform";
import { createHttpRequest } from "../../src/calls/http-request";

type Seen = { method: string; url: string; headers: IncomingMessage["headers"]; body: string };
let server: Server;
let baseUrl: string;
let egress: EgressClient;
let answer: (response: ServerResponse, seen: Seen) => void;
let seen: Seen[];

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const call = { method: request.method!, url: request.url!, headers: request.headers, body: Buffer.concat(chunks).toString() };
      seen.push(call);
      answer(response, call);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  baseUrl = `http://${address}`;
  egress = createEgressClient({ allow: [address] });
});
afterAll(async () => {
  await egress.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  seen = [];
  answer = (response) => response.setHeader("content-type", "application/json").end('{"a":{"b":[1,2]}}');
});

const live = new AbortController().signal;
const send = (
  part: Partial<Parameters<ReturnType<typeof createHttpRequest>>[0]>,
  key = "run:node:0",
): Promise<{ status: number; body: unknown }> =>
  createHttpRequest(egress)({ method: "GET", url: baseUrl, headers: {}, ...part }, key, live);

it.each([
  ["JSON", undefined, { a: { b: [1, 2] } }],
  ["a part of it", "/a/b/1", 2],
  ["null where the part is missing", "/a/c", null],
  ["null for a list's length, which is no part of its JSON", "/a/b/length", null],
  ["null for an index with a leading zero", "/a/b/01", null],
])("gives %s", async (_, extract, body) => {
  expect(await send(extract === undefined ? {} : { extract })).toEqual({ status: 200, body });
});

it("gives text where the answer is no JSON, whatever it says it is", async () => {
  answer = (response) => response.setHeader("content-type", "application/json").end("{broken");
  expect((await send({})).body).toBe("{broken");
});

const POEM = '{"line":"Über"}';
it.each<[string, Record<string, string>, Buffer, unknown]>([
  ["gzip", { "content-encoding": "gzip", "content-type": "application/json" }, gzipSync(POEM), { line: "Über" }],
  ["br", { "content-encoding": "br", "content-type": "application/json" }, brotliCompressSync(POEM), { line: "Über" }],
  ["gzip over br", { "content-encoding": "br, gzip" }, gzipSync(brotliCompressSync(POEM)), POEM],
  ["latin1", { "content-type": "text/plain; charset=ISO-8859-1" }, Buffer.from("Über", "latin1"), "Über"],
  ["Shift_JIS", { "content-type": 'text/html; charset="shift_jis"' }, Buffer.from([0x83, 0x65]), "テ"],
  ["UTF-16", { "content-type": "text/plain; charset=utf-16le" }, Buffer.from("Über", "utf16le"), "Über"],
  ["text of no told charset", { "content-type": "text/html" }, Buffer.from("Über", "latin1"), "Über"],
  ["Windows-1252 that is not told", { "content-type": "text/html" }, Buffer.from([0x80, 0x93, 0xfc, 0x94]), "€“ü”"],
  [
    "JSON with an integer that a double would round",
    { "content-type": "application/json" },
    Buffer.from('{"id": 7615917337495251231}'),
    { id: "7615917337495251231" },
  ],
  ["a byte order mark", {}, Buffer.from("\ufeffÜber"), "Über"],
])("reads an answer in %s", async (_, headers, body, read) => {
  answer = (response) => void response.writeHead(200, headers).end(body);
  expect((await send({})).body).toEqual(read);
  expect(seen[0]!.headers["accept-encoding"]).toBe("gzip, br");
});

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
it.each<[string, Record<string, string>, Buffer, RegExp]>([
  ["a picture", { "content-type": "image/png" }, PNG, /is no text \(image\/png\)/],
  ["a file that says that it is text", { "content-type": "text/plain" }, Buffer.from([0, 1, 2, 3]), /is no text/],
  ["bytes of no type", {}, Buffer.from([0xff, 0xfe, 0xfd]), /is no text/],
  ["an unknown encoding", { "content-encoding": "zstd" }, Buffer.from("x"), /content-encoding zstd/],
  ["an unknown charset", { "content-type": "text/plain; charset=klingon" }, Buffer.from("x"), /charset klingon/],
  ["what is not encoded as it says", { "content-encoding": "gzip" }, Buffer.from("plain"), /is not gzip/],
  ["what inflates to more than it may be", { "content-encoding": "gzip" }, gzipSync(Buffer.alloc(10_000_000)), /larger than 262144/],
  ["a number that no double holds", { "content-type": "application/json" }, Buffer.from('[{"n":1e400}]'), /number that is too large/],
])("fails on %s", async (_, headers, body, message) => {
  answer = (response) => void response.writeHead(200, headers).end(body);
  await expect(send({})).rejects.toMatchObject({ reason: "EXECUTION_FAILED", message: expect.stringMatching(message) as string });
});

it("takes any status as an answer, and follows no redirect", async () => {
  answer = (response) => response.writeHead(302, { location: "/elsewhere" }).end();
  expect((await send({})).status).toBe(302);
  expect(seen).toHaveLength(1);
});

it("sends JSON or text, the author's headers, and a key that names the call", async () => {
  await send({ method: "POST", body: { x: 1 }, headers: { "X-One": "1", Host: "evil", "Content-Length": "3" } });
  await send({ method: "PUT", body: "plain", headers: { "content-type": "text/markdown", "idempotency-key": "mine" } });
  const [json, text] = seen;
  expect(json).toMatchObject({
    body: '{"x":1}',
    headers: { "content-type": "application/json", "x-one": "1", "idempotency-key": "run:node:0" },
  });
  expect(json!.headers.host).toBe(new URL(baseUrl).host);
  expect(text).toMatchObject({ body: "plain", headers: { "content-type": "text/markdown", "idempotency-key": "mine" } });
});

it("names a call by a key that a header can carry, whatever the node is called", async () => {
  await send({ method: "POST" }, "run:图片:0");
  await send({ method: "POST" }, "run:图片:0");
  await send({ method: "POST" }, "run:画像:0");
  const keys = seen.map(({ headers }) => headers["idempotency-key"]);
  expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[0]);
});

it.each([
  ["a method that tunnels", { method: "CONNECT" }, /not a method/],
  ["a header with a line break", { headers: { "x-a": "1\r\nx-b: 2" } }, /x-a has line breaks/],
  ["a header without a name", { headers: { "": "1" } }, /not a header's name/],
  ["an address inside the network", { url: "http://127.0.0.1:1/" }, /refused to call 127\.0\.0\.1:1: /],
  ["an address that is none", { url: "nowhere" }, /not a URL/],
])("refuses %s", async (_, part, message) => {
  await expect(send(part)).rejects.toMatchObject({ reason: "EXECUTION_FAILED", message: expect.stringMatching(message) as string });
  expect(seen).toHaveLength(0);
});

it("refuses an answer that is too large", async () => {
  answer = (response) => response.end("x".repeat(300_000));
  await expect(send({})).rejects.toThrow(/larger than/);
});

it("asks again when a connection breaks, but never repeats a call that may have had its effect", async () => {
  answer = (response) => (seen.length === 1 ? response.destroy() : response.end("second"));
  expect((await send({})).body).toBe("second");
  seen = [];
  answer = (response) => response.destroy();
  await expect(send({ method: "POST" })).rejects.toThrow("the connection was closed before an answer came");
  expect(seen).toHaveLength(1);
});

it.each(["GET", "POST"])("says that the answer to a %s broke off, which is not that nothing was reached", async (method) => {
  answer = (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"a":1', () => response.destroy());
  };
  await expect(send({ method })).rejects.toThrow("the answer broke off after 6 of 1000 bytes");
});

it("stops when it is cancelled", async () => {
  const cancel = new AbortController();
  answer = () => cancel.abort();
  await expect(createHttpRequest(egress)({ method: "GET", url: baseUrl, headers: {} }, "k", cancel.signal)).rejects.toThrow(/abort/i);
});
