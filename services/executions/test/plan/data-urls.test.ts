import { LIMITS } from "@nodeloom/kernel";
import { executions, media } from "@nodeloom/proto";
import { createDataFiles, takeOutDataUrls } from "../../src/plan/data-urls";
import type { PlannedRun } from "../../src/plan/planning";
import { startPlanningServices, type PlanningServices } from "../support/planning-services";

/** Data URLs in inputs become files of the runner before the run is recorded. */

const STORAGE = "http://public.test/media/";
const OURS = expect.stringMatching(/^http:\/\/public\.test\/media\/[0-9a-f]{32}\.png$/) as string;
const FILE = { id: expect.any(String) as string, url: OURS, contentType: "image/png" };
const SIGNATURE = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
let pictures = 0;
const picture = (bytes = 64): string => {
  const content = Buffer.alloc(bytes, "loom");
  content.writeUInt32BE((pictures += 1));
  return `data:image/png;base64,${Buffer.concat([SIGNATURE, content]).toString("base64")}`;
};
const LONG = LIMITS.textValueBytes;
const long = (): string => picture(LONG);

let services: PlanningServices;
beforeAll(async () => (services = await startPlanningServices({ addresses: { own: STORAGE, allow: [] } })));
afterAll(() => services.stop());

type Target = executions.Target["target"];
const plan = (target: Target, inputs: unknown, part: { userId?: string; storesNothing?: boolean } = {}): Promise<PlannedRun> =>
  services.planning.plan({
    target,
    runner: executions.Runner.fromPartial({
      userId: part.userId ?? "owner",
      role: "user",
      tier: "pro",
      baseTier: "pro",
      markupPermille: 1_500,
    }),
    inputsJson: typeof inputs === "string" ? inputs : JSON.stringify(inputs),
    isAsync: false,
    ...(part.storesNothing ? { storesNothing: true } : {}),
  });
const model: Target = { $case: "model", value: "sandbox-image" };
const storedBy = async (ownerId: string): Promise<media.StoredObject[]> =>
  (await services.clients.media.listObjects({ ownerId, limit: 100, cursor: "" })).objects;
const inputNode = (type: string): unknown => ({ id: "in", type: "request-input", data: { fields: [{ name: "given", type }] } });
const out = { id: "out", type: "response-output", data: {} };

it.each([
  ["short", () => picture()],
  ["long", long],
])("makes a %s one of a direct run a file, once however often it is given", async (name, make) => {
  const [userId, image] = [`direct-${name}`, make()];
  const first = await plan(model, { prompt: "x", image }, { userId });
  const again = await plan(model, { image, prompt: "another" }, { userId });
  expect(first.plan.steps[0]!.literals.image).toEqual(OURS);
  expect(again.plan.steps[0]!.literals.image).toBe(first.plan.steps[0]!.literals.image);
  expect(JSON.parse(first.inputsJson)).toEqual({ prompt: "x", image: first.plan.steps[0]!.literals.image });
  expect(JSON.stringify([first, again])).not.toContain("base64");
  const [object, ...others] = await storedBy(userId);
  expect(others).toEqual([]);
  expect(object).toMatchObject({ origin: media.Origin.ORIGIN_GENERATED, kept: false, contentType: "image/png" });
});

it("stores each of a list of files, in order, and keeps those that are addresses", async () => {
  const fields = [{ name: "given", type: "image_upload", multiple: true }];
  const nodes = [{ id: "in", type: "request-input", data: { fields } }, out];
  const target = await services.create(nodes, [["in.given", "out.images"]], "list");
  const far = "https://example.com/far.png";
  const { plan: planned, inputsJson } = await plan(target, { given: [picture(), long(), far] }, { userId: "list" });
  expect(JSON.parse(inputsJson)).toEqual({ given: [OURS, OURS, far] });
  expect(JSON.stringify(planned)).not.toContain("base64");
  expect(await storedBy("list")).toHaveLength(2);
  await expect(plan(target, { given: [far, "no-such-file"] }, { userId: "list" })).rejects.toMatchObject({
    reason: "INVALID_INPUTS",
    metadata: { issues: [{ path: "inputs.given.1", message: "is not one of your media files" }] },
  });
  await expect(plan(target, { given: [far, "http://10.0.0.1/a.png"] }, { userId: "list" })).rejects.toMatchObject({
    reason: "INVALID_INPUTS",
    metadata: { issues: [{ path: "inputs.given.1", message: expect.stringContaining("10.0.0.1") as string }] },
  });
});

