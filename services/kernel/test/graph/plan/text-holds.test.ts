import fc from "fast-check";
import {
  actualMicroUsd,
  boundedMillicredits,
  callInputs,
  holdItems,
  itemHolds,
  millicreditsFor,
  planRun,
  type ModelTerms,
} from "@nodeloom/kernel";
import { graphOf, type Edge, type Node } from "../../support";

const MARKUP = 1_500;
const [IN, OUT] = [500_000, 1_500_000];
const schema = {
  type: "object",
  properties: {
    prompt: { type: "string" },
    system: { type: "string" },
    image: { type: "string", format: "media" },
    maxTokens: { type: "integer", default: 512, minimum: 1, maximum: 4_096 },
  },
};
const price = { basis: "tokens", inputMicroUsdPerMillion: IN, outputMicroUsdPerMillion: OUT } as const;
const model = (internalName: string, image: object = {}): ModelTerms => ({
  internalName,
  modality: "text",
  providerKind: "llm",
  price,
  inputSchema: { ...schema, properties: { ...schema.properties, image: { ...schema.properties.image, ...image } } },
  validate: () => [],
});
const reader: ModelTerms = {
  ...model("reader"),
  inputSchema: {
    ...schema,
    properties: {
      ...schema.properties,
      images: { type: "array", items: { type: "string", format: "media", "x-tokens": 1_000 }, maxItems: 8 },
    },
  },
};
const MODELS = new Map([model("chat"), model("seer", { "x-tokens": 48_169 }), reader].map((one) => [one.internalName, one]));

const planOf = (nodes: Node[], edges: Edge[] = [], inputs: Record<string, unknown> = {}) => {
  const { plan, issues } = planRun({
    graph: graphOf(nodes, edges),
    inputs: new Map(Object.entries(inputs)),
    models: MODELS,
    media: new Map(),
    markupPermille: MARKUP,
  });
  if (!plan) throw new Error(JSON.stringify(issues));
  return plan;
};
const heldFor = (data: Record<string, unknown>, model_ = "chat"): number =>
  holdItems(planOf([{ id: "chat", type: "llm-assistant", data: { model: model_, ...data } }]))[0]!.maxMillicredits;
const costOf = (inputTokens: number, outputTokens: number): number =>
  millicreditsFor(actualMicroUsd(price, schema, {}, { outputs: 1, inputTokens, outputTokens }), MARKUP);

it.each([
  ["the default", {}, 512],
  ["what was asked for", { maxTokens: 4_096 }, 4_096],
])("holds the longest answer: %s", (_, data, tokens) => {
  const heldAmount = heldFor({ prompt: "hi", ...data });
  expect(heldAmount).toBeGreaterThanOrEqual(costOf(2, tokens));
  expect(heldAmount).toBeLessThan(costOf(200, tokens) + 10);
});

it("holds the longest answer of the model if it is known only during the run", () => {
  const plan = planOf(
    [
      { id: "ask", type: "http-request", data: { url: "https://x.test" } },
      { id: "chat", type: "llm-assistant", data: { model: "chat", prompt: "hi" } },
    ],
    [["ask.body", "chat.maxTokens"]],
  );
  const heldItem = holdItems(plan).find((item) => item.key === "chat:0")!;
  expect(heldItem.maxMillicredits).toBeGreaterThanOrEqual(costOf(2, 4_096));
});

it("counts a literal that fills a template, together with values known only during the run", () => {
  const a = "word ".repeat(1_000);
  const plan = planOf(
    [
      { id: "ask", type: "http-request", data: { url: "https://x.test" } },
      { id: "chat", type: "llm-assistant", data: { model: "chat", prompt: "{{a}}{{a}}{{b}}", maxTokens: 1, inputs: { a } } },
    ],
    [["ask.status", "chat.b"]],
  );
  const heldItem = holdItems(plan).find((item) => item.key === "chat:0")!;
  expect(heldItem.maxMillicredits).toBeGreaterThanOrEqual(costOf(2 * a.length, 1));
});

it("counts each picture, and the maximum of linked ones", () => {
  const url = `data:image/png;base64,${"A".repeat(100_000)}`;
  const heldForImages = (count: number): number => heldFor({ prompt: "hi", images: Array<string>(count).fill(url) }, "reader");
  expect(heldForImages(1)).toBeLessThan(costOf(1_300, 512));
  expect(heldForImages(3) - heldForImages(1)).toBeGreaterThanOrEqual(costOf(2_000, 0) - 1);
  const plan = planOf(
    [
      { id: "ask", type: "http-request", data: { url: "https://x.test" } },
      { id: "chat", type: "llm-assistant", data: { model: "reader", prompt: "hi" } },
    ],
    [["ask.body", "chat.images"]],
  );
  expect(holdItems(plan).find(({ key }) => key === "chat:0")!.maxMillicredits).toBeGreaterThanOrEqual(costOf(8_000, 512));
});

