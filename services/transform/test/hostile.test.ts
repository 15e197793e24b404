import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { createServer, type AddressInfo, type Server } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import type { DomainError } from "@nodeloom/kernel";
import sharp from "sharp";
import { eventually } from "../../../test-support/eventually";
import { describeWithFfmpeg } from "../../../test-support/ffmpeg";
import { hostileFiles, type HostileFile } from "./support/hostile";
import { startTransform, type RunningTransform } from "./support/transform";

/** Malicious files. Each must fail its own call with a clear error and have no other effect. */

let service: RunningTransform;
let files: HostileFile[];
let canary: Server;
let calls = 0;
beforeAll(async () => {
  service = await startTransform();
  // Counts connections, because no program may follow these URLs.
  canary = createServer((socket) => {
    calls += 1;
    socket.destroy();
  }).listen(0, "127.0.0.1");
  await once(canary, "listening");
  files = await hostileFiles(`127.0.0.1:${(canary.address() as AddressInfo).port}`);
});
afterAll(async () => {
  canary.close();
  await service.stop();
});

const good = (): Promise<Buffer> =>
  sharp({ create: { width: 60, height: 40, channels: 3, background: "#123456" } })
    .png()
    .toBuffer();
/** Upper bound of a failed call; most take a tenth of a second. */
const MOST_MS = 20_000;

/** Files that still give a result despite their damage. */
const HARMLESS = /every seventh byte|without an end|half of a gif/;

/** Runs an operation on each file. @returns unexpected outcomes */
const attack = async (operation: string, settings: object, port: string): Promise<string[]> => {
  const wrong: string[] = [];
  for (const { name, bytes } of files) {
    const startedAt = Date.now();
    const failure = await service.run(operation, settings, { [port]: bytes }).then(
      () => undefined,
      (error: DomainError) => error,
    );
    const ms = Date.now() - startedAt;
    if (ms > MOST_MS) wrong.push(`${name} took ${ms} ms`);
    if (failure === undefined && !HARMLESS.test(name)) wrong.push(`${name} was taken`);
    if (failure === undefined) continue;
    const { kind, message } = failure;
    // Storage refuses vectors that it can't make safe.
    const isRefused = kind === "invalid" && message.startsWith("the vector image ");
    if (kind !== "failed" && !isRefused) wrong.push(`${name}: ${kind}: ${message}`);
    if (/root:|daemon:|\/tmp\/|0x[0-9a-f]{6}/.test(message)) wrong.push(`${name} reveals internals: ${message}`);
    if (message.length > 400) wrong.push(`${name}: a message of ${message.length} characters`);
  }
  return wrong;
};

it("has more than sixty of them", () => {
  expect(files.length).toBeGreaterThan(60);
  expect(new Set(files.map(({ name }) => name)).size).toBe(files.length);
});

it("fails malicious images one by one, and continues", async () => {
  const before = await readdir(tmpdir());
  expect(await attack("image-resize", { width: 20 }, "image")).toEqual([]);
  const { width } = await service.run("image-resize", { width: 20 }, { image: await good() });
  expect(width).toBe(20);
  expect(await service.leftovers()).toEqual([]);
  const added = (await readdir(tmpdir())).filter((name) => !before.includes(name) && /passwd|magick|vips/.test(name));
  expect(added).toEqual([]);
});

it("fails if one image of several is malicious", async () => {
  const image = await good();
  const failure = await service.failure("image-grid", {}, { images: [image, files.find(({ name }) => name.includes("50,000"))!.bytes] });
  expect(failure).toMatchObject({ kind: "failed", message: "image-grid: images.1: the image has more than 100000000 pixels" });
});

it("survives random damage", async () => {
  const base = await good();
  for (let round = 0; round < 25; round += 1) {
    const bytes = Buffer.from(base);
    for (const at of randomBytes(6)) bytes[8 + (at % (bytes.length - 8))] = at;
    await service
      .run("image-convert", { format: "webp" }, { image: bytes })
      .catch((error: { kind: string }) => expect(error.kind).toBe("failed"));
  }
  expect((await service.run("image-resize", { width: 20 }, { image: base })).width).toBe(20);
});

it("ends an operation whose caller aborts, and removes its files", async () => {
  const stop = new AbortController();
  const large = await sharp({
    create: { width: 2_500, height: 2_500, channels: 3, background: "#555555", noise: { type: "gaussian", mean: 128, sigma: 60 } },
  })
    .jpeg({ quality: 60 })
    .toBuffer();
  const key = await service.upload(large);
  const running = service.run("image-convert", { format: "avif" }, { image: key }, { signal: stop.signal });
  setTimeout(() => stop.abort(), 300);
  await expect(running).rejects.toThrow();
  await eventually(
    () => service.leftovers(),
    (remaining) => remaining.length === 0,
  );
});

describeWithFfmpeg("with ffmpeg", () => {
  it("fails malicious videos and sounds one by one, and continues", async () => {
    expect(await attack("video-trim", { seconds: 1 }, "video")).toEqual([]);
    expect(await attack("audio-convert", { format: "wav" }, "audio")).toEqual([]);
    expect(await service.leftovers()).toEqual([]);
    expect(calls).toBe(0);
  });
});
