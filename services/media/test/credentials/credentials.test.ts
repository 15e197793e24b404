import { createHash, randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { innerOwner, LIMITS } from "@nodeloom/kernel";
import { media } from "@nodeloom/proto";
import ExifReader from "exifreader";
import type { Claim, Credential } from "../../src/credentials/claim";
import { createThread } from "../../src/credentials/pool";
import { OWNER, startMedia, type RunningMedia } from "../harness";
import { signed } from "../../../../test-support/signed";

const FIXTURES = join(__dirname, "..", "fixtures");
const file = (name: string): Buffer => readFileSync(join(FIXTURES, name));
const TRAINED = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia";
const { MAKER_MODEL, MAKER_OPERATION } = media.Maker;

const thread = createThread();
const folder = mkdtempSync(join(tmpdir(), "nodeloom-credentials-"));
let ours: RunningMedia & { prefix: string };
let strangers: Credential;
beforeAll(async () => {
  ours = await startMedia([], undefined, { PROVENANCE: "signed" });
  strangers = await thread.selfMade();
});
afterAll(async () => {
  await Promise.all([ours.stop(), thread.stop()]);
  rmSync(folder, { recursive: true });
});

const make = (bytes: Buffer, id: string, making: Partial<media.Making> = {}, header: Partial<media.UploadHeader> = {}) =>
  ours.upload(bytes, { id, making: media.Making.fromPartial({ maker: MAKER_MODEL, model: "painter", ...making }), ...header });
const bytesOf = async ({ key, url }: media.StoredObject, from = ours): Promise<Buffer> =>
  Buffer.from(await (await fetch(`${from.http}/media/${url === "" ? key : signed(key)}`)).arrayBuffer());
const parts = function* (bytes: Buffer): Iterable<media.VerifyRequest> {
  for (let at = 0; at < bytes.length; at += 65_536) yield { part: { $case: "chunk", value: bytes.subarray(at, at + 65_536) } };
  yield { part: { $case: "end", value: {} } };
};
const verify = (bytes: Buffer, by = ours): Promise<media.VerifyResponse> => by.client.verify(parts(bytes), { deadlineMs: 20_000 });
const provenance = async (id: string, ownerId = OWNER) => (await ours.client.getProvenance({ id, ownerId })).record!;

/** Signs a file as another program would. */
const signedElsewhere = async (name: string, contentType: string, claim: Partial<Claim> = {}): Promise<Buffer> => {
  const path = join(folder, name);
  writeFileSync(path, file(name));
  const whole = { contentType, sourceType: TRAINED, maker: "model" as const, model: "upstream-model" };
  const task = {
    ...{ path, target: `${path}.${randomUUID()}` },
    sha256: createHash("sha256").update(file(name)).digest("hex"),
    edits: [],
    claim: { ...whole, ingredients: [], keepsOwn: true, ...claim },
    credential: strangers,
  };
  await thread.sign(task);
  return readFileSync(task.target);
};

const PICTURES = ["a.png", "a.jpg", "a.avif", "titled.png", "titled.jpg", "camera.jpg", "turned.jpg"];
const OTHERS = [
  "lossy.webp",
  "lossless.webp",
  "titled.webp",
  "a.mp4",
  "titled.mp4",
  "fragments.mp4",
  "a.mov",
  "a.m4a",
  "a.mp3",
  "tagged.mp3",
  "a.wav",
];

it.each([...PICTURES, ...OTHERS])("signs a result, %s, and states its origin", async (name) => {
  const object = await make(file(name), `result-${name}`);
  const bytes = await bytesOf(object);
  expect(await verify(bytes)).toMatchObject({
    contentType: object.contentType,
    supported: true,
    digitalSourceType: TRAINED,
    credentials: {
      ...{ whole: true, ours: true, selfMade: true, problems: [], generator: "Nodeloom", sources: [] },
      actions: [{ action: "c2pa.created", software: "painter", digitalSourceType: TRAINED }],
    },
  });
  expect(bytes.length).toBe(object.bytes);
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(object.sha256);
  expect(await provenance(object.id)).toMatchObject({ signed: true, unsignedReason: "" });
});

it("writes the IPTC mark under the signature, and compares files by their bytes before both", async () => {
  const object = await make(file("a.png"), "marked");
  expect(ExifReader.load(await bytesOf(object)).DigitalSourceType?.value).toBe(TRAINED);
  expect(object.contentHash).toBe((await ours.upload(file("a.png"))).contentHash);
  expect(await bytesOf(await ours.upload(file("a.png")))).toEqual(file("a.png"));
});

it("adds less than 8 kB to a file without sources", async () => {
  const signed = await bytesOf(await make(file("a.png"), "sized"));
  expect(signed.length - file("a.png").length).toBeLessThan(8_192);
});

it.each(["a.png", "a.jpg", "a.avif", ...OTHERS])("detects any changed byte in the content of %s", async (name) => {
  const bytes = await bytesOf(await make(file(name), `tampered-${name}`));
  const changed = Buffer.from(bytes);
  // RIFF files end with the manifest, MP3 files begin with it, and the index at the end of fragments isn't content.
  changed[/webp|wav/.test(name) ? 100 : changed.length - (name === "fragments.mp4" ? 100 : 20)]! ^= 1;
  const { credentials } = await verify(changed);
  expect(credentials).toMatchObject({ whole: false, ours: false });
  expect(credentials!.problems.join()).toMatch(/Hash\.mismatch/);
});

/** Positions of all samples' chunks. */
const positionsIn = (bytes: Buffer): number[] => {
  const offsets: number[] = [];
  for (let at = bytes.indexOf("stco"); at >= 0; at = bytes.indexOf("stco", at + 4))
    for (let index = 0; index < bytes.readUInt32BE(at + 8); index += 1) offsets.push(bytes.readUInt32BE(at + 12 + 4 * index));
  return offsets;
};

it.each(["a.mp4", "titled.mp4", "a.mov", "a.m4a"])("keeps the samples of %s at the positions in its tables", async (name) => {
  const [before, after] = [file(name), await signedElsewhere(name, "video/mp4")];
  const samples = (bytes: Buffer) => positionsIn(bytes).map((at) => bytes.toString("hex", at, at + 16));
  expect(positionsIn(before).length).toBeGreaterThan(0);
  expect(positionsIn(after)).not.toEqual(positionsIn(before));
  expect(samples(after)).toEqual(samples(before));
});

/** Positions of a fragment in its own header, and in the index at the end of the file. */
const fragmentPositionsIn = (bytes: Buffer): number[] => [
  Number(bytes.readBigUInt64BE(bytes.indexOf("tfhd") + 12)),
  Number(bytes.readBigUInt64BE(bytes.indexOf("tfra") + 28)),
];

it("keeps the fragments of a movie at the positions in its tables", async () => {
  const before = file("fragments.mp4");
  const after = await signedElsewhere("fragments.mp4", "video/mp4");
  const starts = (bytes: Buffer) => fragmentPositionsIn(bytes).map((at) => bytes.toString("latin1", at + 4, at + 8));
  expect(fragmentPositionsIn(after)).not.toEqual(fragmentPositionsIn(before));
  expect([...starts(before), ...starts(after)]).toEqual(["moof", "moof", "moof", "moof"]);
});

it("leaves a movie with a damaged index of fragments unsigned", async () => {
  const damaged = file("fragments.mp4");
  damaged.writeUInt32BE(1_000, damaged.indexOf("tfra") + 16);
  const object = await make(damaged, "unsigned-fragments");
  expect(await provenance(object.id)).toMatchObject({ signed: false, unsignedReason: "failed" });
});

it("detects changed statements", async () => {
  const bytes = await bytesOf(await make(file("a.png"), "reworded", { model: "painter-one" }));
  const at = bytes.indexOf("painter-one");
  bytes.write("painter-two", at);
  expect((await verify(bytes)).credentials).toMatchObject({ whole: false, ours: false });
});

it("recognises the platform's files by the certificate, not by their statements", async () => {
  const forged = await signedElsewhere("a.png", "image/png", { model: "painter" });
  expect((await verify(forged)).credentials).toMatchObject({ whole: true, ours: false, selfMade: false, generator: "Nodeloom" });
});

it("keeps a file signed by a provider as a source", async () => {
  const upstream = await signedElsewhere("a.png", "image/png");
  const object = await make(upstream, "from-provider");
  expect((await verify(await bytesOf(object))).credentials).toMatchObject({
    ...{ whole: true, ours: true },
    actions: [{ action: "c2pa.opened" }, { action: "c2pa.edited.metadata", digitalSourceType: TRAINED }],
    sources: [{ relationship: "parentOf", format: "image/png", actions: [{ action: "c2pa.created", software: "upstream-model" }] }],
  });
});

it("keeps the chain of edits, of results and of signed uploads", async () => {
  const upload = await ours.upload(await signedElsewhere("titled.jpg", "image/jpeg"));
  const first = await make(file("a.png"), "chain-1", { parents: [upload.id] });
  const second = await make(file("a.jpg"), "chain-2", { maker: MAKER_OPERATION, model: "resize", parents: [first.url] });
  const both = await make(file("a.avif"), "chain-3", { maker: MAKER_OPERATION, model: "collage", parents: [second.id, upload.id] });
  const { credentials } = await verify(await bytesOf(second));
  expect(credentials).toMatchObject({
    ...{ whole: true, ours: true },
    actions: [{ action: "c2pa.opened" }, { action: "c2pa.edited", software: "resize" }],
    sources: [
      { relationship: "parentOf", format: "image/png", actions: [{ action: "c2pa.created", software: "painter" }] },
      { relationship: "inputTo", format: "image/jpeg", actions: [{ action: "c2pa.created", software: "upstream-model" }] },
    ],
  });
  const joined = (await verify(await bytesOf(both))).credentials!;
  expect(joined).toMatchObject({ whole: true, actions: [{ action: "c2pa.created", software: "collage" }, { action: "c2pa.placed" }] });
  expect(joined.sources.map(({ relationship }) => relationship)).toEqual(["componentOf", "componentOf", "parentOf", "inputTo"]);
});

/** Larger than the part of a source that is read first. */
const PADDING = Buffer.alloc(300 * 1024, "x");
const pngChunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
};
const chunksOf = (png: Buffer): Buffer[] => {
  const chunks: Buffer[] = [];
  for (let at = 8; at < png.length; at += chunks.at(-1)!.length) chunks.push(png.subarray(at, at + 12 + png.readUInt32BE(at)));
  return chunks;
};
/** Orders the chunks of a signed picture and adds one before its end. */
const reordered = (png: Buffer, manifestIsLast: boolean): Buffer => {
  const chunks = chunksOf(png);
  const [manifest] = chunks.filter((chunk) => chunk.includes("caBX"));
  const others = manifestIsLast ? [...chunks.slice(0, -1).filter((chunk) => chunk !== manifest), manifest!] : chunks.slice(0, -1);
  return Buffer.concat([png.subarray(0, 8), ...others, pngChunk("paDd", PADDING), chunks.at(-1)!]);
};

