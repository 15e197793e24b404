import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type * as Mediabunny from "mediabunny" with { "resolution-mode": "import" };
import sharp from "sharp";
import { edited, type Bytes } from "../../src/marks/edits";
import { markingOf } from "../../src/marks/marks";
import { sniff } from "../../src/sniff";
import { strippingOf } from "../../src/strip/strip";

/** Files as nodes of ComfyUI 0.3.64 write them, named by their nodes: made by its own lines with Pillow and PyAV. */

const { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } = require("mediabunny") as typeof Mediabunny;

const FILES = join(__dirname, "files");
const names = readdirSync(FILES);
const read = (name: string): Buffer => readFileSync(join(FILES, name));
const bytesOf = (file: Buffer): Bytes => ({ size: file.length, read: (at, length) => Promise.resolve(file.subarray(at, at + length)) });

const changed = async (file: Buffer, edits: Parameters<typeof edited>[1]): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  for await (const part of edited(bytesOf(file), edits)) parts.push(part);
  return Buffer.concat(parts);
};
const strip = async (file: Buffer): Promise<Buffer> => changed(file, await strippingOf(bytesOf(file), sniff(file).contentType));

/** A text of the workflow, in either of the encodings that formats have. */
const tells = (file: Buffer): boolean =>
  ["latin1", "utf16le"].some((encoding) => file.includes(Buffer.from("secret", encoding as "latin1")));

/** What is shown or heard, as a reader of its own finds it. */
const contentOf = async (name: string, file: Buffer): Promise<unknown> => {
  if (/\.(?:png|webp|jpg)$/.test(name)) return (await sharp(file, { animated: true }).raw().toBuffer()).toString("base64");
  const found: unknown[] = [];
  for (const track of await new Input({ source: new BufferSource(file), formats: ALL_FORMATS }).getTracks()) {
    for await (const packet of new EncodedPacketSink(track).packets())
      found.push([packet.timestamp, Buffer.from(packet.data).toString("base64")]);
  }
  expect(found).not.toEqual([]);
  return found;
};

it.each(names)("takes the workflow out of %s, and changes nothing that is seen or heard", async (name) => {
  const file = read(name);
  expect(tells(file)).toBe(true);
  const stripped = await strip(file);
  expect(tells(stripped)).toBe(false);
  expect(stripped.length).toBeLessThanOrEqual(file.length);
  expect(await contentOf(name, stripped)).toEqual(await contentOf(name, file));
  // Frames of an animated PNG, which the reader above does not show.
  const frames = (one: Buffer): number => one.toString("latin1").split("fcTL").length;
  expect(frames(stripped)).toBe(frames(file));
});

it.each(names)("leaves %s as it is when it is stripped again, and has it marked as any other", async (name) => {
  const once = await strip(read(name));
  expect((await strip(once)).equals(once)).toBe(true);
  const { contentType } = sniff(once);
  const marked = await changed(once, (await markingOf(bytesOf(once), contentType, "trainedAlgorithmicMedia")).edits);
  expect(marked.includes("trainedAlgorithmicMedia")).toBe(true);
  const again = await strip(marked);
  if (/^(?:image|video)\/(?!webm)/.test(contentType)) expect(again.includes("trainedAlgorithmicMedia")).toBe(true);
});

it("leaves files alone that carry no texts", async () => {
  const fixtures = join(__dirname, "..", "fixtures");
  for (const name of ["a.png", "lossless.webp", "lossy.webp", "a.wav"]) {
    const file = readFileSync(join(fixtures, name));
    expect((await strip(file)).equals(file)).toBe(true);
  }
});

it.each(names)("ends for every cut and every broken byte of %s", async (name) => {
  const file = read(name);
  const { contentType } = sniff(file);
  for (let at = 0; at < Math.min(file.length, 600); at++) {
    const broken = Buffer.from(file);
    broken[at] = broken[at]! ^ 0xff;
    for (const one of [broken, file.subarray(0, at)]) {
      const edits = await strippingOf(bytesOf(one), contentType);
      for (const { at: from, remove } of edits) expect(from + remove).toBeLessThanOrEqual(one.length);
    }
  }
});