it("counts a picture by its size, not by the length of its data URL", () => {
  const image = `data:image/png;base64,${"A".repeat(1_000_000)}`;
  const [without, small, large] = [
    heldFor({ prompt: "hi" }),
    heldFor({ prompt: "hi", image: "https://x.test/a.png" }),
    heldFor({ prompt: "hi", image }),
  ];
  expect(large).toBe(small);
  expect(large - without).toBeLessThanOrEqual(costOf(2_000, 0) + 2);
  expect(heldFor({ prompt: "hi", image }, "seer") - without).toBeGreaterThanOrEqual(costOf(48_169, 0) - 2);
});

it("covers a template's text, however often it repeats its values", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("{{a}}", "{{b}}", "word ", "ü", "\\{{a}}"), { maxLength: 40, size: "max" }),
      fc.string({ maxLength: 300, unit: "grapheme" }),
      fc.string({ maxLength: 50 }),
      fc.integer({ min: 1, max: 4_096 }),
      (parts, a, b, maxTokens) => {
        const data = { model: "chat", prompt: `p${parts.join("")}`, maxTokens };
        const plan = planOf(
          [
            { id: "in", type: "request-input", data: { fields: ["a", "b"].map((name) => ({ name, type: "text" })) } },
            { id: "chat", type: "llm-assistant", data },
          ],
          ["a", "b"].filter((name) => (parts as string[]).includes(`{{${name}}}`)).map((name): Edge => [`in.${name}`, `chat.${name}`]),
          { a, b },
        );
        const promptText = callInputs(plan.steps[0]!, { a, b }).prompt as string;
        // A tokenizer never makes more tokens than there are bytes.
        const worst = costOf(Buffer.byteLength(promptText), maxTokens);
        expect(holdItems(plan)[0]!.maxMillicredits).toBeGreaterThanOrEqual(worst);
      },
    ),
  );
});

/** A text that only the run determines, and a chat with this text as its input. */
const openChat = (data: Record<string, unknown> = {}) =>
  planOf(
    [
      { id: "ask", type: "http-request", data: { url: "https://x.test" } },
      { id: "chat", type: "llm-assistant", data: { model: "chat", prompt: "Sum up: {{a}}", maxTokens: 100, ...data } },
    ],
    [["ask.body", "chat.a"]],
  ).steps.find(({ id }) => id === "chat")!;

it("holds the cost of a typical call for a text that only the run determines, and at least the call's cost once it is known", () => {
  const step = openChat();
  expect(itemHolds(step, 0)).toMatchObject([{ maxMillicredits: step.typical!.millicredits }]);
  expect(step.typical!.millicredits).toBeLessThan(costOf(1_500, 100));
  expect(step.maxMillicredits).toBeGreaterThan(100 * step.typical!.millicredits);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 250_000 }), fc.constantFrom("a", "ü", "語", '"', "😀"), (bytes, sign) => {
      const prompt = `Sum up: ${sign.repeat(bytes / Buffer.byteLength(sign))}`;
      const bound = boundedMillicredits(step, { prompt, maxTokens: 100 });
      expect(bound).toBeGreaterThanOrEqual(costOf(Buffer.byteLength(prompt), 100));
      expect(bound).toBeLessThanOrEqual(step.maxMillicredits);
    }),
  );
});

it("limits the price by maxInputChars, and rejects texts that are known to be longer", () => {
  const step = openChat({ maxInputChars: 2_000 });
  expect(step.maxMillicredits).toBeLessThan(costOf(3 * 2_000 + 200, 100));
  expect(step.maxMillicredits).toBeGreaterThanOrEqual(costOf(3 * 2_000, 100));
  const longer = { model: "chat", prompt: "a".repeat(2_001), maxInputChars: 2_000 };
  const planning = (): unknown => planOf([{ id: "chat", type: "llm-assistant", data: longer }]);
  expect(planning).toThrow("the texts have 2001 characters, and maxInputChars allows 2000");
});

it("holds the maximum of a known text", () => {
  const plan = planOf([{ id: "chat", type: "llm-assistant", data: { model: "chat", prompt: "hi" } }]);
  expect(plan.steps[0]).toMatchObject({ isMetered: true });
  expect(plan.steps[0]!.typical).toBeUndefined();
});
