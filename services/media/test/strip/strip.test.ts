import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type * as Mediabunny from "mediabunny" with { "resolution-mode": "import" };
import sharp from "sharp";
import { edited, type Bytes } from "../../src/marks/edits";
import { markingOf } from "../../src/marks/marks";
import { sniff } from "../../src/sniff";
import { strippingOf } from "../../src/strip/strip";

/** Files as nodes of ComfyUI 0.3.64 write them, named after their nodes, and created by ComfyUI's own code with Pillow and PyAV. */

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

/** True if the file contains the workflow's text, in either encoding of the formats. */
const containsSecret = (file: Buffer): boolean =>
  ["latin1", "utf16le"].some((encoding) => file.includes(Buffer.from("secret", encoding as "latin1")));

/** Displayed content, read by an independent library. */
const contentOf = async (name: string, file: Buffer): Promise<unknown> => {
  if (/\.(?:png|webp|jpg|tiff|avif)$/.test(name)) return (await sharp(file, { animated: true }).raw().toBuffer()).toString("base64");
  const packets: unknown[] = [];
  for (const track of await new Input({ source: new BufferSource(file), formats: ALL_FORMATS }).getTracks()) {
    for await (const packet of new EncodedPacketSink(track).packets())
      packets.push([packet.timestamp, Buffer.from(packet.data).toString("base64")]);
  }
  expect(packets).not.toEqual([]);
  return packets;
};

it.each(names)("removes the workflow from %s, and changes nothing visible or audible", async (name) => {
  const file = read(name);
  expect(containsSecret(file)).toBe(true);
  const stripped = await strip(file);
  expect(containsSecret(stripped)).toBe(false);
  expect(stripped.length).toBeLessThanOrEqual(file.length);
  expect(await contentOf(name, stripped)).toEqual(await contentOf(name, file));
  // The reader above only shows the first frame of an animated PNG.
  const frames = (one: Buffer): number => one.toString("latin1").split("fcTL").length;
  expect(frames(stripped)).toBe(frames(file));
});

it.each(names)("keeps %s unchanged when it is stripped again, and marks it like any other", async (name) => {
  const once = await strip(read(name));
  expect((await strip(once)).equals(once)).toBe(true);
  const { contentType } = sniff(once);
  // A TIFF file can't be marked.
  if (contentType === "image/tiff") return;
  const marked = await changed(once, (await markingOf(bytesOf(once), contentType, "trainedAlgorithmicMedia")).edits);
  expect(marked.includes("trainedAlgorithmicMedia")).toBe(true);
  const again = await strip(marked);
  if (/^(?:image|video)\/(?!webm)/.test(contentType)) expect(again.includes("trainedAlgorithmicMedia")).toBe(true);
});

it("removes comments and application data from an animation, and keeps its playback and provenance", async () => {
  const frames = Buffer.concat([Buffer.alloc(48, 200), Buffer.alloc(48, 20)]);
  const plain = await sharp(frames, { raw: { width: 4, height: 8, channels: 3, pageHeight: 4 } })
    .gif({ loop: 3, delay: [100, 200] })
    .toBuffer();
  const { edits } = await markingOf(bytesOf(plain), "image/gif", "trainedAlgorithmicMedia");
  const marked = await changed(plain, edits);
  const block = (kind: number, ...parts: string[]): Buffer =>
    Buffer.concat([
      Buffer.from([0x21, kind]),
      ...parts.map((part) => Buffer.from(`${String.fromCharCode(part.length)}${part}`)),
      Buffer.of(0),
    ]);
  const texts = Buffer.concat([block(0xfe, "a secret", "and more of the secret"), block(0xff, "ComfyUI 1.0", "secret")]);
  // Inserted before the trailer.
  const file = Buffer.concat([marked.subarray(0, -1), texts, marked.subarray(-1)]);
  expect(sniff(file).contentType).toBe("image/gif");
  expect(await strip(file)).toEqual(marked);
  const { pages, loop, delay } = await sharp(await strip(file), { animated: true }).metadata();
  expect({ pages, loop, delay }).toEqual({ pages: 2, loop: 3, delay: [100, 200] });
  expect(await strip(file.subarray(0, -1))).toEqual(file.subarray(0, -1));
});

it("removes texts from a WAV, before and after its samples, and keeps its size correct", async () => {
  // The writer adds its name in a list.
  const plain = await strip(readFileSync(join(__dirname, "..", "fixtures", "a.wav")));
  expect(plain.includes("LIST")).toBe(false);
  expect(plain.readUInt32LE(4)).toBe(plain.length - 8);
  const list = (name: string, text: string): Buffer => {
    const head = Buffer.from(`${name}....`, "latin1");
    head.writeUInt32LE(text.length, 4);
    return Buffer.concat([head, Buffer.from(text), Buffer.alloc(text.length % 2)]);
  };
  const file = Buffer.concat([plain.subarray(0, 12), list("LIST", "INFOICMTsecret"), plain.subarray(12), list("id3 ", "a secret!")]);
  file.writeUInt32LE(file.length - 8, 4);
  expect(await strip(file)).toEqual(plain);
});

it("doesn't change files without texts", async () => {
  const fixtures = join(__dirname, "..", "fixtures");
  for (const name of ["a.png", "lossless.webp", "lossy.webp"]) {
    const file = readFileSync(join(fixtures, name));
    expect((await strip(file)).equals(file)).toBe(true);
  }
});

it.each(names)("ends for every truncation and every damaged byte of %s", async (name) => {
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
