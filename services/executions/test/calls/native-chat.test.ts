import { TIMING } from "../../src/run/timing";
import { classifyFailure } from "../../src/calls/failures";
import type { WrittenText } from "../../src/calls/texts";
import { ProviderError } from "@nodeloom/providers";
import type { CallResult } from "../../src/run/types";
import type { ModelCall } from "../../src/run/calls";
import { callOf, live, modelCalls, peer, PRICES, soon, unheard, until, usePeer, type Answer } from "../support/model-calls";
import {
  answers,
  anthropicDelta,
  anthropicEnd,
  anthropicStream,
  events,
  geminiPiece,
  native,
  pieces,
  wholeText,
} from "../support/native-chat";

usePeer();

type Dialect = "anthropic" | "gemini";
const DIALECTS: Dialect[] = ["anthropic", "gemini"];
const PIXEL = "iVBORw0KGgoAAAANSUhEUg==";

const run = (settings: Record<string, unknown>, part: Partial<ModelCall> = {}, textStream = unheard): Promise<CallResult> =>
  modelCalls(settings, "text").text(callOf({ price: PRICES.text!, ...part }), live, soon(), textStream);
const failureOf = (settings: Record<string, unknown>): Promise<unknown> => run(settings).then(() => undefined, (error: unknown) => error); // prettier-ignore
const listen = (): { pieces: string[]; written: WrittenText } => {
  const streamedTexts: string[] = [];
  return { pieces: streamedTexts, written: { restart: () => streamedTexts.push("<restart>"), write: (text) => streamedTexts.push(text) } };
};
const sentBody = (): Record<string, unknown> => peer.requests.at(-1)!.body;