it.each([
  ["a PNG file", async () => reordered(await signedElsewhere("a.png", "image/png"), false)],
  ["a PNG file that ends with it", async () => reordered(await signedElsewhere("a.png", "image/png"), true)],
  ["a JPEG file", async () => Buffer.concat([await signedElsewhere("a.jpg", "image/jpeg"), PADDING])],
  ["a WebP file", async () => signedElsewhere("lossy.webp", "image/webp")],
])("finds the manifest of a source: %s", async (name, source) => {
  const upload = await ours.upload(await source());
  const { credentials } = await verify(
    await bytesOf(await make(file("a.jpg"), `made-from-${name.replaceAll(" ", "-")}`, { parents: [upload.url] })),
  );
  expect(credentials).toMatchObject({ whole: true, sources: [{ actions: [{ action: "c2pa.created", software: "upstream-model" }] }] });
});

it("reveals nothing of a hidden graph", async () => {
  const owner = { ownerId: innerOwner(OWNER) };
  const upstream = await signedElsewhere("a.png", "image/png", { model: "hidden-upstream" });
  const first = await make(upstream, "hidden-1", { model: "hidden-model" }, owner);
  const second = await make(file("a.jpg"), "hidden-2", { maker: MAKER_OPERATION, model: "hidden-crop", parents: [first.id] }, owner);
  const stored = await Promise.all([first, second].map(({ id }) => ours.client.getProvenance({ id, ownerId: owner.ownerId })));
  expect(stored.map(({ record }) => record!.signed)).toEqual([true, true]);
  await ours.client.giveObjects({ keys: [first.key, second.key], fromOwnerId: owner.ownerId, ownerId: OWNER });
  for (const object of [first, second]) {
    const bytes = await bytesOf(object);
    expect((await verify(bytes)).credentials).toMatchObject({ whole: true, ours: true });
    expect(bytes.toString("latin1")).not.toMatch(/hidden-/);
  }
});

