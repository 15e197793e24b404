import {
  actualMicroUsd,
  callInputs,
  characterCount,
  estimateMillicredits,
  generatorUses,
  holdItems,
  planRun,
  type ModelTerms,
  type Price,
} from "@nodeloom/kernel";
import { graphOf, model, MODELS, type Edge, type Node } from "../../support";

/** 0.10 USD per thousand characters is 100 micro-dollars per character, or 0.015 credits at a markup of 1.5. */
const PRICE: Price = { basis: "characters", microUsdPerThousand: 100_000 };
const MILLICREDITS_PER_CHARACTER = 15;
const MARKUP = 1_500;
const LONGEST = 200;
const inputSchema = {
  type: "object",
  additionalProperties: false,
  required: ["prompt"],
  properties: { prompt: { type: "string", maxLength: LONGEST }, speed: { type: "number" } },
};
const models = new Map<string, ModelTerms>([...MODELS, model("voice", "audio", PRICE, inputSchema)]);

const voice = (data: object = {}): Node => ({ id: "voice", type: "generate-audio", data: { model: "voice", ...data } });
const chat: Node = { id: "chat", type: "llm-assistant", data: { model: "chat", prompt: "a line" } };
const field = (fallback?: string): Node => ({
  id: "in",
  type: "request-input",
  data: { fields: [{ name: "line", type: "text", ...(fallback === undefined ? {} : { default: fallback }) }] },
});

/** The hold of each voice call, in characters. */
const heldPrices = (nodes: Node[], edges: Edge[] = [], inputs: Record<string, unknown> = {}): number[] => {
  const request = {
    graph: graphOf(nodes, edges),
    inputs: new Map(Object.entries(inputs)),
    models,
    media: new Map(),
    markupPermille: MARKUP,
  };
  const { plan, issues } = planRun(request);
  if (!plan) throw new Error(JSON.stringify(issues));
  const calls = holdItems(plan).filter((item) => item.model === "voice");
  return calls.map(({ maxMillicredits }) => maxMillicredits / MILLICREDITS_PER_CHARACTER);
};
const estimated = (nodes: Node[], edges: Edge[] = []): number =>
  estimateMillicredits(generatorUses(graphOf(nodes, edges)), models, MARKUP)! / MILLICREDITS_PER_CHARACTER;

describe("a price per character", () => {
  it("holds for the exact prompt if it is known before the run", () => {
    expect(heldPrices([voice({ prompt: "ten chars." })])).toEqual([10]);
    expect(heldPrices([field(), voice({ prompt: "Dear {{line}}!" })], [["in.line", "voice.line"]], { line: "heron" })).toEqual([11]);
    expect(heldPrices([field(), voice({ prompt: "unused" })], [["in.line", "voice.prompt"]], { line: "abc" })).toEqual([3]);
  });

  it("holds for the longest prompt of a known list", () => {
    const lines: Node = { id: "lines", type: "list", data: { items: ["a", "four", "to"] } };
    expect(heldPrices([lines, voice()], [["lines.items", "voice.prompt"]])).toEqual([4, 4, 4]);
  });

  it("holds for the longest possible prompt if later nodes provide all or part of it", () => {
    expect(heldPrices([chat, voice()], [["chat.text", "voice.prompt"]])).toEqual([LONGEST]);
    expect(heldPrices([chat, voice({ prompt: "{{line}}" })], [["chat.text", "voice.line"]])).toEqual([LONGEST]);
    // Unknown numbers don't change the price.
    expect(heldPrices([chat, voice({ prompt: "abc" })], [["chat.text", "voice.speed"]])).toEqual([3]);
  });

  it("never costs more than was held", () => {
    for (const text of ["", "a", "x".repeat(LONGEST), "日本語", "👩‍🚀👍🏽", "a\u0301"]) {
      const { plan } = planRun({
        graph: graphOf([voice({ prompt: text })], []),
        inputs: new Map(),
        models,
        media: new Map(),
        markupPermille: 1_000,
      });
      const [step] = plan!.steps;
      const actual = actualMicroUsd(PRICE, inputSchema, callInputs(step!, {}), { outputs: 1 });
      expect(actual).toBe(characterCount(text) * 100);
      expect(step!.maxMillicredits * 10).toBe(actual);
    }
  });

  it("counts characters, not UTF-16 units, and rounds up to a micro-dollar", () => {
    expect(characterCount("😀é")).toBe(2);
    expect(actualMicroUsd({ basis: "characters", microUsdPerThousand: 1 }, inputSchema, { prompt: "abc" }, { outputs: 1 })).toBe(1);
  });

  it("rejects a prompt that is longer than any hold covers", () => {
    expect(() => heldPrices([voice({ prompt: "x".repeat(LONGEST + 1) })])).toThrow("prompt");
  });

  it("is estimated from a saved graph: from the prompt, a field's default, a text box, or else the longest prompt", () => {
    expect(estimated([voice({ prompt: "abcde" })])).toBe(5);
    expect(estimated([voice({ inputs: { prompt: "abc" } })])).toBe(3);
    expect(estimated([field("hi"), voice({ prompt: "unused" })], [["in.line", "voice.prompt"]])).toBe(2);
    const box: Node = { id: "box", type: "text-box", data: { text: "four" } };
    expect(estimated([box, voice()], [["box.text", "voice"]])).toBe(4);
    expect(estimated([field(), voice()], [["in.line", "voice.prompt"]])).toBe(LONGEST);
    expect(estimated([chat, voice({ prompt: "abc" })], [["chat.text", "voice.prompt"]])).toBe(LONGEST);
    // Texts aren't stored.
    expect(JSON.stringify(generatorUses(graphOf([voice({ prompt: "secret words" })], [])))).not.toContain("secret");
  });
});
