import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMeasure, type Measure } from "../src/measure/measure";

const fixture = (name: string): string => join(__dirname, "fixtures", name);
const kind = (name: string): string => join(__dirname, "kinds", name);
let folder: string;
let measuring: Measure;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeloom-measure-"));
  measuring = createMeasure({ maxWaitMs: 60_000, maxTaskMs: 20_000 });
});
afterAll(async () => {
  await measuring.stop();
  await rm(folder, { recursive: true, force: true });
});

const file = async (name: string, bytes: Uint8Array): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
};

it.each([
  ["a.png", "image/png"],
  ["a.jpg", "image/jpeg"],
  ["lossy.webp", "image/webp"],
  ["lossless.webp", "image/webp"],
  ["a.gif", "image/gif"],
  ["a.avif", "image/avif"],
])("measures the size of %s", async (name, contentType) => {
  expect(await measuring.measure(fixture(name), contentType)).toEqual({ width: 48, height: 32 });
});

it("returns the displayed size of a picture, after its rotation", async () => {
  expect(await measuring.measure(fixture("turned.jpg"), "image/jpeg")).toEqual({ width: 32, height: 48 });
});

it.each([
  ["turned.png", "image/png", [32, 48]],
  ["turned.webp", "image/webp", [32, 48]],
  ["turned.tiff", "image/tiff", [32, 48]],
  // The file's first stored size is that of a tile.
  ["turned.heic", "image/heif", [48, 64]],
])("returns the displayed size of %s, wherever its file stores the rotation", async (name, contentType, [width, height]) => {
  expect(await measuring.measure(kind(name), contentType)).toEqual({ width, height });
});

it("returns the stored size of a picture with a damaged EXIF block", async () => {
  const png = await readFile(kind("turned.png"));
  png.fill(0xff, png.indexOf("eXIf") + 8, png.indexOf("eXIf") + 16);
  expect(await measuring.measure(await file("damaged.png", png), "image/png")).toEqual({ width: 48, height: 32 });
});

it.each([
  ["a WebM", "sound.webm", "video/webm"],
  ["an MP4", "sound.mp4", "video/mp4"],
  ["a Matroska", "sound.mkv", "video/x-matroska"],
])("recognizes %s file with audio only", async (_what, name, contentType) => {
  expect((await measuring.measure(kind(name), contentType)).isSound).toBe(true);
});

/** MPEG-1 layer III frames at 44.1 kHz, 26 ms each, with 32 or 320 kilobits per second. */
const mp3 = (kilobits: readonly (32 | 320)[], tag = ""): Buffer =>
  Buffer.concat(
    kilobits.map((rate, index) => {
      const frame = Buffer.alloc(Math.floor((144 * rate * 1_000) / 44_100));
      frame.set([0xff, 0xfb, rate === 32 ? 0x10 : 0xe0, 0xc4]);
      if (index === 0) frame.write(tag, 21, "latin1");
      return frame;
    }),
  );
const SLOW = Array.from({ length: 40 }, () => 32 as const);
const FAST = Array.from({ length: 40 }, () => 320 as const);

it.each([
  ["its rate changes", mp3([...SLOW, ...FAST])],
  [
    "a tag is in front of it",
    Buffer.concat([Buffer.from("ID3\x04\0\0\0\0\x01\x00", "latin1"), Buffer.alloc(128, 0xff), mp3([...FAST, ...SLOW])]),
  ],
  ["it is damaged in the middle", Buffer.concat([mp3(SLOW), Buffer.alloc(1_000, 1), mp3(FAST)])],
  ["something stands behind it", Buffer.concat([mp3([...FAST, ...SLOW]), Buffer.from("TAG"), Buffer.alloc(125)])],
])("counts the duration of an MP3 without a stored one, where %s", async (_where, bytes) => {
  const { durationMs } = await measuring.measure(await file("counted.mp3", bytes), "audio/mpeg");
  expect(Math.abs(durationMs! - (80 * 1_152) / 44.1)).toBeLessThan(2);
});

