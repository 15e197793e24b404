import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMeasure, type Measure } from "../src/measure/measure";

const fixture = (name: string): string => join(__dirname, "fixtures", name);
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
])("knows the size of %s", async (name, contentType) => {
  expect(await measuring.measure(fixture(name), contentType)).toEqual({ width: 48, height: 32 });
});

it("gives the size of a picture as it is shown, not as its camera was held", async () => {
  expect(await measuring.measure(fixture("turned.jpg"), "image/jpeg")).toEqual({ width: 32, height: 48 });
});

it.each([
  ["a.mp4", "video/mp4", 500],
  ["fragments.mp4", "video/mp4", 500],
  ["a.mov", "video/quicktime", 500],
  ["a.webm", "video/webm", 500],
])("knows the size and duration of %s", async (name, contentType, durationMs) => {
  const { durationMs: found, ...size } = await measuring.measure(fixture(name), contentType);
  expect(size).toEqual({ width: 48, height: 32 });
  expect(Math.abs(found! - durationMs)).toBeLessThanOrEqual(100);
});

it.each([
  ["a.mp3", "audio/mpeg", 504],
  ["a.flac", "audio/flac", 300],
  ["a.ogg", "audio/ogg", 300],
  ["a.opus", "audio/ogg", 300],
  ["a.m4a", "audio/mp4", 300],
  ["a.wav", "audio/wav", 50],
])("knows the duration of %s", async (name, contentType, durationMs) => {
  const { durationMs: found, ...size } = await measuring.measure(fixture(name), contentType);
  expect(size).toEqual({});
  expect(Math.abs(found! - durationMs)).toBeLessThanOrEqual(150);
});

it("leaves out what a broken header says", async () => {
  const png = await readFile(fixture("a.png"));
  const endless = Buffer.from(png);
  endless.writeUInt32BE(0xffff_ffff, 16);
  expect(await measuring.measure(await file("endless.png", endless), "image/png")).toEqual({});
  expect(await measuring.measure(await file("cut.png", png.subarray(0, 12)), "image/png")).toEqual({});
  const mp4 = await readFile(fixture("a.mp4"));
  expect(await measuring.measure(await file("cut.mp4", mp4.subarray(0, 40)), "video/mp4")).toEqual({});
});

it("gives a file up that takes too long, and measures the next", async () => {
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
