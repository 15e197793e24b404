import {
  actualMicroUsd,
  estimateMillicredits,
  generatorUses,
  pricedInputNames,
  pricedInputs,
  readWrittenPrice,
  worstCaseMicroUsd,
  writePrice,
  type Price,
  type WrittenPrice,
} from "@nodeloom/kernel";
import { graphOf } from "../../support";

const schema = {
  type: "object",
  required: ["prompt"],
  properties: {
    prompt: { type: "string", maxLength: 1_000 },
    resolution: { type: "string", enum: ["480p", "720p", "1080p"], default: "720p" },
    audio: { type: "boolean", default: false },
    seconds: { type: "integer", default: 5, maximum: 10 },
    count: { type: "integer", default: 1, maximum: 4 },
    image: { type: "string", format: "media" },
    size: { type: "string", enum: ["square", "wide", "1024x1536"], default: "square" },
    width: { type: "integer", default: 1_000, maximum: 4_000 },
    height: { type: "integer", default: 1_000, maximum: 2_000 },
  },
};
const writtenPrice: WrittenPrice = {
  table: [
    { when: { resolution: "1080p", audio: true }, perSecondUsd: 0.4 },
    { when: { resolution: ["720p", "1080p"] }, perSecondUsd: 0.2 },
    { perSecondUsd: 0.1 },
  ],
  factors: [
    { when: { image: { given: true } }, times: 1.5 },
    { when: { seconds: { atMost: 2 } }, times: 2 },
  ],
};
const VIDEO = readWrittenPrice(writtenPrice);
const worst = (price: Price, inputs: object, unknown: string[] = []): number =>
  worstCaseMicroUsd({ price, schema, inputs: inputs as Record<string, unknown>, unknown: new Set(unknown), inputTokens: 0 });
const actual = (price: Price, inputs: object, outputs = 1, answer?: (place: string) => unknown): number =>
  actualMicroUsd(price, schema, inputs as Record<string, unknown>, { outputs, ...(answer ? { answer } : {}) });

describe("a table", () => {
  it.each<[string, object, number]>([
    ["the first row that holds", { resolution: "1080p", audio: true }, 2_000_000],
    ["one of several values", { resolution: "1080p" }, 1_000_000],
    ["a default where an input is left out", {}, 1_000_000],
    ["the last row where no other holds", { resolution: "480p", audio: true }, 500_000],
    ["a factor", { resolution: "480p", image: "https://x.test/a.png" }, 750_000],
    ["every factor that holds", { resolution: "480p", image: "https://x.test/a.png", seconds: 2 }, 600_000],
  ])("has the price of %s, exact before a run and equal after it", (_what, inputs, cost) => {
    expect(worst(VIDEO, inputs)).toBe(cost);
    expect(actual(VIDEO, inputs)).toBe(cost);
  });

  it.each<[string, object, string[], number]>([
    ["the dearest row that may come", { audio: true }, ["resolution"], 2_000_000],
    ["no row that can't come any more", { audio: false }, ["resolution"], 1_000_000],
    ["a factor that may come", { resolution: "480p" }, ["image"], 750_000],
    ["no factor below one that may not come", { resolution: "480p", seconds: 5 }, ["count"], 500_000],
    ["the most of what is counted", { resolution: "480p" }, ["seconds"], 2_000_000],
  ])("holds %s while an input is unknown", (_what, inputs, unknown, most) => {
    expect(worst(VIDEO, inputs, unknown)).toBe(most);
  });

  it("is never below the actual cost, whatever the inputs", () => {
    for (const resolution of ["480p", "720p", "1080p"])
      for (const audio of [true, false])
        for (const seconds of [1, 2, 3, 10])
          for (const image of [undefined, "https://x.test/a.png"]) {
            const inputs = { resolution, audio, seconds, image };
            const cost = actual(VIDEO, inputs);
            for (const unknown of [["resolution"], ["audio"], ["seconds"], ["image"], ["resolution", "audio", "seconds", "image"]]) {
              const knownInputs = Object.fromEntries(Object.entries(inputs).filter(([name]) => !unknown.includes(name)));
              expect(worst(VIDEO, knownInputs, unknown)).toBeGreaterThanOrEqual(cost);
            }
          }
  });

  it("sends every input that it depends on, so that the provider doesn't determine the price", () => {
    expect(pricedInputNames(VIDEO).sort()).toEqual(["audio", "image", "resolution", "seconds"]);
    expect(pricedInputs(VIDEO, schema, { prompt: "x", audio: true })).toEqual({ prompt: "x", audio: true, resolution: "720p", seconds: 5 });
  });

  it("is written as it was read, in any currency", () => {
    expect(writePrice(VIDEO, "Usd", (microUsd) => microUsd / 1_000_000)).toEqual(writtenPrice);
    expect(readWrittenPrice(JSON.parse(JSON.stringify(writtenPrice)) as WrittenPrice)).toEqual(VIDEO);
    expect(writePrice(VIDEO, "Credits", (microUsd) => microUsd / 10_000)).toMatchObject({ table: [{ perSecondCredits: 40 }, {}, {}] });
  });

  it("prices a saved graph by its settings", () => {
    const uses = (data: object) => generatorUses(graphOf([{ id: "v", type: "generate-video", data: { model: "v", ...data } }], []));
    const estimate = (data: object): number | null =>
      estimateMillicredits(uses(data), new Map([["v", { price: VIDEO, inputSchema: schema }]]), 1_000);
    expect([estimate({}), estimate({ inputs: { resolution: "1080p", audio: true } }), estimate({ resolution: "480p" })]).toEqual([
      100_000, 200_000, 50_000,
    ]);
    expect(JSON.stringify(uses({ inputs: { prompt: "word", style: "a secret style" } }))).not.toMatch(/word|secret/);
  });
});