it.each([
  ["a.mp4", "video/mp4", 500],
  ["fragments.mp4", "video/mp4", 500],
  ["a.mov", "video/quicktime", 500],
  ["a.webm", "video/webm", 500],
])("measures the size and duration of %s", async (name, contentType, durationMs) => {
  const { durationMs: measuredMs, ...size } = await measuring.measure(fixture(name), contentType);
  expect(size).toEqual({ width: 48, height: 32 });
  expect(Math.abs(measuredMs! - durationMs)).toBeLessThanOrEqual(100);
});

it.each([
  ["a.avi", "video/x-msvideo", [48, 32], 300],
  ["wide.avi", "video/x-msvideo", [96, 32], 300],
  ["stream.m2t", "video/mp2t", [48, 32], 300],
  ["mpeg2.m2t", "video/mp2t", [57, 32], 300],
  ["wide.ogv", "video/ogg", [96, 32], 300],
  ["a.mkv", "video/x-matroska", [48, 32], 300],
])("measures the displayed size of %s, and its duration", async (name, contentType, [width, height], durationMs) => {
  const measured = await measuring.measure(kind(name), contentType);
  expect(measured).toMatchObject({ width, height });
  expect(measured.isSound ?? false).toBe(false);
  expect(Math.abs(measured.durationMs! - durationMs)).toBeLessThanOrEqual(40);
});

it.each([
  ["a.aiff", "audio/aiff", 100],
  ["a.amr", "audio/amr", 300],
])("measures the duration of %s", async (name, contentType, durationMs) => {
  expect(Math.abs((await measuring.measure(kind(name), contentType)).durationMs! - durationMs)).toBeLessThanOrEqual(40);
});

it("ends for every truncation of a file, and returns nothing that its bytes can't mean", async () => {
  for (const [name, contentType] of [
    ["a.avi", "video/x-msvideo"],
    ["mpeg2.m2t", "video/mp2t"],
    ["wide.ogv", "video/ogg"],
    ["a.aiff", "audio/aiff"],
    ["a.amr", "audio/amr"],
  ] as const) {
    const whole = await readFile(kind(name));
    for (let end = 0; end < whole.length; end += 1 + Math.floor(whole.length / 40)) {
      const { durationMs = 0, width = 1 } = await measuring.measure(await file("cut", whole.subarray(0, end)), contentType);
      expect([durationMs <= 400, width <= 100]).toEqual([true, true]);
    }
  }
});

it.each([
  ["a.mp3", "audio/mpeg", 504],
  ["a.flac", "audio/flac", 300],
  ["a.ogg", "audio/ogg", 300],
  ["a.opus", "audio/ogg", 300],
  ["a.m4a", "audio/mp4", 300],
  ["a.wav", "audio/wav", 50],
])("measures the duration of %s", async (name, contentType, durationMs) => {
  const { durationMs: measuredMs, ...size } = await measuring.measure(fixture(name), contentType);
  expect(size).toEqual({});
  expect(Math.abs(measuredMs! - durationMs)).toBeLessThanOrEqual(150);
});

it("omits values from a damaged header", async () => {
  const png = await readFile(fixture("a.png"));
  const endless = Buffer.from(png);
  endless.writeUInt32BE(0xffff_ffff, 16);
  expect(await measuring.measure(await file("endless.png", endless), "image/png")).toEqual({});
  expect(await measuring.measure(await file("cut.png", png.subarray(0, 12)), "image/png")).toEqual({});
  const mp4 = await readFile(fixture("a.mp4"));
  expect(await measuring.measure(await file("cut.mp4", mp4.subarray(0, 40)), "video/mp4")).toEqual({});
});

it("stops measuring a file that takes too long, and measures the next", async () => {
  const script = await file(
    "stuck.js",
    Buffer.from(`
      const { parentPort } = require("node:worker_threads");
      exports.measure = ({ path, id }) => { parentPort.postMessage(id); if (path === "stuck") for (;;); return { width: 1, height: 1 }; };
    `),
  );
  const short = createMeasure({ script, maxWaitMs: 60_000, maxTaskMs: 100 });
  try {
    expect(await short.measure("stuck", "image/png")).toEqual({});
    expect(await short.measure("fine", "image/png")).toEqual({ width: 1, height: 1 });
  } finally {
    await short.stop();
  }
});
