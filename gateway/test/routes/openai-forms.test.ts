import { asOpenAiError } from "../../src/http/openai-errors";
import { inputsOf } from "../../src/routes/openai/inputs";
import { questionOf } from "../../src/routes/openai/messages";
import { detailsOf } from "../../src/routes/openai/transcripts";

/** Conversions of OpenAI's formats, without a platform. */

describe("parameters", () => {
  const schemaOf = (...names: string[]) => ({ properties: Object.fromEntries(names.map((name) => [name, {}])) });

  it.each([
    ["by their own name in any spelling", ["outputFormat"], { output_format: "png" }, { outputFormat: "png" }],
    ["by what models call them", ["count", "prompt"], { n: 2, input: "x" }, { count: 2, prompt: "x" }],
    ["not at all at their default", [], { n: 1, quality: "auto", top_p: 1 }, {}],
    ["as a ratio where there is no size", ["aspect_ratio"], { size: "1536x1024" }, { aspect_ratio: "3:2" }],
    ["as width and height", ["width", "height"], { size: "640x480" }, { width: 640, height: 480 }],
  ])("become inputs %s", (_, names, request, expected) => {
    expect(inputsOf(schemaOf(...names), request)).toEqual(expected);
  });

  it("go to the first input of their kind if none has their name, but not to one that is set or has another meaning", () => {
    const text = { type: "string" };
    const photo = { type: "string", format: "media", contentMediaType: "image/*" };
    const schema = { properties: { system: text, title: text, style: { ...text, enum: ["oil"] }, story: text, mask: photo, photo } };
    expect(inputsOf(schema, { prompt: "x", image: ["a"] }, { own: { title: "T" } })).toEqual({ title: "T", story: "x", photo: "a" });
    expect(inputsOf({ properties: { photo } }, { prompt: "x" }, { ignored: new Set(["prompt"]) })).toEqual({});
    expect(() => inputsOf({ properties: { photo } }, { prompt: "x" })).toThrow("prompt");
  });

  it("become one value or a list, as the input requires", () => {
    const list = { properties: { images: { type: "array" } } };
    expect(inputsOf(list, { image: ["a"] })).toEqual({ images: ["a"] });
    expect(inputsOf(schemaOf("image"), { image: ["a"] })).toEqual({ image: "a" });
  });
});

describe("messages", () => {
  it("are sent unchanged if there is one turn, and as a transcript if there are more", () => {
    const system = { role: "system" as const, content: "Be brief." };
    const picture = { type: "image_url" as const, image_url: { url: "https://example.com/a.png" } };
    const question = { role: "user" as const, content: [{ type: "text" as const, text: "What is it?" }, picture] };
    const images = { image: ["https://example.com/a.png"] };
    for (const turns of [true, false])
      expect(questionOf([system, question], { turns, tools: turns })).toEqual({ prompt: "What is it?", system: "Be brief.", ...images });
    const answer = { role: "assistant" as const, content: "A hat." };
    const turns = [question, answer, { role: "user" as const, content: "Sure?" }];
    expect(questionOf(turns, { turns: false, tools: false }).prompt).toBe(
      "User: What is it?\n\nAssistant: A hat.\n\nUser: Sure?\n\nAssistant:",
    );
    expect(questionOf(turns, { turns: true, tools: false })).toEqual({
      prompt: "Sure?",
      history: [{ role: "user", content: "What is it?" }, answer],
      ...images,
    });
    // An unfinished assistant turn doesn't count as a question.
    expect(questionOf([question, answer], { turns: true, tools: true })).toEqual({
      prompt: "User: What is it?\n\nAssistant: A hat.\n\nAssistant:",
      ...images,
    });
  });
});

it("returns errors in OpenAI's form, with the parameter that they concern", () => {
  const issues = [{ path: "size", message: "no" }];
  const { body, headers } = asOpenAiError({ status: 400, headers: {}, body: { error: "bad", code: "INVALID_REQUEST", issues } });
  expect(body).toEqual({ error: { message: "bad", type: "invalid_request_error", param: "size", code: "INVALID_REQUEST", issues } });
  expect(headers).toEqual({ "x-should-retry": "false" });
  const ofInput = asOpenAiError({
    status: 400,
    headers: {},
    body: { error: "bad", issues: [{ path: "inputs.temperature", message: "no" }] },
  });
  expect(ofInput.body).toMatchObject({ error: { param: "temperature" } });
});

it.each<[string, number, object, string | undefined]>([
  ["RATE_LIMIT_EXCEEDED", 429, {}, undefined],
  ["SERVICE_UNAVAILABLE", 503, {}, undefined],
  ["SERVICE_UNAVAILABLE", 503, { executionId: "e" }, "false"],
  ["EXECUTION_FAILED", 500, { executionId: "e" }, "false"],
  ["INTERNAL", 500, {}, "false"],
  ["NOT_CONFIGURED", 501, {}, "false"],
])("tells a client whether to retry after %s (%i, %j)", (code, status, more, retry) => {
  expect(asOpenAiError({ status, headers: {}, body: { error: "bad", code, ...more } }).headers["x-should-retry"]).toBe(retry);
});

describe("a transcription with times", () => {
  const words = [
    { text: "Hello", start: 0, end: 0.4 },
    { text: "there.", start: 0.5, end: 0.9 },
    { text: "Good", start: 1, end: 1.2 },
    { text: "night", start: 3, end: 3.4 },
  ];

  it("has words and segments as in OpenAI's API, by sentences and silences", () => {
    const { words: heardWords, segments, duration, language } = detailsOf({ language: "en", words, duration: 4.5 }, "de");
    expect(heardWords![0]).toEqual({ word: "Hello", start: 0, end: 0.4 });
    expect(segments!.map(({ id, start, end, text }) => [id, start, end, text])).toEqual([
      [0, 0, 0.9, "Hello there."],
      [1, 1, 1.2, "Good"],
      [2, 3, 3.4, "night"],
    ]);
    expect([duration, language]).toEqual([4.5, "en"]);
  });

  it.each<[string, unknown]>([
    ["a list", words],
    ["pairs of times", words.map(({ text, start, end }) => ({ text: ` ${text}`, timestamp: [start, end] }))],
  ])("is read from %s", (_, json) => {
    expect(detailsOf(json, undefined)).toMatchObject({ words: [{ word: "Hello" }, {}, {}, { word: "night", end: 3.4 }], duration: 3.4 });
  });

  it("has no times if the model gives none", () => {
    expect(detailsOf(undefined, "en")).toEqual({ task: "transcribe", language: "en" });
  });
});
