import { randomUUID } from "node:crypto";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { hostname } from "node:os";
import { join } from "node:path";
import { LIMITS } from "@nodeloom/kernel";
import type { media } from "@nodeloom/proto";
import { openFolderBlobs } from "../src/blobs/folder-blobs";
import { OWNER, PNG, WAV, startMedia, uploadMessages, type RunningMedia } from "./harness";
import { startRecorder, type RecordedRequest, type Recorder } from "../../../test-support/recorder";
import { signed } from "../../../test-support/signed";

const MIB = 1024 * 1024;
const hits = new Map<string, number>();
const routes: Record<string, (request: RecordedRequest, response: ServerResponse, hit: number) => void> = {
  "/image": (_request, response) => response.setHeader("Content-Type", "text/html").end(PNG),
  "/slow": (_request, response) => setTimeout(() => response.end(PNG), 100),
  "/once": (_request, response, hit) => (hit === 1 ? response.end(PNG) : response.writeHead(404).end()),
  "/gone": (_request, response) => response.writeHead(404).end("nothing"),
  "/away": (_request, response, hit) => (hit <= 3 ? response.writeHead(502).end() : response.end(PNG)),
  "/flaky": (_request, response, hit) => (hit === 1 ? response.writeHead(503).end() : response.end(PNG)),
  "/cut": (_request, response, hit) => {
    if (hit > 1) return response.end(PNG);
    response.writeHead(200, { "Content-Length": PNG.length });
    return response.write(PNG.subarray(0, 20), () => response.destroy());
  },
  "/hop1": (_request, response) => response.writeHead(302, { Location: "/image" }).end(),
  "/loop": (_request, response) => response.writeHead(302, { Location: "/loop" }).end(),
  "/inside": (_request, response) => response.writeHead(302, { Location: "http://169.254.169.254/latest/meta-data" }).end(),
  "/html": (_request, response) => response.setHeader("Content-Type", "image/png").end("<!doctype html><script>alert(1)</script>"),
  "/empty": (_request, response) => response.end(),
  "/huge": (_request, response) => {
    const block = Buffer.alloc(MIB);
    let sentBytes = 0;
    const more = (): void => {
      while (sentBytes++ <= LIMITS.mediaBytes / MIB) if (!response.write(block)) return void response.once("drain", more);
      response.end();
    };
    more();
  },
};

let origin: Recorder;
let service: RunningMedia & { prefix: string };

beforeAll(async () => {
  origin = await startRecorder((response, request) => {
    const path = new URL(request.path, "http://origin").pathname;
    hits.set(path, (hits.get(path) ?? 0) + 1);
    const route = routes[path];
    if (route) route(request, response, hits.get(path)!);
    else response.writeHead(404).end();
  });
  service = await startMedia([origin.address]);
});
afterAll(async () => {
  await service.stop();
  await origin.close();
});
beforeEach(() => hits.clear());

const leftovers = (): Promise<string[]> => readdir(join(service.folder, "tmp"));

