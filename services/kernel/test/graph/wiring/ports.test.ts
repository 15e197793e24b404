import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  bindItems,
  callInputs,
  createInputCheck,
  FLOWS,
  inputPorts,
  planRun,
  PORT_TYPES,
  portTypeName,
  readGraph,
  resolveInputs,
  type ModelTerms,
  type PortType,
} from "@nodeloom/kernel";

/** A model with one input of each type that a schema can express. */
const PROPERTIES: Readonly<Record<PortType, object>> = {
  text: { type: "string" },
  number: { type: "number" },
  boolean: { type: "boolean" },
  image: { type: "string", format: "media", contentMediaType: "image/*" },
  mask: { type: "string", format: "media", contentMediaType: "image/*", "x-mask": true },
  video: { type: "string", format: "media", contentMediaType: "video/*" },
  audio: { type: "string", format: "media", contentMediaType: "audio/*" },
  model3d: { type: "string", format: "media", contentMediaType: "model/*" },
  media: { type: "string", format: "media" },
  any: {},
};
const inputSchema = { type: "object", properties: PROPERTIES, additionalProperties: false };
const taker: ModelTerms = {
  ...{ internalName: "taker", modality: "image", providerKind: "http-polling", inputSchema },
  ...{ price: { basis: "run", microUsd: 1 }, validate: createInputCheck(inputSchema) },
};
const maker = (modality: string): [string, ModelTerms] => {
  const schema = { type: "object", properties: {} };
  return [modality, { ...taker, internalName: modality, modality, inputSchema: schema, validate: createInputCheck(schema) }];
};
const MODELS = new Map([["taker", taker], maker("image"), maker("video"), maker("audio"), maker("model3d")]);

/** A node and a port for each type. Only the file is known before the run. */
const GIVERS: Readonly<Record<PortType, { type: string; data: object; port: string }>> = {
  text: { type: "request-input", data: { fields: [{ name: "it", type: "text" }] }, port: "it" },
  number: { type: "http-request", data: { url: "https://example.com" }, port: "status" },
  boolean: { type: "request-input", data: { fields: [{ name: "it", type: "boolean" }] }, port: "it" },
  image: { type: "generate-image", data: { model: "image" }, port: "image" },
  mask: { type: "request-input", data: { fields: [{ name: "it", type: "mask_upload" }] }, port: "it" },
  video: { type: "generate-video", data: { model: "video" }, port: "video" },
  audio: { type: "generate-audio", data: { model: "audio" }, port: "audio" },
  model3d: { type: "generate-3d", data: { model: "model3d" }, port: "model3d" },
  media: { type: "media-upload", data: { mediaId: "file" }, port: "media" },
  any: { type: "http-request", data: { url: "https://example.com" }, port: "body" },
};
const plan = (from: PortType, to: PortType, contentType = "image/png"): ReturnType<typeof planRun> => {
  const { type, data, port } = GIVERS[from];
  const nodes = [
    { id: "giver", type, data },
    { id: "taker", type: "generate-image", data: { model: "taker" } },
  ];
  const edges = [{ id: "e1", source: "giver", sourceHandle: port, target: "taker", targetHandle: to }];
  return planRun({
    graph: readGraph(JSON.stringify(nodes), JSON.stringify(edges)),
    inputs: new Map(),
    models: MODELS,
    media: new Map([["file", { url: "https://m/file", contentType }]]),
    markupPermille: 1_000,
  });
};
const PAIRS = PORT_TYPES.flatMap((from) => PORT_TYPES.map((to): [PortType, PortType] => [from, to]));