it("stores those of upload fields, of literals and of lists as files", async () => {
  const [field, literal, item] = [long(), long(), picture()];
  const nodes = [
    inputNode("image_upload"),
    { id: "set", type: "generate-image", data: { model: "sandbox-image", inputs: { prompt: "x", image: literal } } },
    { id: "list", type: "list", data: { items: [item, "https://x.test/a.png"] } },
    { id: "each", type: "generate-image", data: { model: "sandbox-image", inputs: { prompt: "x" } } },
    out,
  ];
  const target = await services.create(nodes, [
    ["in.given", "out.photo"],
    ["in.given", "out.images"],
    ["list.items", "each.image"],
  ]);
  const { plan: planned, inputsJson } = await plan(target, { given: field });
  expect(planned.output).toEqual({ photo: [{ value: FILE }], images: [{ value: FILE }] });
  const steps = new Map(planned.steps.map((step) => [step.id, step]));
  expect([...steps.keys()]).toEqual(["set", "each"]);
  expect(steps.get("set")!.literals.image).toEqual(OURS);
  expect(steps.get("each")!.sources.image).toEqual([{ value: [FILE, "https://x.test/a.png"] }]);
  expect(JSON.parse(inputsJson)).toEqual({ given: OURS });
});

it("keeps a similar text as text, and rejects it as text if it is too long", async () => {
  const target = await services.create([inputNode("text"), out], [["in.given", "out.text"]], "writer");
  const text = picture();
  const planned = await plan(target, { given: text }, { userId: "writer" });
  expect(planned.plan.output.text).toEqual([{ value: text }]);
  expect(JSON.parse(planned.inputsJson)).toEqual({ given: text });
  await expect(plan(target, { given: long() }, { userId: "writer" })).rejects.toMatchObject({
    reason: "INVALID_INPUTS",
    metadata: { issues: [{ path: "inputs.given", message: `is longer than ${LONG} bytes` }] },
  });
  expect(await storedBy("writer")).toEqual([]);
});

it.each([
  ["malformed data", () => `${long()}#`, "must be an image: an http(s) URL, a data URL or a media id"],
  ["another kind of file", () => long().replace("image/png", "audio/wav"), "must be an image, but is an audio file"],
  ["long data that is no file", () => `data:image/png;base64,${"A".repeat(LONG)}`, "the data isn't a readable image file"],
])("rejects %s, and stores nothing", async (name, make, message) => {
  const userId = name.replaceAll(" ", "-");
  const field = await services.create([inputNode("image_upload"), out], [["in.given", "out.photo"]], userId);
  await expect(plan(field, { given: make() }, { userId })).rejects.toMatchObject({
    reason: "INVALID_INPUTS",
    metadata: { issues: [{ path: "inputs.given", message }] },
  });
  await expect(plan(model, { prompt: "x", image: make() }, { userId })).rejects.toMatchObject({
    reason: "INVALID_INPUTS",
    metadata: { issues: [{ path: "inputs.image", message }] },
  });
  expect(await storedBy(userId)).toEqual([]);
});

it("stores nothing for a run that is rejected for another reason, nor for a quote", async () => {
  await expect(plan(model, { image: long() }, { userId: "refused" })).rejects.toMatchObject({ reason: "INVALID_INPUTS" });
  const slug = await services.create([inputNode("image_upload"), { id: "a", type: "nothing-known" }], [], "refused");
  await expect(plan(slug, { given: long() }, { userId: "refused" })).rejects.toMatchObject({ reason: "WORKFLOW_INVALID" });
  const quoted = await plan(model, { prompt: "x", image: long() }, { userId: "refused", storesNothing: true });
  expect(quoted.holds).toHaveLength(1);
  expect(await storedBy("refused")).toEqual([]);
});

