import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../../deploy/local/servers/ports.cjs";
import { peerOf, START_MS, startPeer } from "../../../../test-support/peer";
import { PNG, startMedia, type RunningMedia } from "../harness";
import { startRecorder } from "../../../../test-support/recorder";
import { signed } from "../../../../test-support/signed";

/** Stores files in a bucket of Versity's S3 gateway, which checks signatures and keeps objects as files. */

const BUCKET = "nodeloom";
const KEYS = { access: "nodeloom-test", secret: "a-secret-of-this-test" };
const MIB = 1024 * 1024;
/** More than one part of a multipart upload. */
const LARGE = Buffer.concat([PNG, randomBytes(12 * MIB)]);

let root: string;
let port: number;
let stopStore: () => Promise<void>;
let media: RunningMedia;

const startStore = (): Promise<() => Promise<void>> =>
  startPeer({
    command: peerOf("s3"),
    args: ["--port", `127.0.0.1:${port}`, "--quiet", "posix", root],
    env: { ROOT_ACCESS_KEY_ID: KEYS.access, ROOT_SECRET_ACCESS_KEY: KEYS.secret },
    cwd: root,
    isReady: async () => (await fetch(`http://127.0.0.1:${port}/`)).status > 0,
  });

const settings = (bucket = BUCKET): Record<string, string> => ({
  MEDIA_S3_BUCKET: bucket,
  MEDIA_S3_ENDPOINT: `http://127.0.0.1:${port}`,
  MEDIA_S3_PREFIX: "media/",
});

const inBucket = async (): Promise<string[]> => (await readdir(join(root, BUCKET, "media")).catch(() => [])).sort();
const underWay = async (): Promise<string[]> => readdir(join(media.folder, "tmp"));
/** The public URL, as the media service itself serves it. */
const addressOf = (url: string): string => `${media.http}/media/${signed(new URL(url).pathname.split("/").at(-1)!)}`;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "nodeloom-s3-"));
  await mkdir(join(root, BUCKET));
  port = await freePort();
  stopStore = await startStore();
  process.env.AWS_ACCESS_KEY_ID = KEYS.access;
  process.env.AWS_SECRET_ACCESS_KEY = KEYS.secret;
  media = await startMedia([], undefined, settings());
}, START_MS);
afterAll(async () => {
  await media?.stop();
  await stopStore?.();
  await rm(root, { recursive: true, force: true });
});

it.each([
  ["a small file", PNG],
  ["a file of several parts", LARGE],
])("stores %s in the bucket, under the prefix, and nothing of it on its own disk", async (_name, bytes) => {
  const before = await inBucket();
  await media.upload(bytes);
  const [added, ...more] = (await inBucket()).filter((name) => !before.includes(name));
  expect(more).toEqual([]);
  expect((await readFile(join(root, BUCKET, "media", added!))).equals(bytes)).toBe(true);
  expect(await underWay()).toEqual([]);
  expect(await readdir(media.folder)).toEqual(["tmp"]);
});

it("serves files, ranges of them, and 304 for unchanged ones", async () => {
  const { url } = await media.upload(LARGE);
  const whole = await fetch(addressOf(url));
  expect(whole.status).toBe(200);
  expect(whole.headers.get("content-type")).toBe("image/png");
  expect(Buffer.from(await whole.arrayBuffer()).equals(LARGE)).toBe(true);
  const part = await fetch(addressOf(url), { headers: { range: "bytes=6000000-6000999" } });
  expect([part.status, part.headers.get("content-range")]).toEqual([206, `bytes 6000000-6000999/${LARGE.length}`]);
  expect(Buffer.from(await part.arrayBuffer()).equals(LARGE.subarray(6_000_000, 6_001_000))).toBe(true);
  const last = await fetch(addressOf(url), { headers: { range: "bytes=-10" } });
  expect(Buffer.from(await last.arrayBuffer()).equals(LARGE.subarray(-10))).toBe(true);
  const again = await fetch(addressOf(url), { headers: { "if-none-match": whole.headers.get("etag")! } });
  expect(again.status).toBe(304);
  expect((await fetch(addressOf(url), { method: "HEAD" })).headers.get("content-length")).toBe(String(LARGE.length));
});