describe.each(DIALECTS)("a text model with the dialect %s", (dialect) => {
  it("returns its text without its thoughts, at the price of all counted tokens", async () => {
    answers(dialect, () => wholeText[dialect]("Hello"));
    expect(await run(native(dialect))).toMatchObject({
      text: "Hello",
      costMicroUsd: 17,
      requestId: expect.stringMatching(/^(msg_1|r1)$/) as string,
    });
  });

  it("streams piece by piece, with the same result as a complete response", async () => {
    answers(dialect, () => pieces[dialect](["Once ", "upon ✓"]));
    const { pieces: texts, written } = listen();
    const result = await run(native(dialect, { stream: true }), {}, written);
    expect(texts).toEqual(["<restart>", "Once ", "upon ✓"]);
    expect(result).toMatchObject({ text: "Once upon ✓", costMicroUsd: 17 });
  });

  it("can answer at once although a stream was requested", async () => {
    answers(dialect, () => wholeText[dialect]("whole"));
    expect(await run(native(dialect, { stream: true }))).toMatchObject({ text: "whole" });
  });

  it("returns no text if its stream breaks off, whatever had arrived", async () => {
    const { raw = "", headers } = pieces[dialect](["Once "]);
    const cut = raw.slice(0, raw.indexOf("Once ") + 20);
    answers(dialect, () => ({ raw: `${cut.slice(0, cut.lastIndexOf("\n") + 1)}\n`, headers: headers! }));
    expect(await failureOf(native(dialect, { stream: true }))).toMatchObject({ reason: "PROVIDER_SUBMIT_FAILED" });
  });

  it("reports that an answer was cut", async () => {
    const end = { anthropic: "max_tokens", gemini: "MAX_TOKENS" }[dialect];
    answers(dialect, () => wholeText[dialect]("[1,", end));
    const { problems } = await run(native(dialect), { schema: { type: "array" } });
    expect(problems).toContain("it ends where the most tokens were reached");
  });

  it("gets the system prompt and the schema as text if its entry has no mode for them", async () => {
    answers(dialect, () => wholeText[dialect]("[1]"));
    expect(await run(native(dialect), { schema: { type: "array" }, inputs: { prompt: "hi", system: "Be brief." } })).toMatchObject({
      json: { value: [1] },
    });
    const system = JSON.stringify(sentBody().system ?? sentBody().systemInstruction);
    expect(system).toMatch(/Be brief\..*Answer with JSON alone/);
  });

  it("gets its previous answer and the problems, in its own roles", async () => {
    answers(dialect, () => wholeText[dialect]("[1]"));
    await run(native(dialect), { schema: { type: "array" }, repair: { answer: "words", problems: ["it isn't JSON"] } });
    const turns = (sentBody().messages ?? sentBody().contents) as { role: string }[];
    expect(turns.map(({ role }) => role)).toEqual(["user", dialect === "gemini" ? "model" : "assistant", "user"]);
    expect(JSON.stringify(turns[1])).toContain("words");
    expect(JSON.stringify(turns[2])).toContain("it isn't JSON");
  });

  it("gets the earlier turns before the prompt, in its own roles", async () => {
    answers(dialect, () => wholeText[dialect]("Green."));
    const history = [
      { role: "user", content: "A colour?" },
      { role: "assistant", content: "Blue." },
    ];
    const { usage } = await run(native(dialect), { inputs: { prompt: "Another?", history } });
    const turns = (sentBody().messages ?? sentBody().contents) as { role: string }[];
    expect(turns.map(({ role }) => role)).toEqual(["user", dialect === "gemini" ? "model" : "assistant", "user"]);
    expect(turns.map((turn) => /A colour\?|Blue\.|Another\?/.exec(JSON.stringify(turn))?.[0])).toEqual(["A colour?", "Blue.", "Another?"]);
    expect(sentBody()).not.toHaveProperty("history");
    expect(sentBody()).not.toHaveProperty("generationConfig.history");
    expect(usage).toEqual({ inputTokens: expect.any(Number) as number, outputTokens: expect.any(Number) as number });
  });

  it("accepts several pictures and a document, inside the request and by address", async () => {
    answers(dialect, () => wholeText[dialect]("A loom."));
    const files = { images: { send: ["url", "data-url"] }, document: { send: ["data-url"] } };
    const images = [`data:image/png;base64,${PIXEL}`, "https://files.test/b.jpg"];
    const inputs = { prompt: "What is it?", images, document: "data:application/pdf;base64,JVBERi0xLjQ=" };
    expect(await run(native(dialect, { files }), { inputs })).toMatchObject({ text: "A loom." });
    const parts = JSON.stringify(sentBody());
    expect(["image/png", PIXEL, "https://files.test/b.jpg", "application/pdf", "JVBERi0xLjQ="].map((one) => parts.includes(one))).toEqual(
      Array(5).fill(true),
    );
    expect(parts.indexOf(PIXEL)).toBeLessThan(parts.indexOf("What is it?"));
    expect(sentBody()).not.toHaveProperty("images");
  });

  it("sends the entry's members in every request, and other inputs in the API's places", async () => {
    answers(dialect, () => wholeText[dialect]("x"));
    const parameters = {
      anthropic: { metadata: { user_id: "us" } },
      gemini: { generationConfig: { thinkingConfig: { thinkingBudget: 0 } }, safetySettings: [{ category: "C", threshold: "OFF" }] },
    }[dialect];
    const more = dialect === "gemini" ? { topK: 3 } : { top_k: 3 };
    await run(native(dialect, { parameters }), { inputs: { prompt: "hi", temperature: 0.5, maxTokens: 7, ...more } });
    const body = sentBody();
    expect({ ...body, ...(body.generationConfig as object) }).toMatchObject({
      ...(dialect === "gemini" ? { maxOutputTokens: 7, thinkingConfig: { thinkingBudget: 0 } } : { max_tokens: 7, ...parameters }),
      temperature: 0.5,
      ...more,
    });
  });

  it("stops with its run", async () => {
    const cancelled = new AbortController();
    answers(dialect, () => {
      cancelled.abort(new Error("cancelled"));
      return pieces[dialect](["x"]);
    });
    const { text } = modelCalls(native(dialect, { stream: true }), "text");
    await expect(text(callOf({ price: PRICES.text! }), cancelled.signal, soon(), unheard)).rejects.toThrow("cancelled");
    expect(peer.requests).toHaveLength(1);
  });

  it.each([
    ["429 without Retry-After", 429, { error: { message: "slow down" } }],
    ["overload", dialect === "gemini" ? 503 : 529, { error: { status: "UNAVAILABLE", type: "overloaded_error", message: "busy" } }],
  ])("is called again after %s", async (_name, status, body) => {
    answers(dialect, () => (peer.requests.length < 3 ? { status, body } : wholeText[dialect]("x")));
    expect(await run(native(dialect))).toMatchObject({ text: "x" });
    expect(peer.requests).toHaveLength(3);
  });

  it("is not called again after a rejection, whose message is shown without the key", async () => {
    answers(dialect, () => ({
      status: 400,
      body: { error: { type: "invalid_request_error", message: "no credit for super-secret-value" } },
    }));
    const failure = await failureOf(native(dialect));
    expect(failure).toMatchObject({ reason: "PROVIDER_SUBMIT_FAILED", metadata: { providerStatus: 400 } });
    expect((failure as Error).message).toMatch(/no credit for \[secret\]/);
    expect(peer.requests).toHaveLength(1);
  });
});

