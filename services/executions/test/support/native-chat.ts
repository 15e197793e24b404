import { z } from "zod";
import { peer, type Answer, type RecordedRequest } from "./model-calls";

/** Simulates Anthropic's and Google's text models, and rejects every request that their documentation doesn't allow. */

const text = z.string().min(1);
const base64 = z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/);
const jsonSchema = z.looseObject({ type: z.literal("object") });

const anthropicSource = (types: z.ZodType) =>
  z.union([
    z.strictObject({ type: z.literal("base64"), media_type: types, data: base64 }),
    z.strictObject({ type: z.literal("url"), url: z.url({ protocol: /^https$/ }) }),
  ]);
const anthropicBlock = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text }),
  z.strictObject({
    type: z.literal("image"),
    source: anthropicSource(z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"])),
  }),
  z.strictObject({ type: z.literal("document"), source: anthropicSource(z.literal("application/pdf")) }),
]);
const anthropicRequest = z.strictObject({
  model: text,
  max_tokens: z.int().min(1),
  system: text.optional(),
  messages: z
    .array(z.strictObject({ role: z.enum(["user", "assistant"]), content: z.union([text, z.array(anthropicBlock).min(1)]) }))
    .min(1),
  temperature: z.number().min(0).max(1).optional(),
  top_k: z.int().optional(),
  metadata: z.strictObject({ user_id: text }).optional(),
  stream: z.boolean().optional(),
  tools: z.array(z.strictObject({ name: text, description: text.optional(), input_schema: jsonSchema })).optional(),
  tool_choice: z.strictObject({ type: z.literal("tool"), name: text }).optional(),
  output_config: z.strictObject({ format: z.strictObject({ type: z.literal("json_schema"), schema: jsonSchema }) }).optional(),
});

const geminiPart = z.union([
  z.strictObject({ text }),
  z.strictObject({ inlineData: z.strictObject({ mimeType: text, data: base64 }) }),
  z.strictObject({ fileData: z.strictObject({ mimeType: text, fileUri: z.url() }) }),
]);
const geminiRequest = z.strictObject({
  systemInstruction: z.strictObject({ parts: z.array(z.strictObject({ text })).length(1) }).optional(),
  contents: z.array(z.strictObject({ role: z.enum(["user", "model"]), parts: z.array(geminiPart).min(1) })).min(1),
  safetySettings: z.array(z.strictObject({ category: text, threshold: text })).optional(),
  generationConfig: z
    .strictObject({
      temperature: z.number().min(0).max(2).optional(),
      topK: z.int().optional(),
      maxOutputTokens: z.int().min(1).optional(),
      thinkingConfig: z.strictObject({ thinkingBudget: z.int() }).optional(),
      responseMimeType: z.literal("application/json").optional(),
      responseJsonSchema: z.looseObject({}).optional(),
    })
    .optional(),
});

type NativeDialect = "anthropic" | "gemini";

/** Checks a request's address, headers and body. */
const problemOf = (dialect: NativeDialect, { path, headers, body }: RecordedRequest): string | undefined => {
  if (dialect === "anthropic") {
    if (path !== "POST /v1/messages") return `no such path: ${path}`;
    if (headers["anthropic-version"] !== "2023-06-01") return "anthropic-version: header is required";
    if (headers["x-api-key"] !== "super-secret-value") return "x-api-key: header is required";
    return anthropicRequest.safeParse(body).error?.message;
  }
  if (!/^POST \/v1\/models\/m:(?:generateContent|streamGenerateContent\?alt=sse)$/.test(path)) return `no such path: ${path}`;
  if (headers["x-goog-api-key"] !== "super-secret-value") return "API key not valid";
  return geminiRequest.safeParse(body).error?.message;
};

export const NATIVE: Readonly<Record<NativeDialect, Record<string, unknown>>> = {
  anthropic: { dialect: "anthropic", auth: { header: "x-api-key", secretEnv: "KEY" } },
  gemini: { dialect: "gemini", auth: { header: "x-goog-api-key", secretEnv: "KEY" } },
};

/** Model settings for the local provider. */
export const native = (dialect: NativeDialect, part: Record<string, unknown> = {}): Record<string, unknown> => ({
  kind: "llm",
  baseUrl: `${peer.baseUrl}/v1`,
  model: "m",
  ...NATIVE[dialect],
  ...part,
});

/** Answers valid requests of a dialect. */
export const answers = (dialect: NativeDialect, answer: (request: RecordedRequest) => Answer): void => {
  peer.answers = (request) => {
    const problem = problemOf(dialect, request);
    return problem === undefined ? answer(request) : { status: 400, body: { error: { message: problem } } };
  };
};

export const events = (...data: object[]): Answer => ({
  raw: data.map((one) => `${"type" in one ? `event: ${String(one.type)}\n` : ""}data: ${JSON.stringify(one)}\n\n`).join(""),
  headers: { "content-type": "text/event-stream; charset=utf-8" },
});

/** A text in each dialect, as one response and as a stream, with 12 input and 5 output tokens. */
export const wholeText: Readonly<Record<NativeDialect, (words: string, end?: string) => Answer>> = {
  anthropic: (words, stop_reason = "end_turn") => ({
    body: {
      id: "msg_1",
      content: [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "text", text: words },
      ],
      stop_reason,
      usage: { input_tokens: 4, cache_creation_input_tokens: 3, cache_read_input_tokens: 5, output_tokens: 5 },
    },
  }),
  gemini: (words, finishReason = "STOP") => ({
    body: {
      responseId: "r1",
      candidates: [{ content: { role: "model", parts: [{ text: "hm", thought: true }, { text: words }] }, finishReason }],
      usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 3, thoughtsTokenCount: 2, totalTokenCount: 17 },
    },
  }),
};

const anthropicStart = {
  type: "message_start",
  message: { id: "msg_1", usage: { input_tokens: 4, cache_creation_input_tokens: 3, cache_read_input_tokens: 5, output_tokens: 1 } },
};
export const anthropicDelta = (delta: object): object => ({ type: "content_block_delta", index: 0, delta });
export const anthropicEnd = (stop_reason: string): object[] => [
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } },
  { type: "message_stop" },
];
export const anthropicStream = (...rest: object[]): Answer => events(anthropicStart, { type: "ping" }, ...rest);

export const geminiPiece = (part: object, more: object = {}): object => ({
  responseId: "r1",
  candidates: [{ content: { role: "model", parts: [part] }, ...more }],
});
const geminiUsage = { usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 3, thoughtsTokenCount: 2 } };

export const pieces: Readonly<Record<NativeDialect, (words: string[]) => Answer>> = {
  anthropic: (words) =>
    anthropicStream(
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      anthropicDelta({ type: "thinking_delta", thinking: "hm" }),
      ...words.map((text) => anthropicDelta({ type: "text_delta", text })),
      ...anthropicEnd("end_turn"),
    ),
  gemini: (words) =>
    events(geminiPiece({ text: "hm", thought: true }), ...words.map((text) => geminiPiece({ text })), {
      ...geminiPiece({ text: "" }, { finishReason: "STOP" }),
      ...geminiUsage,
    }),
};