/** Adds line breaks to the data, as some tools do. */
const lines = (url: string, between = "\r\n"): string => {
  const [head, data] = [url.slice(0, url.indexOf(",") + 1), url.slice(url.indexOf(",") + 1)];
  return head + data.replaceAll(/.{76}/g, `$&${between}`);
};
const FORMS: [string, (url: string) => string][] = [
  ["with lines of 76 characters", lines],
  [
    "with encoded line breaks and signs",
    (url) =>
      lines(encodeURI(url), "%0A").replaceAll("+", "%2B").replaceAll("/", "%2F").replaceAll("=", "%3D").replace("image%2F", "image/"),
  ],
  ["of any bytes", (url) => url.replace("image/png", "application/octet-stream")],
  ["without a type", (url) => url.replace("image/png", "")],
  ["with blanks around its data", (url) => `${url.replace(";base64,", "; base64, ")} `],
];
it.each(
  FORMS.flatMap(
    ([name, form]) =>
      [
        [`short one ${name}`, form, picture],
        [`long one ${name}`, form, long],
      ] as const,
  ),
)("uses the type of a %s from its bytes", async (name, form, make) => {
  const target = await services.create([inputNode("image_upload"), out], [["in.given", "out.photo"]], "owner");
  expect((await plan(target, { given: form(make()) })).plan.output.photo).toEqual([{ value: FILE }]);
  const direct = await plan(model, { prompt: name, image: form(make()) });
  expect(direct.plan.steps[0]!.literals.image).toEqual(OURS);
  expect(direct.inputsJson).not.toContain("base64");
});

it("rejects data without a type if its bytes aren't a file for the field", async () => {
  const target = await services.create([inputNode("audio_upload"), out], [["in.given", "out.sounds"]]);
  const refusedPlan = (image: string) => expect(plan(target, { given: image })).rejects;
  await refusedPlan(picture().replace("image/png", "")).toMatchObject({
    reason: expect.stringMatching(/INVALID/) as string,
    message: expect.stringContaining("must be an audio file, but is an image") as string,
  });
  await refusedPlan("data:application/octet-stream;base64,AAAA").toThrow("the data isn't a readable picture, video, sound or 3D model");
});

it("keeps short data that isn't a file unchanged", async () => {
  const image = "data:image/png;base64,AAAA";
  const target = await services.create([inputNode("image_upload"), out], [["in.given", "out.photo"]]);
  const planned = await plan(target, { given: image });
  expect(planned.plan.output.photo).toEqual([{ value: image }]);
  expect(JSON.parse(planned.inputsJson)).toEqual({ given: image });
});

it("limits the stored data of one plan: the rest stays inline, and long ones come first", async () => {
  const store = createDataFiles({ media: services.clients.media });
  const url = long();
  const garbage = Array.from({ length: 100 }, (_, index) => `data:image/png;base64,${Buffer.from(`${index}`).toString("base64")}`);
  const files = new Map(await store([...garbage, "stand-in"], new Map([["stand-in", url]]), "many"));
  expect(files.size).toBe(101);
  expect(files.get("stand-in")).toEqual({ file: FILE });
  expect(await storedBy("many")).toHaveLength(1);
});

describe("removing long data URLs from inputs", () => {
  const url = long();
  it.each([
    ["with escapes around", `{ "a\\"b" : [ ${JSON.stringify(url)} ] , "t": "say \\"data:" }`],
    ["in capitals", JSON.stringify({ image: url.replace("data:image", "DATA:Image") })],
    ["twice", JSON.stringify({ one: url, two: url })],
  ])("removes them %s, and nothing else changes", (_, json) => {
    const { inputsJson, urls } = takeOutDataUrls(json);
    expect(inputsJson.length).toBeLessThan(1_000);
    expect([...urls].reduce((text, [standIn, one]) => text.replace(standIn, one), inputsJson)).toBe(json);
  });

  it.each([
    ["inside a text", JSON.stringify({ text: `see "${url}" there` })],
    ["malformed", JSON.stringify({ image: `${url}"` })],
    ["percent-encoded", JSON.stringify({ image: `data:image/png,${"a".repeat(LONG)}` })],
    ["short", JSON.stringify({ image: picture(), text: "x".repeat(LONG) })],
  ])("keeps one that is %s", (_, json) => {
    expect(takeOutDataUrls(json)).toEqual({ inputsJson: json, urls: new Map() });
  });
});
