import type { CallResult } from "../../src/run/types";
import { callOf, live, modelCalls, peer, PRICES, soon, usePeer, type Answer } from "../support/model-calls";
import { events, native } from "../support/native-chat";

/** Tools of text models in each dialect: sent, called and answered. */

usePeer();

const PLACE = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const TOOLS = [{ type: "function", function: { name: "weather", description: "Tells it.", parameters: PLACE, strict: true } }];
const called = (id: string, city: string) => ({ id, type: "function", function: { name: "weather", arguments: JSON.stringify({ city }) } });
const ASKED = { prompt: "Rain in Oslo and Rome?", tools: TOOLS };
const STEPS = [
  { role: "assistant", content: "", tool_calls: [called("a", "Oslo"), called("b", "Rome")] },
  { role: "tool", content: "wet", tool_call_id: "a" },
  { role: "tool", content: "dry", tool_call_id: "b" },
];

const openAi = (part: Record<string, unknown> = {}) => ({ kind: "llm", baseUrl: `${peer.baseUrl}/v1`, model: "m", ...part });
const SETTINGS = {
  "openai-chat": openAi,
  anthropic: (part?: Record<string, unknown>) => native("anthropic", part),
  gemini: (part?: Record<string, unknown>) => native("gemini", part),
};
type Dialect = keyof typeof SETTINGS;
const DIALECTS = Object.keys(SETTINGS) as Dialect[];

const run = (settings: Record<string, unknown>, inputs: object, schema?: object): Promise<CallResult> =>
  modelCalls(settings, "text").text(
    callOf({ price: PRICES.text!, inputs: { ...inputs }, ...(schema ? { schema: { ...schema } } : {}) }),
    live,
    soon(),
    { restart: () => undefined, write: (text) => streamedTexts.push(text) },
  );
const sentBody = (): Record<string, unknown> => peer.requests.at(-1)!.body;
let streamedTexts: string[];
beforeEach(() => {
  streamedTexts = [];
});

/** Two calls in each dialect, as one response and as a stream. */
const WHOLE: Readonly<Record<Dialect, Answer>> = {
  "openai-chat": {
    body: { id: "c1", choices: [{ message: { content: null, tool_calls: STEPS[0]!.tool_calls }, finish_reason: "tool_calls" }] },
  },
  anthropic: {
    body: {
      id: "m1",
      content: [
        { type: "tool_use", id: "a", name: "weather", input: { city: "Oslo" } },
        { type: "tool_use", id: "b", name: "weather", input: { city: "Rome" } },
      ],
      stop_reason: "tool_use",
    },
  },
  gemini: {
    body: {
      responseId: "r1",
      candidates: [
        {
          content: {
            parts: [
              { functionCall: { id: "a", name: "weather", args: { city: "Oslo" } } },
              { functionCall: { id: "b", name: "weather", args: { city: "Rome" } } },
            ],
          },
          finishReason: "STOP",
        },
      ],
    },
  },
};
const openAiPiece = (delta: object, finish_reason: string | null = null) => ({ id: "c1", choices: [{ index: 0, delta, finish_reason }] });
const openAiCall = (index: number, text: string, id?: string) =>
  openAiPiece({
    tool_calls: [{ index, ...(id ? { id, type: "function" } : {}), function: { ...(id ? { name: "weather" } : {}), arguments: text } }],
  });
const anthropicUse = (index: number, id: string, ...pieces: string[]): object[] => [
  { type: "content_block_start", index, content_block: { type: "tool_use", id, name: "weather", input: {} } },
  ...pieces.map((partial_json) => ({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json } })),
];
const geminiCall = (id: string, city: string, finishReason?: string) => ({
  responseId: "r1",
  candidates: [{ content: { parts: [{ functionCall: { id, name: "weather", args: { city } } }] }, finishReason }],
});
const STREAMED: Readonly<Record<Dialect, Answer>> = {
  "openai-chat": events(
    openAiPiece({ role: "assistant", content: null }),
    openAiCall(0, "", "a"),
    openAiCall(0, '{"city":'),
    openAiCall(0, '"Oslo"}'),
    openAiCall(1, '{"city":"Rome"}', "b"),
    openAiPiece({}, "tool_calls"),
  ),
  anthropic: events(
    { type: "message_start", message: { id: "m1" } },
    ...anthropicUse(0, "a", '{"city":', '"Oslo"}'),
    ...anthropicUse(1, "b", '{"city":"Rome"}'),
    { type: "message_delta", delta: { stop_reason: "tool_use" } },
    { type: "message_stop" },
  ),
  gemini: events(geminiCall("a", "Oslo"), geminiCall("b", "Rome", "STOP")),
};

