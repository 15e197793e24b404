import { z } from "zod";
import { content, defineRoute, STREAMED, type Reply } from "../../edge/route";
import { answerOf, type Answer } from "./answer";
import { jsonSchema, tool, toolChoice, wantedOf } from "./conversation";
import { message, toolCall } from "./messages";
import { beginRun, moreInputs, RUN_ERRORS, running, runToEnd, type RunContext, type Usage } from "./runs";
import { streamAnswer, type AnswerEvents } from "./stream";
import { FINISH_REASONS } from "./vocabulary";
import { jsonBody } from "../../http/body/kinds";

const MS = 1_000;
const MAX_MESSAGES = 1_000;
const DONE = "[DONE]";

const responseFormat = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text") }),
  z.object({ type: z.literal("json_object") }),
  z.object({ type: z.literal("json_schema"), json_schema: z.looseObject({ schema: jsonSchema }) }),
]);

const request = z
  .looseObject({
    model: z.string().min(1).meta({ description: "A model's internal name, or `workflow/<slug>`", example: "sandbox-chat" }),
    messages: z.array(message).min(1).max(MAX_MESSAGES),
    tools: z.array(tool).nullish().meta({ description: "Functions that the model can call, if the model supports them" }),
    tool_choice: toolChoice.nullish(),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    response_format: responseFormat.nullish(),
    n: z.literal(1).nullish(),
    user: z.string().nullish().meta({ description: "Stored as the metadata `user` of the run" }),
    inputs: moreInputs,
  })
  .meta({ id: "OpenAiChatRequest" });

const usage = z
  .object({ prompt_tokens: z.number().int(), completion_tokens: z.number().int(), total_tokens: z.number().int() })
  .meta({ description: "Tokens, if the model's provider counts them" });

const finishReason = z.enum(FINISH_REASONS);
const completion = z
  .object({
    id: z.string(),
    object: z.literal("chat.completion"),
    created: z.number().int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.literal(0),
        message: z.object({
          role: z.literal("assistant"),
          content: z.string().nullable().meta({ description: "Null if the model only calls tools" }),
          refusal: z.null(),
          tool_calls: z.array(toolCall).optional(),
        }),
        logprobs: z.null(),
        finish_reason: finishReason,
      }),
    ),
    usage: usage.optional(),
  })
  .meta({ id: "OpenAiChatCompletion" });

/** OpenAPI 3.1 describes a stream of events by one event. */
const chunk = z
  .object({
    id: z.string(),
    object: z.literal("chat.completion.chunk"),
    created: z.number().int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.literal(0),
        delta: z.object({
          role: z.literal("assistant").optional(),
          content: z.string().optional(),
          tool_calls: z
            .array(toolCall.extend({ index: z.number().int() }))
            .optional()
            .meta({ description: "Complete values, sent at the end" }),
        }),
        logprobs: z.null(),
        finish_reason: finishReason.nullable(),
      }),
    ),
    usage: usage.nullish().meta({ description: "With `stream_options.include_usage`: only in the last chunk, which has no choices" }),
  })
  .meta({ id: "OpenAiChatChunk" });

type ChatRequest = z.infer<typeof request>;

interface Head {
  id: string;
  created: number;
  model: string;
}

const completionOf = (head: Head, { text, toolCalls, finishReason: finish_reason, usage: used }: Answer): object => {
  const content = text === "" && toolCalls.length > 0 ? null : text;
  const chatMessage = { role: "assistant", content, refusal: null, ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}) };
  const choice = { index: 0, message: chatMessage, logprobs: null, finish_reason };
  return { ...head, object: "chat.completion", choices: [choice], ...(used ? { usage: used } : {}) };
};

const chunksOf = (head: Head, withUsage: boolean): AnswerEvents => {
  const chunkOf = (members: { choices: object[]; usage?: Usage | null }): object => ({
    ...head,
    object: "chat.completion.chunk",
    ...members,
  });
  const piece = (delta: object, finish_reason: string | null = null): object =>
    chunkOf({ choices: [{ index: 0, delta, logprobs: null, finish_reason }], ...(withUsage ? { usage: null } : {}) });
  return {
    begin: () => [piece({ role: "assistant", content: "" })],
    piece: (content) => [piece({ content })],
    end: ({ toolCalls, finishReason: reason, usage: used }) => [
      ...(toolCalls.length > 0 ? [piece({ tool_calls: toolCalls.map((call, index) => ({ index, ...call })) })] : []),
      piece({}, reason),
      ...(withUsage ? [chunkOf({ choices: [], usage: used ?? null })] : []),
      DONE,
    ],
    failed: ({ body }) => [body],
  };
};

const complete = async (context: RunContext, chatRequest: ChatRequest): Promise<Reply | typeof STREAMED> => {
  const {
    model,
    messages,
    tools,
    tool_choice: choice,
    stream,
    stream_options: streaming,
    response_format: requestedFormat,
    ...rest
  } = chatRequest;
  const { n: _, user, inputs, ...parameters } = rest;
  const format =
    requestedFormat?.type === "json_schema"
      ? { type: requestedFormat.type, schema: requestedFormat.json_schema.schema }
      : (requestedFormat ?? undefined);
  const runRequest = await wantedOf(context, { ...{ model, messages, tools, format, user, inputs, parameters }, toolChoice: choice });
  const head = { id: `chatcmpl-${context.executionId}`, created: Math.floor(Date.now() / MS), model };
  if (!stream) return { status: 200, body: completionOf(head, answerOf(await runToEnd(context, runRequest), runRequest)) };
  await beginRun(context, runRequest);
  await streamAnswer(context, runRequest, chunksOf(head, streaming?.include_usage === true));
  return STREAMED;
};

export const openAiChatRoutes = [
  defineRoute({
    ...running,
    path: "/v1/chat/completions",
    operationId: "openaiChat",
    summary: "Create a chat completion",
    description:
      "With `stream: true`, the answer arrives in pieces, as server-sent events that end with `[DONE]` or with an error. If the client disconnects, the run continues and is charged.",
    body: jsonBody(request),
    responses: { 200: content({ "application/json": completion, "text/event-stream": chunk }) },
    errors: RUN_ERRORS,
    example: { model: "sandbox-chat", messages: [{ role: "user", content: "Three words for the sea?" }] },
    handler: (context) => complete(context as RunContext, context.body),
  }),
];
