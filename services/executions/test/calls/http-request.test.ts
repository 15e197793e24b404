import { brotliCompressSync, gzipSync } from "node:zlib";
import { DomainError, LIMITS, type HttpCall } from "@nodeloom/kernel";
import { createEgressClient, createSlots, type EgressClient } from "@nodeloom/platform";
import type { media } from "@nodeloom/proto";
import { startRecorder, type Recorder, type RecordedRequest, type Respond } from "../../../../test-support/recorder";
import { createKeepAnswer, type KeepAnswer } from "../../src/calls/answers";
import { createHttpRequest } from "../../src/calls/http-request";
import type { HttpNodeCall, HttpResult } from "../../src/run/calls";

let server: Recorder;
let baseUrl: string;
let egress: EgressClient;
let answer: Respond;
let seenCalls: RecordedRequest[];

beforeAll(async () => {
  server = await startRecorder((response, call) => {
    seenCalls.push(call);
    answer(response, call);
  });
  baseUrl = server.url;
  egress = createEgressClient({ allow: [server.address] });
});
afterAll(async () => {
  await egress.close();
  await server.close();
});
beforeEach(() => {
  seenCalls = [];
  answer = (response) => response.setHeader("content-type", "application/json").end('{"a":{"b":[1,2]}}');
});

const live = new AbortController().signal;
/** Stored files. Storage accepts any bytes with the signature of a picture. */
let keptBodies: { call: HttpNodeCall; bytes: Buffer }[];
beforeEach(() => (keptBodies = []));
const keepAnswer: KeepAnswer = async (call, bytes) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  const whole = Buffer.concat(chunks);
  if (!whole.subarray(0, 4).equals(PNG.subarray(0, 4))) return undefined;
  keptBodies.push({ call, bytes: whole });
  return FILE;
};
const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const FILE = { url: "https://storage.test/a.png", contentType: "image/png" };
const nodeCall = (part: Partial<HttpCall>, key: string): HttpNodeCall => ({
  ...{ executionId: "run", userId: "user", nodeId: "web", nodeIndex: 3, item: 1, items: 2, startedAt: 0, key },
  call: { method: "GET", url: baseUrl, headers: {}, ...part },
});
const send = (part: Partial<HttpCall>, key = "run:node:0", signal = live): Promise<HttpResult> =>
  createHttpRequest({ egress, keepAnswer })(nodeCall(part, key), signal);

it.each([
  ["JSON", undefined, { a: { b: [1, 2] } }],
  ["a part of it", "/a/b/1", 2],
  ["null where the part is missing", "/a/c", null],
  ["null for a list's length, which is no part of its JSON", "/a/b/length", null],
  ["null for an index with a leading zero", "/a/b/01", null],
])("gives %s", async (_, extract, body) => {
  expect(await send(extract === undefined ? {} : { extract })).toEqual({ status: 200, body });
});

it("returns text if the response isn't JSON, whatever its content type is", async () => {
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
])("reads a response in %s", async (_, headers, body, readBody) => {
  answer = (response) => void response.writeHead(200, headers).end(body);
  expect((await send({})).body).toEqual(readBody);
  expect(seenCalls[0]!.headers["accept-encoding"]).toBe("gzip, br");
});

const LARGE = Buffer.concat([PNG, Buffer.alloc(600_000, 7)]);
it.each<[string, Record<string, string>, Buffer, Buffer]>([
  ["says what it is", { "content-type": "image/png" }, PNG, PNG],
  ["says that it is any bytes", { "content-type": "application/octet-stream" }, PNG, PNG],
  ["says nothing", {}, PNG, PNG],
  ["says that it is text", { "content-type": "text/plain" }, PNG, PNG],
  ["is larger than a text may be", { "content-type": "image/png" }, LARGE, LARGE],
  ["is compressed", { "content-type": "image/png", "content-encoding": "gzip" }, gzipSync(LARGE), LARGE],
])("returns a picture that %s as a stored file", async (_, headers, body, bytes) => {
  answer = (response) => void response.writeHead(200, headers).end(body);
  expect(await send({ extract: "/a" })).toEqual({ status: 200, body: null, file: FILE });
  expect(keptBodies).toMatchObject([{ call: { userId: "user", executionId: "run", nodeIndex: 3, item: 1 } }]);
  expect(keptBodies[0]!.bytes.equals(bytes)).toBe(true);
});