describe.each(DIALECTS)("a text model with the dialect %s", (dialect) => {
  it.each([
    ["at once", {}, WHOLE],
    ["in pieces", { stream: true }, STREAMED],
  ])("returns its tool calls, %s, in one form and not as text", async (_, part, answers) => {
    peer.answers = () => answers[dialect];
    const result = await run(SETTINGS[dialect](part), ASKED);
    expect(result).toMatchObject({ text: "", json: { value: { tool_calls: STEPS[0]!.tool_calls } } });
    expect(streamedTexts.join("")).toBe("");
  });

  it("is not asked to repair an answer that calls a tool, whatever schema its text must match", async () => {
    peer.answers = () => WHOLE[dialect];
    const structured = dialect === "anthropic" ? "tool" : "json_schema";
    const { problems, json } = await run(SETTINGS[dialect]({ structuredOutput: structured }), ASKED, { type: "object", required: ["x"] });
    expect([problems, json]).toEqual([undefined, { value: { tool_calls: STEPS[0]!.tool_calls } }]);
  });

  it("receives the tools, its tool choice, and earlier results, in order", async () => {
    peer.answers = () => WHOLE[dialect];
    await run(SETTINGS[dialect](), { ...ASKED, tool_choice: { type: "function", function: { name: "weather" } }, steps: STEPS });
    const { tools, tool_choice: choice, toolConfig, messages, contents } = sentBody();
    expect([tools, choice ?? toolConfig, messages ?? contents]).toEqual(
      {
        "openai-chat": [TOOLS, { type: "function", function: { name: "weather" } }, [{ role: "user", content: ASKED.prompt }, ...STEPS]],
        anthropic: [
          [{ name: "weather", description: "Tells it.", input_schema: PLACE }],
          { type: "tool", name: "weather" },
          [
            { role: "user", content: ASKED.prompt },
            {
              role: "assistant",
              content: [
                { type: "tool_use", id: "a", name: "weather", input: { city: "Oslo" } },
                { type: "tool_use", id: "b", name: "weather", input: { city: "Rome" } },
              ],
            },
            {
              role: "user",
              content: [
                { type: "tool_result", tool_use_id: "a", content: "wet" },
                { type: "tool_result", tool_use_id: "b", content: "dry" },
              ],
            },
          ],
        ],
        gemini: [
          [{ functionDeclarations: [{ name: "weather", description: "Tells it.", parametersJsonSchema: PLACE }] }],
          { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["weather"] } },
          [
            { role: "user", parts: [{ text: ASKED.prompt }] },
            {
              role: "model",
              parts: ["Oslo", "Rome"].map((city) => ({
                functionCall: { name: "weather", args: { city } },
                thoughtSignature: "skip_thought_signature_validator",
              })),
            },
            {
              role: "user",
              parts: ["wet", "dry"].map((result) => ({ functionResponse: { name: "weather", response: { result } } })),
            },
          ],
        ],
      }[dialect],
    );
    expect(sentBody()).not.toHaveProperty("steps");
    expect(sentBody()).not.toHaveProperty("generationConfig.tools");
  });
});

it("returns a text together with its tool calls", async () => {
  const message = { content: "I look.", tool_calls: STEPS[0]!.tool_calls };
  peer.answers = () => ({ body: { id: "c1", choices: [{ message, finish_reason: "tool_calls" }] } });
  expect(await run(openAi(), ASKED)).toMatchObject({ text: "I look.", json: { value: { tool_calls: STEPS[0]!.tool_calls } } });
});

it("returns the signature of a call to the provider that gave it", async () => {
  peer.answers = () => ({
    body: {
      responseId: "r1",
      candidates: [
        { content: { parts: [{ functionCall: { name: "weather", args: {} }, thoughtSignature: "sig" }] }, finishReason: "STOP" },
      ],
    },
  });
  const { json } = await run(native("gemini"), ASKED);
  const { tool_calls: calls } = json!.value as { tool_calls: object[] };
  await run(native("gemini"), { ...ASKED, steps: [{ role: "assistant", content: "", tool_calls: calls }] });
  expect(JSON.stringify(sentBody().contents)).toContain('"thoughtSignature":"sig"');
});