describe("structured output of Anthropic's models", () => {
  const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  const tool = (input: unknown): Answer => ({
    body: {
      id: "m",
      content: [{ type: "tool_use", id: "t", name: "answer", input }],
      stop_reason: "tool_use",
      usage: { output_tokens: 1 },
    },
  });

  it("is requested with the API's mode, with closed objects", async () => {
    answers("anthropic", () => wholeText.anthropic('{"name":"Ada"}'));
    expect(await run(native("anthropic", { structuredOutput: "json_schema" }), { schema })).toMatchObject({
      json: { value: { name: "Ada" } },
    });
    expect(sentBody().output_config).toEqual({ format: { type: "json_schema", schema: { ...schema, additionalProperties: false } } });
    expect(sentBody()).not.toHaveProperty("tools");
  });

  it.each<[string, Record<string, unknown>, unknown]>([
    ["an object of any members", { type: "object", additionalProperties: { type: "number" } }, { n: 3 }],
    ["a bound", { type: "object", properties: { n: { type: "integer", minimum: 3 } } }, { n: 3 }],
    ["a pattern deep inside", { type: "array", items: { anyOf: [{ type: "string", pattern: "^a" }] } }, ["a"]],
    ["a bound of any value", { minProperties: 1 }, { answer: "a" }],
  ])("is requested in words if that mode doesn't support %s: newer models reject forced tools", async (_name, unsaid, value) => {
    answers("anthropic", () => wholeText.anthropic(JSON.stringify(value)));
    const result = await run(native("anthropic", { structuredOutput: "json_schema" }), { schema: unsaid });
    expect(result).toMatchObject({ json: { value } });
    for (const member of ["output_config", "tools", "tool_choice"]) expect(sentBody()).not.toHaveProperty(member);
    expect(sentBody().system).toContain(JSON.stringify(unsaid));
  });

  it("is read from a tool's arguments, and unwrapped from the object of other answers", async () => {
    answers("anthropic", () => tool({ answer: [1, 2] }));
    expect(await run(native("anthropic", { structuredOutput: "tool" }), { schema: { type: "array" } })).toMatchObject({
      text: "[1,2]",
      json: { value: [1, 2] },
    });
  });

  it("is streamed while a tool gets it", async () => {
    answers("anthropic", () =>
      anthropicStream(
        { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t", name: "answer", input: {} } },
        ...['{"na', 'me":"Ada"}'].map((partial_json) => anthropicDelta({ type: "input_json_delta", partial_json })),
        ...anthropicEnd("tool_use"),
      ),
    );
    const { pieces: texts, written } = listen();
    const result = await run(native("anthropic", { structuredOutput: "tool", stream: true }), { schema }, written);
    expect(texts.slice(1)).toEqual(['{"na', 'me":"Ada"}']);
    expect(result).toMatchObject({ json: { value: { name: "Ada" } } });
  });
});

describe("a refusal of Anthropic's models", () => {
  it("is reported as a rejection without the key, even if its text is cut within the key", async () => {
    const explanation = `${"x".repeat(295)} super-secret-value ${"y".repeat(900)}`;
    const refusalFields = { stop_reason: "refusal", stop_details: { type: "refusal", category: "cyber", explanation } };
    answers("anthropic", () => ({ body: { id: "m", content: [], ...refusalFields, usage: { input_tokens: 1, output_tokens: 1 } } }));
    expect(((await failureOf(native("anthropic"))) as Error).message).toMatch(/x \[secret\] y+…$/);
  });

  it("is reported as a rejection, complete and in a stream", async () => {
    const refusalFields = { stop_reason: "refusal", stop_details: { type: "refusal", category: "cyber", explanation: "not that" } };
    answers("anthropic", () => ({ body: { id: "m", content: [], ...refusalFields, usage: { input_tokens: 1, output_tokens: 1 } } }));
    expect(await failureOf(native("anthropic"))).toMatchObject({ message: "m: the model refuses this: not that" });
    answers("anthropic", () => anthropicStream({ type: "message_delta", delta: refusalFields, usage: {} }, { type: "message_stop" }));
    expect(await failureOf(native("anthropic", { stream: true }))).toMatchObject({ message: "m: the model refuses this: not that" });
    expect(peer.requests).toHaveLength(2);
  });

  it("waits for a model that is overloaded in the middle of a stream, and starts again", async () => {
    const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    answers("anthropic", () =>
      peer.requests.length < 2 ? anthropicStream(anthropicDelta({ type: "text_delta", text: "On" }), error) : pieces.anthropic(["Once"]),
    );
    const { pieces: texts, written } = listen();
    expect(await run(native("anthropic", { stream: true }), {}, written)).toMatchObject({ text: "Once" });
    expect(texts).toEqual(["<restart>", "On", "<restart>", "Once"]);
  });

  it("fails with other errors of a stream", async () => {
    answers("anthropic", () => anthropicStream({ type: "error", error: { type: "api_error", message: "broken super-secret-value" } }));
    expect(await failureOf(native("anthropic", { stream: true }))).toMatchObject({ message: "m: broken [secret]" });
    expect(peer.requests).toHaveLength(1);
  });
});

describe("Google's models", () => {
  it("get a schema with their own mode, unchanged", async () => {
    answers("gemini", () => wholeText.gemini("[1,2]"));
    const schema = { type: "array", items: { $ref: "#/$defs/a" }, $defs: { a: { type: "integer" } } };
    expect(await run(native("gemini", { structuredOutput: "json_schema" }), { schema })).toMatchObject({ json: { value: [1, 2] } });
    expect(sentBody().generationConfig).toMatchObject({ responseMimeType: "application/json", responseJsonSchema: schema });
  });

  it.each<[string, object]>([
    ["prompt", { promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }],
    ["answer", { candidates: [{ finishReason: "SAFETY" }] }],
  ])("report that a %s violates their rules, at once and in a stream", async (_what, blocked) => {
    answers("gemini", () => ({ body: blocked }));
    expect(await failureOf(native("gemini"))).toMatchObject({ message: expect.stringContaining("content policy") as string });
    answers("gemini", () => events(geminiPiece({ text: "So " }), blocked));
    expect(await failureOf(native("gemini", { stream: true }))).toMatchObject({
      message: expect.stringContaining("content policy") as string,
    });
    expect(peer.requests).toHaveLength(2);
  });

  it("fail without an answer for reasons of their own", async () => {
    answers("gemini", () => wholeText.gemini("", "MALFORMED_FUNCTION_CALL"));
    expect(await failureOf(native("gemini"))).toMatchObject({ message: expect.stringContaining("MALFORMED_FUNCTION_CALL") as string });
  });
});

describe("a refusal of Google's", () => {
  const refusalError = (details: object[], status = 429): ProviderError =>
    new ProviderError(
      "refused",
      "no",
      status,
      JSON.stringify({ error: { code: status, status: "RESOURCE_EXHAUSTED", details } }, null, 2).slice(0, 400),
    );

  it("states the time to retry", () => {
    expect(classifyFailure(refusalError([{ retryDelay: "34.5s" }]), false)).toEqual({ again: true, afterMs: 34_500, notReceived: true });
  });

  it("is final if a day's quota is used up", () => {
    const details = [{ violations: [{ quotaId: "GenerateRequestsPerDayPerProject" }] }, { retryDelay: "34s" }];
    expect(classifyFailure(refusalError(details), false)).toEqual({ again: false, notReceived: true });
  });
});

it("waits for no busy model beyond the time of its call", async () => {
  answers("anthropic", () => ({ status: 529 }));
  const began = Date.now();
  await expect(modelCalls(native("anthropic"), "text").text(callOf(), live, until(400), unheard)).rejects.toMatchObject({
    metadata: { providerStatus: 529 },
  });
  expect(Date.now() - began).toBeLessThan(TIMING.submitTotal);
});