it("names no source of another account", async () => {
  const others = await ours.upload(await signedElsewhere("a.png", "image/png"), { ownerId: "user-2" });
  const object = await make(file("a.jpg"), "from-others", { parents: [others.url] });
  expect((await verify(await bytesOf(object))).credentials).toMatchObject({
    whole: true,
    sources: [{ relationship: "inputTo", format: "", generator: "", actions: [] }],
  });
});

it("signs the same file to the same bytes, so that a retry leaves nothing behind", async () => {
  const [one, other] = [await signedElsewhere("a.avif", "image/avif"), await signedElsewhere("a.avif", "image/avif")];
  expect(one.equals(other)).toBe(true);
  expect((await signedElsewhere("a.avif", "image/avif", { model: "another" })).equals(one)).toBe(false);
});

it("keeps a result that it can't sign, and reports the reason", async () => {
  const damaged = Buffer.concat([file("a.png").subarray(0, 60), Buffer.alloc(30, 1)]);
  const large = Buffer.concat([file("a.png"), Buffer.alloc(LIMITS.verifiedBytes)]);
  const objects = [
    await make(file("a.webm"), "unsigned-format"),
    await make(damaged, "unsigned-damaged"),
    await make(large, "unsigned-large"),
  ];
  const reasons = await Promise.all(
    objects.map(async ({ id }) => (({ signed: is, unsignedReason }) => [is, unsignedReason])(await provenance(id))),
  );
  expect(reasons).toEqual([
    [false, "format"],
    [false, "failed"],
    [false, "size"],
  ]);
  expect((await bytesOf(objects[1]!)).length).toBe(objects[1]!.bytes);
});