describe("ingest", () => {
  it("stores a provider's file under its detected type, whatever the provider calls it", async () => {
    const object = await service.ingest(randomUUID(), `${origin.url}/image?token=secret`, ["image"]);
    expect(object).toMatchObject({ contentType: "image/png", bytes: PNG.length, ownerId: OWNER });
    expect(object.url).toBe(`http://public.test/media/${object.key}`);
    const response = await fetch(`${service.http}/media/${signed(object.key)}`);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(PNG);
  });

  it("fetches once per id, also for ten concurrent requests", async () => {
    const id = randomUUID();
    const all = await Promise.all(Array.from({ length: 10 }, () => service.ingest(id, `${origin.url}/slow`)));
    expect(new Set(all.map((object) => object.key)).size).toBe(1);
    await service.ingest(id, `${origin.url}/slow`);
    expect(hits.get("/slow")).toBe(1);
  });

  const storedFiles = async (): Promise<number> =>
    (await readdir(service.folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).length;

  it("returns one object if two replicas ingest different bytes under one id", async () => {
    const id = randomUUID();
    const before = await storedFiles();
    const replica = await startMedia([], { folder: service.folder, prefix: service.prefix });
    try {
      const urls = [PNG, WAV].map((bytes) => `data:;base64,${bytes.toString("base64")}`);
      const both = await Promise.all([service.ingest(id, urls[0]!), replica.ingest(id, urls[1]!)]);
      expect(both[0]!.key).toBe(both[1]!.key);
      const readBack = Buffer.from(await (await fetch(`${service.http}/media/${signed(both[0]!.key)}`)).arrayBuffer());
      expect([PNG, WAV]).toContainEqual(readBack);
      expect(readBack.length).toBe(both[0]!.bytes);
      expect(await storedFiles()).toBe(before + 1);
    } finally {
      await replica.close();
    }
  });

  it.each(["/image", "/once"])(
    "returns the object that another process has stored under an id, whether its source still exists or not (%s)",
    async (path) => {
      const id = randomUUID();
      const first = await service.ingest(id, origin.url + path);
      const before = await storedFiles();
      const replica = await startMedia([origin.address], { folder: service.folder, prefix: service.prefix });
      try {
        expect(await replica.ingest(id, origin.url + path)).toEqual(first);
        expect(hits.get(path)).toBe(2);
        expect(await storedFiles()).toBe(before);
      } finally {
        await replica.close();
      }
    },
  );

  it("gives a public key that can't be derived from the id", async () => {
    const [first, second] = [
      await service.ingest("run-1-node", `${origin.url}/image`),
      await service.ingest("run-2-node", `${origin.url}/image`),
    ];
    expect(first!.key).toMatch(/^[0-9a-f]{32}\.png$/);
    expect(second!.key).toMatch(/^[0-9a-f]{32}\.png$/);
    expect(second!.key).not.toBe(first!.key);
    expect((await fetch(`${service.http}/media/run-1-node.png`)).status).toBe(404);
  });

  it("rejects an id that belongs to another user", async () => {
    const id = randomUUID();
    await service.ingest(id, `${origin.url}/image`);
    await expect(service.ingest(id, `${origin.url}/image`, [], "intruder")).rejects.toMatchObject({ reason: "ALREADY_EXISTS" });
  });

  it.each(["", "a/b", "../up", "x".repeat(201), "ä", ".hidden", "a\nb"].filter(Boolean))("rejects the id %j", async (id) => {
    await expect(service.ingest(id, `${origin.url}/image`)).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
  });

  it("follows a provider's redirects, each checked again", async () => {
    expect((await service.ingest(randomUUID(), `${origin.url}/hop1`)).contentType).toBe("image/png");
    for (const path of ["/loop", "/inside"]) {
      await expect(service.ingest(randomUUID(), origin.url + path)).rejects.toMatchObject({ kind: "failed", reason: "EXECUTION_FAILED" });
    }
  });

  it("waits for an address that is unavailable for seconds", async () => {
    expect((await service.ingest(randomUUID(), `${origin.url}/away`)).bytes).toBe(PNG.length);
    expect(hits.get("/away")).toBe(4);
  });

  it("retries after a temporary failure", async () => {
    expect((await service.ingest(randomUUID(), `${origin.url}/flaky`)).bytes).toBe(PNG.length);
    expect((await service.ingest(randomUUID(), `${origin.url}/cut`)).bytes).toBe(PNG.length);
    expect(hits.get("/flaky")).toBe(2);
  });

  it.each([
    [
      "an answer that is no success",
      () => `${origin.url}/gone?signature=abc`,
      /127\.0\.0\.1:\d+\/gone: could not be fetched: it answered 404$/,
    ],
    ["loopback", () => "http://127.0.0.1:1/x?signature=abc", /refused to call 127.0.0.1:1: it is not a public address/],
    ["a metadata address", () => "http://169.254.169.254/latest", /refused to call 169.254.169.254: /],
    ["another protocol", () => "file:///etc/passwd", /only http and https/],
    ["text that is no URL", () => "nonsense", /refused/],
    ["an empty file", () => `${origin.url}/empty`, /the file is empty/],
    ["a malformed data URL", () => "data:image/png;base64", /not a valid data URL/],
    ["malformed base64", () => "data:image/png;base64,****", /not valid base64/],
  ])("fails clearly for %s, without the URL's query", async (_what, url, message) => {
    const failure = service.ingest(randomUUID(), url());
    await expect(failure).rejects.toMatchObject({
      kind: "failed",
      reason: "EXECUTION_FAILED",
      message: expect.stringMatching(message) as string,
    });
    await expect(failure).rejects.toMatchObject({ message: expect.not.stringContaining("signature") as string });
  });

  it("rejects a file that isn't of an accepted type", async () => {
    await expect(service.ingest(randomUUID(), `${origin.url}/html`, ["image"])).rejects.toMatchObject({
      reason: "EXECUTION_FAILED",
      message: expect.stringContaining("application/octet-stream, not image") as string,
    });
  });

  it("decodes data URLs, base64 and percent-encoded", async () => {
    const encoded = [...PNG].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
    for (const url of [`data:image/gif;base64,${PNG.toString("base64")}`, `data:,${encoded}`]) {
      expect(await service.ingest(randomUUID(), url)).toMatchObject({ contentType: "image/png", bytes: PNG.length });
    }
  });

  it("stops at the size limit and leaves nothing behind", async () => {
    await expect(service.ingest(randomUUID(), `${origin.url}/huge`)).rejects.toMatchObject({
      reason: "EXECUTION_FAILED",
      message: expect.stringContaining("larger than") as string,
    });
    expect(await leftovers()).toEqual([]);
  });
});

describe("upload", () => {
  it("chooses an unguessable id when none is given", async () => {
    const object = await service.upload(WAV);
    expect(object).toMatchObject({ contentType: "audio/wav", bytes: WAV.length });
    expect(object.id).toMatch(/^[0-9a-f]{32}$/);
    expect(object.key).toMatch(/^[0-9a-f]{32}\.wav$/);
    expect(object.key).not.toBe(`${object.id}.wav`);
  });

  it("is idempotent by id", async () => {
    const id = randomUUID();
    const all = await Promise.all([service.upload(PNG, { id }), service.upload(PNG, { id }), service.upload(PNG, { id })]);
    expect(new Set(all.map((object) => object.key)).size).toBe(1);
  });

  it("rejects files that are too large, empty, of another type or out of order", async () => {
    await expect(service.upload(Buffer.alloc(LIMITS.mediaBytes + 1))).rejects.toMatchObject({ reason: "PAYLOAD_TOO_LARGE" });
    await expect(service.upload(Buffer.alloc(0))).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
    await expect(service.upload(PNG, { accept: ["audio"] })).rejects.toMatchObject({ reason: "UNSUPPORTED_MEDIA_TYPE" });
    await expect(service.upload(PNG, { accept: ["text"] })).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
    const headless = [...uploadMessages(PNG)].slice(1);
    await expect(service.client.upload(headless)).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
    expect(await leftovers()).toEqual([]);
  });

  it("stores nothing if the sender stops early, even if only the end is missing", async () => {
    const cut = [...uploadMessages(PNG)].slice(0, -1);
    await expect(service.client.upload(cut)).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
    const broken = async function* (): AsyncIterable<media.UploadRequest> {
      yield* cut;
      await Promise.resolve();
      throw new Error("the client is gone");
    };
    const stored = async () => (await service.client.listObjects({ ownerId: OWNER, limit: 1, cursor: "" })).usedBytes;
    const before = await stored();
    await expect(service.client.upload(broken())).rejects.toThrow("the client is gone");
    expect(await stored()).toBe(before);
  });
});

describe("getObjects", () => {
  it("returns the owner's files of many ids, each once, and no other user's", async () => {
    const mine = [(await service.upload(PNG)).id, (await service.upload(WAV)).id];
    const theirs = (await service.upload(PNG, { ownerId: "intruder" })).id;
    const { objects } = await service.client.getObjects({ ids: [...mine, ...mine, theirs, "no-such-file"], ownerId: OWNER });
    expect(objects.map(({ id }) => id).sort()).toEqual([...mine].sort());
    expect(objects.map(({ contentType }) => contentType).sort()).toEqual(["audio/wav", "image/png"]);
    expect(await service.client.getObjects({ ids: [], ownerId: OWNER })).toEqual({ objects: [] });
  });

  it("rejects more ids than its limit", async () => {
    const ids = Array.from({ length: 501 }, (_, index) => `id-${index}`);
    await expect(service.client.getObjects({ ids, ownerId: OWNER })).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
  });
});

describe("a folder of blobs", () => {
  it("removes files that a killed process left, and none that is still being written", async () => {
    const folder = join(service.folder, "other");
    await mkdir(join(folder, "tmp"), { recursive: true });
    const dead = [hostname(), 2 ** 22 + 1, randomUUID()].join("~");
    const alive = [hostname(), process.ppid, randomUUID()].join("~");
    const elsewhere = ["another-host", 1, randomUUID()].join("~");
    for (const name of [dead, alive, elsewhere]) await writeFile(join(folder, "tmp", name), "half");
    await openFolderBlobs(folder);
    expect((await readdir(join(folder, "tmp"))).sort()).toEqual([alive, elsewhere].sort());
  });
});
