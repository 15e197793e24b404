import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ExifReader from "exifreader";
import type * as Mediabunny from "mediabunny" with { "resolution-mode": "import" };
import { edited, type Bytes } from "../../src/marks/edits";
import { markingOf } from "../../src/marks/marks";
import { addressOf, type SourceType } from "../../src/marks/xmp";
import { sniff } from "../../src/sniff";

const { ALL_FORMATS, BufferSource, Input } = require("mediabunny") as typeof Mediabunny;

const FIXTURES = join(__dirname, "..", "fixtures");
const TRAINED: SourceType = "trainedAlgorithmicMedia";
const PACKET = /<rdf:RDF[\s\S]*<\/rdf:RDF>/g;

const read = (name: string): Buffer => readFileSync(join(FIXTURES, name));
const bytesOf = (file: Buffer): Bytes => ({ size: file.length, read: (at, length) => Promise.resolve(file.subarray(at, at + length)) });

const mark = async (file: Buffer, type = TRAINED): Promise<{ outcome: string; file: Buffer }> => {
  const { edits, outcome } = await markingOf(bytesOf(file), sniff(file).contentType, type);
  const parts: Uint8Array[] = [];
  for await (const part of edited(bytesOf(file), edits)) parts.push(part);
  return { outcome, file: Buffer.concat(parts) };
};

const packetsOf = (file: Buffer): string[] => file.toString("latin1").match(PACKET) ?? [];

/** Displayed content without metadata, read by an independent library. */
const packetHashes = async (file: Buffer): Promise<unknown[]> => {
  const input = new Input({ source: new BufferSource(file), formats: ALL_FORMATS });
  const { EncodedPacketSink } = require("mediabunny") as typeof Mediabunny;
  const packets: unknown[] = [];
  for (const track of await input.getTracks()) {
    const sink = new EncodedPacketSink(track);
    for await (const packet of sink.packets()) packets.push([packet.timestamp, Buffer.from(packet.data).toString("base64")]);
  }
  return packets;
};

describe.each(["a.png", "a.jpg", "lossy.webp", "lossless.webp", "titled.png", "titled.jpg", "titled.webp", "camera.jpg"])("%s", (name) => {
  it("marks a file as generated for picture readers, once", async () => {
    const { outcome, file } = await mark(read(name));
    expect(outcome).toBe("marked");
    const tags = ExifReader.load(file);
    expect(tags.DigitalSourceType?.value).toBe(addressOf(TRAINED));
    expect(packetsOf(file)).toHaveLength(1);
  });
});

it.each(["titled.png", "titled.jpg", "titled.webp", "titled.gif", "titled.mp4"])("keeps the metadata of %s", async (name) => {
  const { file } = await mark(read(name));
  // Moving the packet leaves free space that readers skip.
  const packet = packetsOf(file).at(-1)!;
  expect(packet).toContain("Existing");
  expect(packet).toContain(addressOf(TRAINED));
});

it.each(["a.mp4", "fragments.mp4", "a.mov", "a.m4a", "a.mp3", "tagged.mp3", "a.flac", "a.ogg", "a.opus", "a.wav", "titled.mp4", "a.webm"])(
  "keeps every sample of %s unchanged",
  async (name) => {
    const { outcome, file } = await mark(read(name));
    expect(outcome).toBe("marked");
    const before = await packetHashes(read(name));
    expect(before.length).toBeGreaterThan(0);
    expect(await packetHashes(file)).toEqual(before);
  },
);

it.each(["a.flac", "a.ogg", "a.opus"])("names the source of %s among its comments", async (name) => {
  const { file } = await mark(read(name));
  const { raw } = await new Input({ source: new BufferSource(file), formats: ALL_FORMATS }).getMetadataTags();
  expect(raw?.DIGITALSOURCETYPE).toBe(addressOf(TRAINED));
});

it("names the source of a WebM file in a tag that its seek head refers to", async () => {
  const { file } = await mark(read("a.webm"));
  const segmentData = file.indexOf(Buffer.from("18538067", "hex")) + 4 + 8;
  const entry = Buffer.from("53ab841254c36753ac88", "hex");
  const position = Number(file.readBigUInt64BE(file.indexOf(entry) + entry.length));
  const tags = file.subarray(segmentData + position);
  expect(tags.toString("hex", 0, 4)).toBe("1254c367");
  expect(tags.toString("latin1")).toContain(addressOf(TRAINED));
  // The segment ends with the file.
  expect(Number(file.readBigUInt64BE(segmentData - 8) & 0xff_ffff_ffff_ffffn)).toBe(file.length - segmentData);
});