it.each<[string, string, string]>([
  ["a drawing", "image/svg+xml", "<svg/>"],
  ["an error in place of a picture", "image/png", '{"error":"none"}'],
  ["a list of films", "audio/x-mpegurl", "#EXTM3U\n"],
])("returns %s that is text as its text", async (_, type, body) => {
  answer = (response) => void response.writeHead(404, { "content-type": type }).end(body);
  expect(await send({})).toEqual({ status: 404, body });
});

it("stores the response to a write once, and never repeats the write for it", async () => {
  answer = (response) => void response.writeHead(200, { "content-type": "image/png" }).end(PNG);
  const away = createHttpRequest({
    egress,
    keepAnswer: () => Promise.reject(new DomainError("unavailable", "SERVICE_UNAVAILABLE", "media is not available")),
  });
  const problem = { kind: "failed", message: "its answer could not be stored: media is not available" };
  await expect(away(nodeCall({ method: "POST" }, "k"), live)).rejects.toMatchObject(problem);
  await expect(away(nodeCall({}, "k"), live)).rejects.toMatchObject({ kind: "unavailable" });
});

it("decompresses no more than a file can have", async () => {
  answer = (response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(LIMITS.mediaBytes + 1)));
  const drain: KeepAnswer = async (_, bytes) => {
    for await (const chunk of bytes) expect(chunk).toBeDefined();
    return undefined;
  };
  await expect(createHttpRequest({ egress, keepAnswer: drain })(nodeCall({}, "k"), live)).rejects.toThrow(/larger than \d+ bytes/);
});

it("stores a file under an id of its call, with the type of its bytes, and handles a rejection by storage", async () => {
  const uploads: unknown[] = [];
  let refusal: DomainError | undefined;
  const upload = async (parts: AsyncIterable<unknown> | Iterable<unknown>) => {
    for await (const part of parts) uploads.push(part);
    if (refusal) throw refusal;
    return { object: { url: FILE.url, contentType: FILE.contentType } } as media.UploadResponse;
  };
  const keep = createKeepAnswer({ upload }, createSlots({ concurrency: 1, queueLimit: 1 }));
  const bytes = async function* () {
    yield PNG;
  };
  expect(await keep(nodeCall({}, "k"), bytes(), live)).toEqual(FILE);
  expect(uploads[0]).toEqual({
    part: {
      $case: "header",
      value: { id: "run-3-1-0", ownerId: "user", accept: ["image", "video", "audio", "model3d"], making: undefined },
    },
  });
  refusal = new DomainError("invalid", "UNSUPPORTED_MEDIA_TYPE", "is no image");
  expect(await keep(nodeCall({}, "k"), bytes(), live)).toBeUndefined();
  refusal = new DomainError("exhausted", "MEDIA_QUOTA_EXCEEDED", "no room");
  await expect(keep(nodeCall({}, "k"), bytes(), live)).rejects.toMatchObject({ reason: "MEDIA_QUOTA_EXCEEDED" });
});

