import { readNode, type DocNode } from "../../src/document/graph";
import { faceOf } from "../../src/canvas/face";
import { boxOf } from "../../src/canvas/geometry";
import { portsOf } from "../../src/canvas/ports";

const SCHEMA = { type: "object", properties: { prompt: { type: "string" }, image: { type: "string", format: "media" } } };
const node = (type: string, data: object, view?: object): DocNode => readNode(JSON.stringify({ id: "n", type, data, view }))!;
const ports = (one: DocNode, wired: string[] = []) => portsOf(one, { schemaOf: () => SCHEMA, resultsOf: () => undefined }, wired, []);
const face = (one: DocNode, wired: string[] = []) => faceOf(one, ports(one, wired));

describe("the text on a node", () => {
  it("is its model, and its prompt where no link brings one", () => {
    const image = node("generate-image", { model: "pic", inputs: { prompt: "boats" } });
    expect(face(image)).toMatchObject({ line: "pic", text: { value: "boats", path: ["inputs", "prompt"] } });
    expect(face(image, ["prompt"])).toMatchObject({ line: "pic", text: undefined });
    expect(face(node("llm-assistant", { model: "chat", prompt: "write" })).text?.path).toEqual(["prompt"]);
  });

  it("is written where its kind keeps it, and as that", () => {
    expect(face(node("text-box", { text: "a {{b}}" })).text).toMatchObject({ value: "a {{b}}", path: ["text"] });
    const list = face(node("list", { items: ["one", "two"] })).text!;
    expect(list.value).toBe("one\ntwo");
    expect(list.toSetting("one\ntwo\nthree")).toEqual(["one", "two", "three"]);
    expect(list.toSetting("")).toEqual([]);
  });

  it("is nothing that one text could not say", () => {
    for (const data of [{ items: [1, "two"] }, { items: ["a\nb"] }]) expect(face(node("list", data)).text).toBeUndefined();
    expect(face(node("text-box", { text: 7 })).text).toBeUndefined();
    expect(face(node("response-output", {}))).toEqual({ line: undefined, text: undefined, settings: [] });
  });
});

describe("settings on a node", () => {
  const properties = {
    prompt: { type: "string" },
    image: { type: "string", format: "media" },
    seed: { type: "integer" },
    aspect_ratio: { type: "string", enum: ["1:1", "16:9"] },
    negative: { type: "string", maxLength: 1_000 },
    seconds: { type: "number" },
    loop: { type: "boolean" },
    strength: { type: "number" },
    temperature: { type: "number" },
  };
  const settings = (one: DocNode, wired: string[] = []) =>
    faceOf(one, portsOf(one, { schemaOf: () => ({ properties }), resultsOf: () => undefined }, wired, [])).settings;

  it("are the first short ones of its model, and its seed", () => {
    const video = node("generate-video", { model: "clip", inputs: { seed: 7 } });
    expect(settings(video).map(({ label, value }) => [label, value])).toEqual([
      ["Aspect ratio", undefined],
      ["Seconds", undefined],
      ["Loop", undefined],
      ["Seed", 7],
    ]);
    expect(settings(video, ["seed", "loop"]).map(({ name }) => name)).toEqual(["aspect_ratio", "seconds", "strength"]);
    expect(settings(node("text-box", { text: "x" }))).toEqual([]);
  });

  it("are written where a run reads them", () => {
    expect(settings(node("generate-video", { model: "clip" }))[0]!.path).toEqual(["inputs", "aspect_ratio"]);
    expect(settings(node("media", { operation: "video-trim" }))[0]!.path).toEqual(["aspect_ratio"]);
  });

  it("have room of their own above the ports", () => {
    const one = node("generate-video", { model: "clip" });
    const own = portsOf(one, { schemaOf: () => ({ properties }), resultsOf: () => undefined }, [], []);
    const box = boxOf(one, own, undefined);
    expect(box.settings!.top).toBeGreaterThanOrEqual(box.well!.top + box.well!.height);
    expect(box.inputs[0]!.y).toBeGreaterThan(box.settings!.top + box.settings!.height);
  });
});

describe("a node's view", () => {
  it("is as high as its text was made, and as wide as it was dragged", () => {
    const [usual, large] = [node("text-box", { text: "x" }), node("text-box", { text: "x" }, { width: 500, text: 300 })];
    const [before, after] = [boxOf(usual, ports(usual), undefined), boxOf(large, ports(large), undefined)];
    expect(after.width).toBe(500);
    expect(after.height - before.height).toBe(300 - before.well!.height);
    expect(after.outputs[0]!.y).toBeGreaterThan(after.well!.top + 300);
  });

  it("that is collapsed is a head with all ports at its sides, whatever was made", () => {
    const image = node("generate-image", { model: "pic" }, { collapsed: true });
    const box = boxOf(image, ports(image), { preview: "picture", items: 3 });
    expect(box).toMatchObject({ height: 40, isCollapsed: true, floor: undefined, well: undefined });
    expect(new Set([...box.inputs, ...box.outputs].map(({ y }) => y))).toEqual(new Set([20]));
  });

  it("that says nothing of use is none", () => {
    for (const view of [null, 7, {}, { width: "wide" }, { width: -3 }, { collapsed: "yes" }])
      expect(node("text-box", {}, view as object).view).toBeUndefined();
  });
});
