import { readNode, readDocGraph, nodesOf } from "../../src/document/graph";
import {
  hasSettings,
  pathsOf,
  randomSeeds,
  settingsOf,
  settingsWords,
  tableOf,
  typedValues,
  variationsOf,
  withVariation,
  type Setting,
} from "../../src/editor/sweep/axes";

const PICTURE = readNode(
  JSON.stringify({
    id: "pic",
    type: "generate-image",
    position: { x: 0, y: 0 },
    data: { model: "a", inputs: { prompt: "a boat", count: 1 } },
  }),
)!;
const SCHEMA = {
  type: "object",
  properties: {
    prompt: { type: "string", title: "Prompt" },
    image: { type: "string", format: "media" },
    count: { type: "integer", minimum: 1, maximum: 4 },
    seed: { type: "integer", minimum: 0, maximum: 9 },
    size: { enum: ["small", "large"] },
    sandbox: { type: "object" },
  },
};
const MODELS = [
  { value: "a", title: "A" },
  { value: "b", title: "B" },
];
const settings = settingsOf(PICTURE, SCHEMA, MODELS, new Set(["prompt"]));
const setting = (name: string): Setting => settings.find((one) => one.name === name)!;

it("offers the model and settings, except those set by a link", () => {
  const offered = settings.map(({ name, kind, path }) => [name, kind, path.join(".")]);
  expect(offered).toEqual([
    ["model", "choice", "model"],
    ["count", "number", "inputs.count"],
    ["seed", "seed", "inputs.seed"],
    ["size", "choice", "inputs.size"],
  ]);
  expect(settingsOf(PICTURE, SCHEMA, MODELS.slice(1), new Set()).map(({ name }) => name)).not.toContain("model");
});

it("tries every combination, as a batch takes settings, and lays them out by both", () => {
  const axes = [
    { setting: setting("model"), values: ["a", "b"] },
    { setting: setting("seed"), values: [3, 4, 5] },
  ];
  const variations = variationsOf(axes);
  expect(variations).toHaveLength(6);
  expect(variations[4]).toEqual({ settings: { model: "b", inputs: { seed: 4 } }, at: [1, 1] });
  const titles = new Map([["b", "Model B"]]);
  expect(settingsWords(variations[4]!.settings, titles)).toBe("Model B · Seed 4");
  const table = tableOf(
    variations.map((one) => one.settings),
    titles,
  )!;
  expect(table.rows).toEqual(["a", "Model B"]);
  expect(table.columns).toEqual(["Seed 3", "Seed 4", "Seed 5"]);
  expect(table.cells).toEqual([
    [0, 1, 2],
    [3, 4, 5],
  ]);
  expect(
    tableOf(
      variations.slice(0, 5).map((one) => one.settings),
      titles,
    ),
  ).toBeUndefined();
  expect(tableOf([{ model: "a" }, { model: "b" }], titles)).toBeUndefined();
});

it("takes a variation over setting by setting, and knows that a node has it", () => {
  const graph = readDocGraph(`[${PICTURE.text}]`, "[]");
  const variation = { model: "b", inputs: { seed: 4 } };
  const [node] = nodesOf(withVariation(graph, "pic", variation));
  expect(node!.data).toEqual({ model: "b", inputs: { prompt: "a boat", count: 1, seed: 4 } });
  expect(hasSettings(node!, variation)).toBe(true);
  expect(hasSettings(PICTURE, variation)).toBe(false);
  expect(pathsOf(variation)).toEqual([
    [["model"], "b"],
    [["inputs", "seed"], 4],
  ]);
});

it("reads typed text as values within the setting's bounds, each once", () => {
  expect(typedValues(setting("count"), "1, 2;4 4")).toEqual({ values: [1, 2, 4] });
  expect(typedValues(setting("count"), "1, 7").problem).toContain("7 isn't between 1 and 4");
  expect(typedValues(setting("count"), "1.5").problem).toContain("whole number");
  expect(typedValues({ ...setting("size"), kind: "text" }, "a fox, asleep\n\na fox\na fox")).toEqual({
    values: ["a fox, asleep", "a fox"],
  });
});

it("draws seeds that differ and that the model takes", () => {
  const seeds = randomSeeds(setting("seed"), 12);
  expect(new Set(seeds).size).toBe(10);
  expect(seeds.every((seed) => seed >= 0 && seed <= 9)).toBe(true);
});