it("keeps the tags of an MP3 beside its mark", async () => {
  const { file } = await mark(read("tagged.mp3"));
  const tags = await new Input({ source: new BufferSource(file), formats: ALL_FORMATS }).getMetadataTags();
  expect(tags.title).toBe("hello");
  expect(Buffer.from(tags.raw?.PRIV as Uint8Array).toString()).toContain(addressOf(TRAINED));
});

it.each(readdirSync(FIXTURES))("marks %s a second time without a change", async (name) => {
  const { file } = await mark(read(name));
  const again = await mark(file);
  expect(again.outcome).toBe("kept");
  expect(again.file.equals(file)).toBe(true);
});

it.each([
  ["0xffffffff", 0xffff_ffff],
  ["0", 0],
])("marks a WAV written with unknown sizes (%s), and writes its real sizes", async (_name, placeholder) => {
  const open = Buffer.from(read("a.wav"));
  const samples = open.indexOf("data");
  // Samples are in the last chunk, so the rest is cut off.
  const cut = open.subarray(0, samples + 8 + open.readUInt32LE(samples + 4));
  const length = cut.length - samples - 8;
  cut.writeUInt32LE(placeholder, 4);
  cut.writeUInt32LE(placeholder, samples + 4);
  const { outcome, file } = await mark(cut);
  expect([outcome, file.readUInt32LE(4), file.readUInt32LE(samples + 4)]).toEqual(["marked", file.length - 8, length]);
  expect(packetsOf(file)).toHaveLength(1);
  expect(file.subarray(samples + 8, samples + 8 + length).equals(cut.subarray(samples + 8))).toBe(true);
});

it("returns the same bytes for the same file, so that a repeated attempt stores the same", async () => {
  const [one, other] = await Promise.all([mark(read("a.png")), mark(read("a.png"))]);
  expect(one.file.equals(other.file)).toBe(true);
});

it("doesn't change a file whose signed credentials state that it is generated", async () => {
  const manifest = Buffer.from(`jumb c2pa ${addressOf(TRAINED)}`);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(manifest.length);
  const chunk = Buffer.concat([length, Buffer.from("caBX"), manifest, Buffer.alloc(4)]);
  const png = read("a.png");
  const file = Buffer.concat([png.subarray(0, 33), chunk, png.subarray(33)]);
  expect(await mark(file)).toEqual({ outcome: "kept", file });
});

it("keeps credentials that don't state this", async () => {
  const manifest = Buffer.from("jumb c2pa c2pa.claim");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(manifest.length);
  const chunk = Buffer.concat([length, Buffer.from("caBX"), manifest, Buffer.alloc(4)]);
  const png = read("a.png");
  const { outcome, file } = await mark(Buffer.concat([png.subarray(0, 33), chunk, png.subarray(33)]));
  expect(outcome).toBe("marked");
  expect(file.includes(chunk)).toBe(true);
});

describe("hostile files", () => {
  const random = (seed: number): (() => number) => {
    let state = seed;
    return () => (state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff) / 0x7fff_ffff;
  };

  it.each(readdirSync(FIXTURES))("ends for every truncation and every damaged byte of %s", async (name) => {
    const file = read(name);
    const { contentType } = sniff(file);
    const next = random(name.length);
    for (let round = 0; round < 150; round++) {
      const broken = Buffer.from(round % 3 === 0 ? file.subarray(0, Math.floor(next() * file.length)) : file);
      for (let hit = 0; hit < 4 && broken.length > 0 && round % 3 !== 0; hit++)
        broken[Math.floor(next() * Math.min(broken.length, 400))] = [0, 1, 127, 255][Math.floor(next() * 4)]!;
      const { edits } = await markingOf(bytesOf(broken), contentType, TRAINED);
      for (const { at, remove, insert } of edits) {
        expect(at + remove).toBeLessThanOrEqual(broken.length);
        expect(insert.length).toBeLessThan(2 * 1024 * 1024);
      }
    }
  });
});