it("reports this if the setting leaves files unsigned", async () => {
  const plain = await startMedia();
  const object = await plain.upload(file("a.png"), { id: "plain", making: media.Making.fromPartial({ maker: MAKER_MODEL, model: "m" }) });
  expect((await plain.client.getProvenance({ id: object.id, ownerId: OWNER })).record).toMatchObject({
    signed: false,
    unsignedReason: "off",
  });
  const upload = await plain.upload(file("a.png"));
  expect((await plain.client.getProvenance({ id: upload.id, ownerId: OWNER })).record!.signed).toBeUndefined();
  await plain.stop();
});

it("keeps its self-signed certificate, and recognises its files after a restart", async () => {
  const first = await startMedia([], undefined, { PROVENANCE: "signed" });
  const making = media.Making.fromPartial({ maker: MAKER_MODEL, model: "m" });
  const before = await bytesOf(await first.upload(file("a.png"), { id: "before", making }), first);
  await first.close();
  const again = await startMedia([], first, { PROVENANCE: "signed" });
  const after = await bytesOf(await again.upload(file("a.png"), { id: "after", making }), again);
  const [one, other] = [await verify(before, again), await verify(after, again)];
  expect(one.credentials).toMatchObject({ ours: true, selfMade: true });
  expect(other.credentials!.signer!.fingerprint).toBe(one.credentials!.signer!.fingerprint);
  expect((await verify(before)).credentials).toMatchObject({ whole: true, ours: false });
  await again.stop();
});

describe("a configured certificate", () => {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");

  it("signs, also if it is given in base64", async () => {
    const env = { PROVENANCE_CERTIFICATE: base64(strangers.chain), PROVENANCE_KEY: strangers.key };
    const configured = await startMedia([], undefined, env);
    const making = media.Making.fromPartial({ maker: MAKER_MODEL, model: "m" });
    const object = await configured.upload(file("a.jpg"), { id: "configured", making });
    const { credentials } = await verify(await bytesOf(object, configured), configured);
    expect(credentials).toMatchObject({ whole: true, ours: true, selfMade: false });
    await configured.stop();
  });

  it.each([
    ["unreadable", () => ({ PROVENANCE_CERTIFICATE: "nonsense", PROVENANCE_KEY: strangers.key }), /certificate can't be read/],
    ["without its key", () => ({ PROVENANCE_CERTIFICATE: strangers.chain }), /or neither/],
    [
      "with another key",
      async () => ({ PROVENANCE_CERTIFICATE: strangers.chain, PROVENANCE_KEY: (await thread.selfMade()).key }),
      /isn't the certificate's/,
    ],
  ])("is rejected at the start if it is %s", async (_name, env, message) => {
    await expect(startMedia([], undefined, { ...(await env()) })).rejects.toThrow(message);
  });
});

describe("verification", () => {
  it("reports that a file has no credentials, or that its format isn't supported", async () => {
    expect(await verify(file("a.png"))).toMatchObject({ contentType: "image/png", supported: true, credentials: undefined });
    expect(await verify(file("a.webm"))).toMatchObject({ contentType: "video/webm", supported: false, credentials: undefined });
  });

  it.each([
    ["an empty file", Buffer.alloc(0), "INVALID_REQUEST"],
    ["a text", Buffer.from("plain text"), "UNSUPPORTED_MEDIA_TYPE"],
    ["a damaged picture", Buffer.concat([file("a.png").subarray(0, 60), Buffer.alloc(30, 1)]), "INVALID_REQUEST"],
    ["a large file", Buffer.concat([file("a.png"), Buffer.alloc(LIMITS.verifiedBytes)]), "PAYLOAD_TOO_LARGE"],
  ])("rejects %s", async (_name, bytes, reason) => {
    await expect(verify(bytes)).rejects.toMatchObject({ reason });
  });

  it("reports an unreadable manifest as invalid", async () => {
    const bytes = await bytesOf(await make(file("a.jpg"), "scrambled"));
    bytes.fill(0x7f, bytes.indexOf("c2pa.claim") + 12, bytes.indexOf("c2pa.claim") + 200);
    expect((await verify(bytes)).credentials).toMatchObject({ whole: false, ours: false });
  });
});
