import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DomainError } from "@nodeloom/kernel";
import { createLogger, grpcService, startGrpcServer, unary, type RunningGrpcServer } from "@nodeloom/platform";
import { media, transform } from "@nodeloom/proto";
import ExifReader from "exifreader";
import { OWNER, WAV, startMedia, type RunningMedia } from "./harness";
import { signed } from "../../../test-support/signed";

const fixture = (name: string): Buffer => readFileSync(join(__dirname, "fixtures", name));
const SMALL = fixture("lossy.webp");

/** Fakes the transform service; each test sets the answer. */
let answer: (request: transform.RenderPreviewRequest) => Promise<transform.RenderPreviewResponse>;
let renderings: transform.RenderPreviewRequest[];
let server: RunningGrpcServer;
let running: RunningMedia;
let replica: RunningMedia;

beforeAll(async () => {
  const handlers = {
    renderPreview: unary((request: transform.RenderPreviewRequest) => {
      renderings.push(request);
      return answer(request);
    }),
  } as unknown as transform.TransformServiceServer;
  server = await startGrpcServer({
    listen: "127.0.0.1:0",
    services: [grpcService(transform.TransformServiceService, handlers)],
    logger: createLogger("test", "silent"),
  });
  const env = { TRANSFORM_ADDRESS: `127.0.0.1:${server.port}` };
  const first = await startMedia([], undefined, env);
  running = first;
  replica = await startMedia([], { folder: first.folder, prefix: first.prefix }, env);
});
afterAll(async () => {
  await replica.close();
  await running.stop();
  await server.stop();
});
beforeEach(() => {
  renderings = [];
  answer = () => Promise.resolve({ data: SMALL, contentType: "image/webp" });
});

const picture = (): Promise<media.StoredObject> => running.upload(Buffer.concat([fixture("a.png"), randomBytes(8)]));
const get = ({ key }: media.StoredObject, w: string, from = running, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${from.http}/media/${signed(key)}&w=${w}`, { headers });
const blobsOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));

it("creates a thumbnail once, in the next larger width, permanently", async () => {
  const object = await picture();
  for (const w of ["200", "384", "193"]) {
    const response = await get(object, w);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("image/webp");
    expect(response.headers.get("cache-control")).toContain("immutable");
    expect(Buffer.from(await response.arrayBuffer())).toEqual(SMALL);
  }
  expect(renderings).toEqual([{ key: object.key, width: 384 }]);
  const etag = (await get(object, "384")).headers.get("etag")!;
  expect((await get(object, "384", running, { "If-None-Match": etag })).status).toBe(304);
  expect((await fetch(`${running.http}/media/${signed(object.key)}`)).headers.get("etag")).not.toBe(etag);
});

it("renders once for concurrent requests", async () => {
  const object = await picture();
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  answer = async () => {
    await gate;
    return { data: SMALL, contentType: "image/webp" };
  };
  const first = get(object, "96");
  const others = Array.from({ length: 20 }, () => get(object, "90"));
  release();
  const statuses = await Promise.all([first, ...others].map(async (response) => (await response).status));
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(renderings).toHaveLength(1);
});

it("keeps one of two that replicas create at the same time", async () => {
  const object = await picture();
  let count = 0;
  let release = (): void => undefined;
  const both = new Promise<void>((resolve) => (release = resolve));
  answer = async () => {
    const number = (count += 1);
    if (number === 2) release();
    await both;
    return { data: fixture(number === 1 ? "lossy.webp" : "lossless.webp"), contentType: "image/webp" };
  };
  const before = blobsOf(running.folder).length;
  const [one, other] = await Promise.all([get(object, "768"), get(object, "768", replica)]);
  expect(await Promise.all([one.text(), other.text()].map(async (text) => (await text).length > 0))).toEqual([true, true]);
  const [again, elsewhere] = await Promise.all([get(object, "768"), get(object, "768", replica)]);
  expect(again.headers.get("etag")).toBe(elsewhere.headers.get("etag"));
  expect(blobsOf(running.folder).length).toBe(before + 1);
});

it("marks the thumbnail of a model's output", async () => {
  const sourceUrl = `data:image/png;base64,${fixture("a.png").toString("base64")}`;
  const making = media.Making.fromPartial({ maker: media.Maker.MAKER_MODEL });
  const request = media.IngestRequest.fromPartial({ id: "marked-thumbnail", ownerId: OWNER, sourceUrl, making });
  const { object } = await running.client.ingest(request);
  const bytes = Buffer.from(await (await get(object!, "96")).arrayBuffer());
  expect(ExifReader.load(bytes).DigitalSourceType?.value).toMatch(/trainedAlgorithmicMedia$/);
});

it("returns the same thumbnail of a sound for every width", async () => {
  answer = () => Promise.resolve({ data: Buffer.from('{"peaks":[0,1]}'), contentType: "application/json" });
  const object = await running.upload(WAV);
  for (const w of ["96", "2048"]) expect(await (await get(object, w)).json()).toEqual({ peaks: [0, 1] });
  expect(renderings).toHaveLength(1);
});

it.each(["", "0", "-1", "2049", "99999999999", "1e3", "12px", "96&w=96", "%00"])("rejects w=%s", async (w) => {
  const object = await picture();
  const response = await get(object, w);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: "INVALID_REQUEST" });
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(renderings).toHaveLength(0);
});

it("doesn't retry a file that has failed", async () => {
  answer = () => Promise.reject(new DomainError("failed", "EXECUTION_FAILED", "no picture"));
  const object = await picture();
  for (let time = 0; time < 3; time++) expect((await get(object, "96")).status).toBe(415);
  expect(renderings).toHaveLength(1);
});

it("has none for a file that is neither picture nor sound, without a request", async () => {
  const object = await running.upload(Buffer.from("just text"));
  expect((await get(object, "96")).status).toBe(415);
  expect(renderings).toHaveLength(0);
});

it("states the time to retry while thumbnails can't be created, and creates them then", async () => {
  answer = () => Promise.reject(new DomainError("unavailable", "SERVICE_UNAVAILABLE", "away"));
  const object = await picture();
  const response = await get(object, "96");
  expect(response.status).toBe(503);
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await fetch(`${running.http}/media/${signed(object.key)}`)).status).toBe(200);
  answer = () => Promise.resolve({ data: SMALL, contentType: "image/webp" });
  expect((await get(object, "96")).status).toBe(200);
});

it("removes thumbnails with their file, and doesn't count them", async () => {
  const before = blobsOf(running.folder).length;
  const used = (await running.client.listObjects({ ownerId: OWNER, limit: 1, cursor: "" })).usedBytes;
  const object = await picture();
  await Promise.all(["96", "192", "384"].map((w) => get(object, w)));
  const { usedBytes } = await running.client.listObjects({ ownerId: OWNER, limit: 1, cursor: "" });
  expect(usedBytes).toBe(used + object.bytes);
  expect(blobsOf(running.folder).length).toBe(before + 4);
  await running.client.deleteObject({ id: object.id, ownerId: OWNER });
  expect(blobsOf(running.folder).length).toBe(before);
  expect((await get(object, "96")).status).toBe(404);
});

it("keeps no thumbnail of a file that was deleted during its creation", async () => {
  const object = await picture();
  const before = blobsOf(running.folder).length;
  answer = async () => {
    await running.client.deleteObject({ id: object.id, ownerId: OWNER });
    return { data: SMALL, contentType: "image/webp" };
  };
  expect((await get(object, "96")).status).toBe(503);
  expect(blobsOf(running.folder).length).toBe(before - 1);
});
