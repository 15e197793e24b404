import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import type { media } from "@nodeloom/proto";
import { PNG, startMedia, type RunningMedia } from "./harness";
import { signed } from "../../../test-support/signed";

let service: RunningMedia;
let object: media.StoredObject;
let url: string;

beforeAll(async () => {
  service = await startMedia();
  object = await service.upload(PNG);
  url = `${service.http}/media/${signed(object.key)}`;
});
afterAll(() => service.stop());

const get = (headers: Record<string, string> = {}, method = "GET"): Promise<Response> => fetch(url, { method, headers });
const body = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());
const etag = `"${createHash("sha256").update(PNG).digest("hex")}"`;

describe("GET /media/:key", () => {
  it("serves the bytes with headers that prevent a browser from running them", async () => {
    const response = await get();
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/png",
      "content-length": String(PNG.length),
      "content-disposition": "inline",
      "cache-control": expect.stringMatching(/^private, max-age=3[56]\d\d, immutable$/) as unknown,
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
      "accept-ranges": "bytes",
      etag,
    });
    expect(response.headers.has("x-powered-by")).toBe(false);
    expect(await body(response)).toEqual(PNG);
  });

  it.each([
    ["bytes=0-9", 0, 9],
    ["bytes=10-", 10, PNG.length - 1],
    ["bytes=-5", PNG.length - 5, PNG.length - 1],
    ["bytes=-9999", 0, PNG.length - 1],
    ["bytes=70-9999", 70, PNG.length - 1],
  ])("serves the range %s", async (range, start, end) => {
    const response = await get({ Range: range });
    expect(response.status).toBe(206);
    expect(response.headers.get("content-range")).toBe(`bytes ${start}-${end}/${PNG.length}`);
    expect(await body(response)).toEqual(PNG.subarray(start, end + 1));
  });

  it.each(["bytes=0-1,4-5", "bytes=5-2", "bytes=abc", "items=0-1"])("serves the whole file for %s", async (range) => {
    const response = await get({ Range: range });
    expect(response.status).toBe(200);
    expect(await body(response)).toEqual(PNG);
  });

  it("returns 416 with the size for a range outside the file", async () => {
    const response = await get({ Range: "bytes=5000-" });
    expect(response.status).toBe(416);
    expect(response.headers.get("content-range")).toBe(`bytes */${PNG.length}`);
    expect(await response.json()).toMatchObject({ code: "INVALID_REQUEST" });
  });

  it("honours If-Range", async () => {
    expect((await get({ Range: "bytes=0-9", "If-Range": etag })).status).toBe(206);
    expect((await get({ Range: "bytes=0-9", "If-Range": '"other"' })).status).toBe(200);
  });

  it("returns 304 if the reader has the file", async () => {
    const response = await get({ "If-None-Match": etag });
    expect(response.status).toBe(304);
    expect(response.headers.get("etag")).toBe(etag);
    expect((await get({ "If-None-Match": `"other", W/${etag}` })).status).toBe(304);
    expect((await get({ "If-None-Match": '"other"' })).status).toBe(200);
  });

  it("responds to HEAD without the bytes", async () => {
    const response = await get({}, "HEAD");
    expect([response.status, response.headers.get("content-length"), (await body(response)).length]).toEqual([200, String(PNG.length), 0]);
  });

  it.each(["nothing.png", "..%2f..%2fetc%2fpasswd", "%", "a".repeat(500)])("returns 404 with a code for %.20s", async (key) => {
    const response = await fetch(`${service.http}/media/${signed(key)}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ error: "media not found", code: "NOT_FOUND", doc: "/docs/reference/errors/NOT_FOUND" });
  });

  it("rejects other methods", async () => {
    const response = await get({}, "DELETE");
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  it.each([
    ["XHTML", '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>'],
    ["SVG with a prefix", '<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:script>alert(1)</s:script></s:svg>'],
    ["SVG behind other text", '\0<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    ["HTML", "<html><script>alert(1)</script></html>"],
    ["text that begins like MPEG", "GET / HTTP/1.1"],
    ["JSON", '{"a":1}'],
    ["Matroska", "\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x23\x42\x82\x88matroska"],
  ])("never serves %s with a type that a browser would run or show", async (_what, text) => {
    const hostile = await service.upload(Buffer.from(text, "latin1"));
    const response = await fetch(`${service.http}/media/${signed(hostile.key)}`);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": "attachment",
    });
  });

  it.each([
    ["image/jpeg", "\xff\xd8\xff\xe0\0\x10JFIF"],
    ["image/gif", "GIF89a\x01\0\x01\0"],
    ["image/webp", "RIFF\x24\0\0\0WEBPVP8 "],
    ["video/mp4", "\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41"],
    ["video/webm", "\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x1f\x42\x82\x84webm"],
    ["audio/mp4", "\0\0\0\x20ftypM4A \0\0\x02\0isomiso2"],
    ["image/avif", "\0\0\0\x20ftypavif\0\0\0\0avifmif1"],
    ["audio/mpeg", "ID3\x04\0\0\0\0\0\0"],
    ["audio/flac", "fLaC\0\0\0\x22"],
    ["audio/ogg", `OggS${"\0".repeat(24)}OpusHead\x01`],
    ["audio/ogg", `OggS${"\0".repeat(24)}\x01vorbis`],
    ["audio/wav", "RF64\xff\xff\xff\xffWAVEds64"],
    ["image/heif", "\0\0\0\x18ftypheic\0\0\0\0mif1heic"],
  ])("recognises %s", async (contentType, head) => {
    const stored = await service.upload(Buffer.concat([Buffer.from(head, "latin1"), Buffer.alloc(32)]));
    expect(stored.contentType).toBe(contentType);
  });

  it.each([
    ["a.tiff", "image/tiff", "tif"],
    ["a.bmp", "image/bmp", "bmp"],
    ["turned.heic", "image/heif", "heif"],
    ["a.mkv", "video/x-matroska", "mkv"],
    ["a.avi", "video/x-msvideo", "avi"],
    ["stream.m2t", "video/mp2t", "ts"],
    ["a.aiff", "audio/aiff", "aiff"],
    ["a.amr", "audio/amr", "amr"],
    ["sound.webm", "audio/webm", "webm"],
    ["sound.mp4", "audio/mp4", "m4a"],
    ["sound.mkv", "audio/x-matroska", "mka"],
  ])("detects the type of %s from its content", async (name, contentType, extension) => {
    const stored = await service.upload(readFileSync(join(__dirname, "kinds", name)));
    expect([stored.contentType, stored.key.split(".")[1]]).toEqual([contentType, extension]);
  });

  it("rejects a sound if a video is required, whatever its container is", async () => {
    const sound = readFileSync(join(__dirname, "kinds", "sound.mp4"));
    await expect(service.upload(sound, { accept: ["video"], id: "sound-only" })).rejects.toThrow("the file is audio/mp4, not video");
    expect((await service.upload(sound, { accept: ["audio"], id: "sound-wanted" })).contentType).toBe("audio/mp4");
  });

  it("survives readers that disconnect in the middle", async () => {
    const large = await service.upload(Buffer.concat([PNG, Buffer.alloc(20 * 1024 * 1024)]));
    await new Promise<void>((resolve) => {
      const reading = request(`${service.http}/media/${signed(large.key)}`, (response) =>
        response.once("data", () => response.destroy()).once("close", resolve),
      );
      reading.end();
    });
    expect((await get()).status).toBe(200);
  });
});

describe("a stop", () => {
  const large = Buffer.concat([PNG, Buffer.alloc(20 * 1024 * 1024)]);
  /** Starts reading a large file, then pauses. */
  const beginReading = async (from: RunningMedia): Promise<IncomingMessage> => {
    const { key } = await from.upload(large);
    return new Promise((resolve, reject) => {
      const reading = request(`${from.http}/media/${signed(key)}`, { agent: false }, (response) => resolve(response.pause()));
      reading.once("error", reject).end();
    });
  };

  it("lets a file in transit arrive completely", async () => {
    const stopped = await startMedia();
    const response = await beginReading(stopped);
    const stop = stopped.stop();
    let bytes = 0;
    for await (const chunk of response) bytes += (chunk as Buffer).length;
    expect(bytes).toBe(large.length);
    await stop;
  });
});

describe("probes", () => {
  it("report that the service is alive and ready", async () => {
    for (const path of ["/healthz", "/readyz"]) expect((await fetch(service.http + path)).status).toBe(200);
  });
});