it("keeps one object per id, however often its bytes are sent", async () => {
  const before = await inBucket();
  const id = `run-${randomBytes(4).toString("hex")}`;
  const stored = await Promise.all([1, 2, 3].map(() => media.upload(PNG, { id })));
  expect(new Set(stored.map(({ url }) => url)).size).toBe(1);
  expect(await inBucket()).toHaveLength(before.length + 1);
  expect((await fetch(addressOf(stored[0]!.url))).status).toBe(200);
});

it("stores nothing in the bucket for a rejected file", async () => {
  const before = await inBucket();
  await expect(media.upload(Buffer.alloc(0))).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
  await expect(media.upload(PNG, { accept: ["audio"] })).rejects.toMatchObject({ reason: "UNSUPPORTED_MEDIA_TYPE" });
  expect(await inBucket()).toEqual(before);
  expect(await underWay()).toEqual([]);
});

it("removes a deleted file from the bucket", async () => {
  const before = await inBucket();
  const { id, ownerId } = await media.upload(PNG);
  expect(await inBucket()).toHaveLength(before.length + 1);
  await media.client.deleteObject({ id, ownerId });
  expect(await inBucket()).toEqual(before);
});

it("stops reading from the store when its reader disconnects, and serves the next one", async () => {
  const { url } = await media.upload(LARGE);
  for (let reader = 0; reader < 5; reader += 1) {
    const abort = new AbortController();
    const response = await fetch(addressOf(url), { signal: abort.signal });
    const bytes = response.body!.getReader();
    await bytes.read();
    abort.abort();
    await bytes.cancel().catch(() => undefined);
  }
  expect(Buffer.from(await (await fetch(addressOf(url))).arrayBuffer()).equals(LARGE)).toBe(true);
});

it("isn't delayed by many slow readers", async () => {
  const { url } = await media.upload(LARGE);
  const abort = new AbortController();
  const readers = await Promise.all(Array.from({ length: 60 }, () => fetch(addressOf(url), { signal: abort.signal })));
  expect(readers.every(({ status }) => status === 200)).toBe(true);
  expect((await media.upload(PNG)).bytes).toBe(PNG.length);
  abort.abort();
});

it(
  "reports that storage is unavailable while the store is, and continues afterwards",
  async () => {
    const { url } = await media.upload(PNG);
    const origin = await startRecorder((response) => response.end(PNG));
    const ingesting = await startMedia([origin.address], undefined, settings());
    try {
      await stopStore();
      const away = await fetch(addressOf(url));
      expect([away.status, away.headers.get("retry-after"), await away.json()]).toEqual([
        503,
        expect.any(String),
        expect.objectContaining({ code: "SERVICE_UNAVAILABLE", error: "media storage is not available" }),
      ]);
      expect((await fetch(`${media.http}/readyz`)).status).toBe(503);
      await expect(media.upload(PNG)).rejects.toMatchObject({ kind: "unavailable", message: "media storage is not available" });
      await expect(ingesting.ingest("a-result", `${origin.url}/image`)).rejects.toMatchObject({ kind: "unavailable" });
      expect(await underWay()).toEqual([]);
      stopStore = await startStore();
      expect((await fetch(`${media.http}/readyz`)).status).toBe(200);
      expect((await fetch(addressOf(url))).status).toBe(200);
      expect((await ingesting.ingest("a-result", `${origin.url}/image`)).bytes).toBe(PNG.length);
    } finally {
      await ingesting.stop();
      await origin.close();
    }
  },
  START_MS,
);

it("doesn't start if the store rejects its bucket, and reports the reason", async () => {
  await expect(startMedia([], undefined, settings("no-such-bucket"))).rejects.toThrow(
    'MEDIA_S3_BUCKET: the store rejects the bucket "no-such-bucket" (status 404): check the credentials and its policy',
  );
});

it(
  "starts while the store is unavailable, and becomes ready afterwards",
  async () => {
    await stopStore();
    const early = await startMedia([], undefined, settings());
    try {
      expect((await fetch(`${early.http}/readyz`)).status).toBe(503);
      stopStore = await startStore();
      expect((await fetch(`${early.http}/readyz`)).status).toBe(200);
    } finally {
      await early.stop();
    }
  },
  START_MS,
);
