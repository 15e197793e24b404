import { readFileSync } from "node:fs";
import { join } from "node:path";
import ExifReader from "exifreader";
import { media } from "@nodeloom/proto";
import { OWNER, startMedia, type RunningMedia } from "./harness";
import { signed } from "../../../test-support/signed";

const PICTURE = readFileSync(join(__dirname, "fixtures", "a.png"));
const DATA_URL = `data:image/png;base64,${PICTURE.toString("base64")}`;
const { MAKER_ALGORITHM, MAKER_MODEL, MAKER_OPERATION } = media.Maker;

let running: RunningMedia;
let unmarked: RunningMedia;
beforeAll(async () => {
  [running, unmarked] = await Promise.all([startMedia(), startMedia([], undefined, { PROVENANCE: "off" })]);
});
afterAll(() => Promise.all([running.stop(), unmarked.stop()]));

const make = async (id: string, making: Partial<media.Making>, from = running, ownerId = OWNER): Promise<media.StoredObject> => {
  const whole = { maker: MAKER_MODEL, model: "painter", nodeId: "picture", executionId: "run-1", ...making };
  return (await from.client.ingest(media.IngestRequest.fromPartial({ id, ownerId, sourceUrl: DATA_URL, making: whole }))).object!;
};
const provenance = (id: string, ownerId = OWNER): Promise<media.GetProvenanceResponse> => running.client.getProvenance({ id, ownerId });
const sourceOf = async (id: string): Promise<string> => (await provenance(id)).record!.digitalSourceType.replace(/.*\//, "");
const bytesOf = async ({ key }: media.StoredObject, from = running): Promise<Buffer> =>
  Buffer.from(await (await fetch(`${from.http}/media/${signed(key)}`)).arrayBuffer());

it("marks a model's output, and keeps the hash of the provider's file", async () => {
  const object = await make("marked", {});
  const bytes = await bytesOf(object);
  expect(ExifReader.load(bytes).DigitalSourceType?.value).toBe("http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia");
  expect(bytes.length).toBe(object.bytes);
  const upload = await running.upload(PICTURE);
  expect(object.contentHash).toBe(upload.contentHash);
  expect(object).toMatchObject({ width: 48, height: 32 });
});

it("stores a file without its embedded workflow if requested, marked like any other", async () => {
  const file = readFileSync(join(__dirname, "strip", "files", "SaveImage.png"));
  const making = media.Making.fromPartial({ maker: MAKER_MODEL, model: "painter" });
  const [plain, keptObject] = await Promise.all(
    [true, undefined].map((stripMetadata) => running.upload(file, { id: `comfy-${stripMetadata}`, making, stripMetadata })),
  );
  const containedTexts = async (object: media.StoredObject): Promise<boolean[]> => {
    const bytes = await bytesOf(object);
    return ["a secret loom", "trainedAlgorithmicMedia"].map((text) => bytes.includes(text));
  };
  expect(await containedTexts(plain!)).toEqual([false, true]);
  expect(await containedTexts(keptObject!)).toEqual([true, true]);
});

it("keeps uploads unchanged, and all files if marks are off", async () => {
  expect(await bytesOf(await running.upload(PICTURE))).toEqual(PICTURE);
  expect(await bytesOf(await make("off", {}, unmarked), unmarked)).toEqual(PICTURE);
});

it("shows a file's origin by its parents", async () => {
  const photo = await running.upload(PICTURE);
  const generated = await make("generated", {});
  await make("edited-photo", { parents: [photo.url] });
  await make("edited-picture", { parents: [generated.url] });
  await make("drawing", { maker: MAKER_ALGORITHM });
  await make("cut-photo", { maker: MAKER_OPERATION, parents: [photo.id] });
  await make("cut-picture", { maker: MAKER_OPERATION, parents: [generated.id] });
  await make("mixed", { maker: MAKER_OPERATION, parents: [generated.id, photo.id] });
  const sourceTypes = await Promise.all(
    ["edited-photo", "edited-picture", "drawing", "cut-photo", "cut-picture", "mixed"].map((id) => sourceOf(id)),
  );
  expect(sourceTypes).toEqual([
    "compositeWithTrainedAlgorithmicMedia",
    "trainedAlgorithmicMedia",
    "algorithmicMedia",
    "",
    "trainedAlgorithmicMedia",
    "compositeWithTrainedAlgorithmicMedia",
  ]);
});

it("lists a file's ancestors once each, nearest first, however they are linked", async () => {
  await make("root", {});
  await make("left", { parents: ["root"] });
  await make("right", { parents: ["root", "film"] });
  await make("film", { parents: ["left", "right", "https://files.example/cat.png?signature=secret"] });
  const { record, ancestors, truncated } = await provenance("film");
  expect(record!.making!.parents).toEqual(["left", "right", "https://files.example/cat.png"]);
  expect(ancestors.map(({ object }) => object!.id)).toEqual(["left", "right", "root"]);
  expect(truncated).toBe(false);
});

it("stops after 200 ancestors and reports this", async () => {
  const parents = Array.from({ length: 5 }, (_, wide) => Array.from({ length: 45 }, (_, index) => `many-${wide}-${index}`));
  for (const [wide, ids] of parents.entries())
    await Promise.all(ids.map((id) => make(id, { parents: wide === 0 ? [] : [`many-${wide - 1}-0`, ...parents[wide - 1]!.slice(1)] })));
  await make("many", { parents: parents.at(-1)! });
  const { ancestors, truncated } = await provenance("many");
  expect([ancestors.length, truncated]).toEqual([200, true]);
});

it("shows only its owner's files", async () => {
  await make("of-another", {}, running, "user-2");
  await make("from-another", { parents: ["of-another"] });
  expect((await provenance("from-another")).ancestors).toEqual([]);
  await expect(provenance("of-another")).rejects.toMatchObject({ reason: "NOT_FOUND" });
});

it("stores given prompts, and shows none in lists", async () => {
  await make("prompted", { inputsJson: '{"prompt":"a boat"}' }, running, "user-3");
  expect((await provenance("prompted", "user-3")).record!.making!.inputsJson).toBe('{"prompt":"a boat"}');
  await make("from-prompted", { parents: ["prompted"] }, running, "user-3");
  expect((await running.client.listObjects({ ownerId: "user-3", limit: 10, cursor: "" })).objects).toHaveLength(2);
});

it.each([
  { parents: Array.from({ length: 51 }, (_, index) => `p${index}`) },
  { model: "m".repeat(501) },
  { inputsJson: "x".repeat(70_000) },
])("rejects provenance that is too long", async (making) => {
  await expect(make("long", making)).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
});