describe("allowed links between types", () => {
  it.each(PAIRS)("decides about %s into %s as in the table, and names both ports and both types", (from, to) => {
    const problem = `giver.${GIVERS[from].port} is ${portTypeName(from)} and can't flow into taker.${to}, which takes ${portTypeName(to)} (edge e1)`;
    const [issue] = plan(from, to).issues;
    if (FLOWS[from][to] === "refused")
      expect(issue).toMatchObject({ nodeId: "taker", message: expect.stringContaining(problem) as string });
    // The file is an image, so the check sees its family.
    else if (from === "media" && ["video", "audio", "model3d"].includes(to)) expect(issue!.message).toMatch(/but is an image$/);
    else expect(issue).toBeUndefined();
  });

  it.each(["image", "video", "audio", "model3d"] as const)("accepts a file of unknown family for %s if it turns out to be one", (kind) => {
    expect(plan("media", kind, `${kind}/x`).issues).toEqual([]);
  });

  it("accepts an image file of a caller as a mask, and says how an image of another node becomes one", () => {
    expect(plan("media", "mask", "image/jpeg").issues).toEqual([]);
    expect(plan("media", "mask", "audio/mpeg").issues).toMatchObject([
      { nodeId: "taker", message: "mask: must be a mask (an image file), but is an audio file" },
    ]);
    expect(plan("image", "mask").issues[0]!.message).toContain("a media node with the operation mask-from-image makes a mask of it");
    const masks = [{ name: "it", type: "mask_upload", label: "it", required: false }];
    expect(resolveInputs(masks, { it: "https://example.com/mask.png" }).issues).toEqual([]);
    expect(resolveInputs(masks, { it: 5 }).issues).toMatchObject([
      { path: "inputs.it", message: expect.stringContaining("must be a mask") as string },
    ]);
  });

  it("reads the type of a model's input from its schema", () => {
    const ports = inputPorts({ id: "x", type: "generate-image", data: {} }, inputSchema);
    expect([...ports].map(([name, { type }]) => [name, type])).toEqual(PORT_TYPES.map((type) => [type, type]));
  });

  it("match the guide", () => {
    const guide = readFileSync(join(__dirname, "..", "..", "..", "..", "..", "docs", "guide", "workflows.md"), "utf8");
    const cells = (line: string): string[] =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim());
    const table = [
      ["from ↓ into →", ...PORT_TYPES.map((type) => `**${type}**`)],
      ...PORT_TYPES.map((from) => [
        `**${from}**`,
        ...PORT_TYPES.map((to) => FLOWS[from][to].replace("allowed", "yes").replace("refused", "–")),
      ]),
    ];
    const rows = guide
      .split("\n")
      .filter((line) => line.startsWith("|"))
      .map(cells);
    const start = rows.findIndex(([first]) => first === "from ↓ into →");
    expect([rows[start], ...rows.slice(start + 2, start + 2 + PORT_TYPES.length)]).toEqual(table);
  });
});

describe("text for a number", () => {
  const field = (type: string, more: object = {}): object => ({
    id: "in",
    type: "request-input",
    data: { fields: [{ name: "it", type, ...more }] },
  });
  const numberOf = (value: unknown, type = "text") => {
    const nodes = [
      field(type, { options: ["2", "3"] }),
      { id: "taker", type: "generate-image", data: { model: "taker", inputs: { number: 7 } } },
    ];
    const edges = [{ id: "e1", source: "in", sourceHandle: "it", target: "taker", targetHandle: "number" }];
    const planned = planRun({
      graph: readGraph(JSON.stringify(nodes), JSON.stringify(edges)),
      inputs: new Map([["it", value]]),
      models: MODELS,
      media: new Map(),
      markupPermille: 1_000,
    });
    const [step] = planned.plan?.steps ?? [];
    return step ? bindItems(step, () => undefined).items.map((item) => callInputs(step, item).number) : planned.issues;
  };

  it.each([
    ["2", 2],
    [" 2.50\n", 2.5],
    ["-1e3", -1_000],
    [".5", 0.5],
  ])("is the number in the text: %j", (text, number) => {
    expect(numberOf(text)).toEqual([number]);
  });

  it("can be a literal, a list item or empty; an empty one leaves the node's own setting", () => {
    expect(numberOf("3", "select")).toEqual([3]);
    expect(numberOf(["1", 2, "3"], "json")).toEqual([1, 2, 3]);
    expect(numberOf("  ")).toEqual([7]);
  });

  it.each(["two", "1,000", "0x10", "1 2", "NaN", "Infinity", "1e999", "9".repeat(400)])("is rejected if it isn't a number: %j", (text) => {
    const shownText = text.length > 40 ? `${text.slice(0, 40)}…` : text;
    expect(numberOf(text)).toMatchObject([{ nodeId: "taker", message: `number: must be a number, but is the text "${shownText}"` }]);
  });

  it("is checked when the node starts, if it isn't known earlier", () => {
    const nodes = [
      { id: "chat", type: "llm-assistant", data: { model: "text" } },
      { id: "taker", type: "generate-image", data: { model: "taker" } },
    ];
    const edges = [{ id: "e1", source: "chat", sourceHandle: "text", target: "taker", targetHandle: "number" }];
    const { plan: planned } = planRun({
      graph: readGraph(JSON.stringify(nodes), JSON.stringify(edges)),
      inputs: new Map(),
      models: new Map([...MODELS, maker("text")]),
      media: new Map(),
      markupPermille: 1_000,
    });
    const step = planned!.steps.find(({ id }) => id === "taker")!;
    const numberFrom = (text: string): unknown => callInputs(step, bindItems(step, () => text).items[0]!).number;
    expect(numberFrom("42")).toBe(42);
    expect(() => numberFrom("forty-two")).toThrow('number: must be a number, but is the text "forty-two"');
  });
});