it.each<[string, Record<string, string>, Buffer, RegExp]>([
  [
    "an archive",
    { "content-type": "application/zip" },
    Buffer.from("504b0304140000", "hex"),
    /is neither text nor a picture, video, sound or 3D model \(application\/zip\)$/,
  ],
  ["a file that says that it is text", { "content-type": "text/plain" }, Buffer.from([0, 1, 2, 3]), /is neither text nor/],
  ["bytes of no type", {}, Buffer.from([0xff, 0xfe, 0xfd]), /is neither text nor/],
  ["an unknown encoding", { "content-encoding": "zstd" }, Buffer.from("x"), /content-encoding zstd/],
  ["an unknown charset", { "content-type": "text/plain; charset=klingon" }, Buffer.from("x"), /charset klingon/],
  ["what is not encoded as it says", { "content-encoding": "gzip" }, Buffer.from("plain"), /is not gzip/],
  ["what inflates to more than it may be", { "content-encoding": "gzip" }, gzipSync("x".repeat(10_000_000)), /larger than 262144/],
  ["a number that no double holds", { "content-type": "application/json" }, Buffer.from('[{"n":1e400}]'), /number that is too large/],
])("fails on %s", async (_, headers, body, message) => {
  answer = (response) => void response.writeHead(200, headers).end(body);
  await expect(send({})).rejects.toMatchObject({ reason: "EXECUTION_FAILED", message: expect.stringMatching(message) as string });
});

it("accepts any status as a response, and follows no redirect", async () => {
  answer = (response) => response.writeHead(302, { location: "/elsewhere" }).end();
  expect((await send({})).status).toBe(302);
  expect(seenCalls).toHaveLength(1);
});

it("sends JSON or text, the author's headers, and an idempotency key", async () => {
  await send({ method: "POST", body: { x: 1 }, headers: { "X-One": "1", Host: "evil", "Content-Length": "3" } });
  await send({ method: "PUT", body: "plain", headers: { "content-type": "text/markdown", "idempotency-key": "mine" } });
  const [json, text] = seenCalls;
  expect(json).toMatchObject({
    body: '{"x":1}',
    headers: { "content-type": "application/json", "x-one": "1", "idempotency-key": "run:node:0" },
  });
  expect(json!.headers.host).toBe(new URL(baseUrl).host);
  expect(text).toMatchObject({ body: "plain", headers: { "content-type": "text/markdown", "idempotency-key": "mine" } });
});

it("uses an idempotency key that a header can contain, whatever the node's name is", async () => {
  await send({ method: "POST" }, "run:图片:0");
  await send({ method: "POST" }, "run:图片:0");
  await send({ method: "POST" }, "run:画像:0");
  const keys = seenCalls.map(({ headers }) => headers["idempotency-key"]);
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
])("rejects %s", async (_, part, message) => {
  await expect(send(part)).rejects.toMatchObject({ reason: "EXECUTION_FAILED", message: expect.stringMatching(message) as string });
  expect(seenCalls).toHaveLength(0);
});

it("rejects a response that is too large", async () => {
  answer = (response) => response.end(`${seenCalls[0]!.path.slice(2)}${"€".repeat(100_000)}`);
  for (const before of ["", "a", "aa"]) {
    seenCalls = [];
    await expect(send({ url: `${baseUrl}/?${before}` })).rejects.toThrow(/larger than 262144/);
  }
});

it("retries after a broken connection, but never repeats a call that may have had an effect", async () => {
  answer = (response) => (seenCalls.length === 1 ? response.destroy() : response.end("second"));
  expect((await send({})).body).toBe("second");
  seenCalls = [];
  answer = (response) => response.destroy();
  await expect(send({ method: "POST" })).rejects.toThrow("the connection was closed before an answer came");
  expect(seenCalls).toHaveLength(1);
});

it.each(["GET", "POST"])("reports an incomplete response to a %s differently from a server that can't be reached", async (method) => {
  answer = (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"a":1', () => response.destroy());
  };
  await expect(send({ method })).rejects.toThrow("the answer broke off after 6 of 1000 bytes");
});

it("stops when it is cancelled", async () => {
  const cancel = new AbortController();
  answer = () => cancel.abort();
  await expect(send({}, "k", cancel.signal)).rejects.toThrow(/abort/i);
});