describe("megapixels", () => {
  const namedSizes: Price = readWrittenPrice({
    perMegapixelUsd: 0.003,
    megapixels: { size: "size", sizes: { square: [1_024, 1_024], wide: [1_920, 1_080] }, pixels: 1_048_576, roundUp: true },
  });
  const sides: Price = readWrittenPrice({ perMegapixelUsd: 0.01, megapixels: { width: "width", height: "height" } });

  it.each<[object, number]>([
    [{}, 3_000],
    [{ size: "wide" }, 6_000],
    [{ size: "1024x1536" }, 6_000],
    [{ size: "square", count: 3 }, 9_000],
  ])("of a named or stated size, rounded up as the provider does: %j", (inputs, cost) => {
    expect([worst(namedSizes, inputs), actual(namedSizes, inputs, 3)]).toEqual([cost, cost]);
  });

  it("of two sides, in parts", () => {
    expect(worst(sides, { width: 500, height: 500 })).toBe(2_500);
    expect(worst(sides, {}, ["width"])).toBe(80_000);
  });

  it("are at their maximum while the size is unknown", () => {
    expect(worst(namedSizes, {}, ["size"])).toBe(6_000);
    expect(worst(readWrittenPrice({ perMegapixelUsd: 0.003, megapixels: { size: "size", most: 4 } }), { size: "strange" })).toBe(12_000);
  });
});

describe("the cost stated in a response", () => {
  const tokens: Price = readWrittenPrice({
    table: [{ perImageUsd: 0.25 }],
    actual: [
      { at: "/in", perMillionUsd: 5 },
      { at: "/out", perMillionUsd: 30 },
    ],
  });
  const says = (answer: Record<string, unknown>) => (place: string) => answer[place.slice(1)];

  it("is charged, summed up", () => {
    expect(actual(tokens, {}, 1, says({ in: 100, out: 4_000 }))).toBe(120_500);
    expect(actual(tokens, {}, 1, says({ out: 1 }))).toBe(30);
    expect(actual(readWrittenPrice({ perRunUsd: 1, actual: [{ at: "/cost", eachUsd: 1 }] }), {}, 1, says({ cost: 0.4 }))).toBe(400_000);
  });

  it.each([{}, { out: "4000" }, { out: -1 }, { out: null }])("is replaced by the price if it is invalid: %j", (answer) => {
    expect(actual(tokens, {}, 1, says(answer))).toBe(250_000);
    expect(actual(tokens, {}, 1)).toBe(250_000);
  });
});

it("treats an input with the name of an inherited member as unset until it is set", () => {
  const price = readWrittenPrice({
    perRunUsd: 1,
    factors: [{ when: { constructor: { given: true } }, times: 2 }],
  } as unknown as WrittenPrice);
  const of = { type: "object", properties: { constructor: { type: "string" } } };
  const costOf = (inputs: object): number => actualMicroUsd(price, of, inputs as Record<string, unknown>, { outputs: 1 });
  expect([costOf({}), costOf({ constructor: "x" })]).toEqual([1_000_000, 2_000_000]);
});
