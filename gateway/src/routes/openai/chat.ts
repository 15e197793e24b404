import { z } from "zod";
import { defineRoute, STREAMED, type Reply } from "../../http/route";
import { message, questionOf } from "./messages";
import { beginRun, moreInputs, RUN_ERRORS, running, runToEnd, textOf, type RunContext, type Usage, type Wanted } from "./runs";
import { streamChat } from "./stream";
import { readTarget } from "./target";

const MS = 1_000;
const MAX_MESSAGES = 1_000;
/** What says nothing about the answer here. */
const IGNORED: ReadonlySet<string> = new Set(["store", "metadata", "parallel_tool_calls", "service_tier", "prompt_cache_key"]);
const ANY_OBJECT = { type: "object" };

const responseFormat = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text") }),
  z.object({ type: z.literal("json_object") }),
  z.object({ type: z.literal("json_schema"), json_schema: z.looseObject({ schema: z.record(z.string(), z.unknown()) }) }),
]);

const request = z
  .looseObject({
    model: z.string().min(1).meta({ description: "A model's internal name, or `workflow/<slug>`", example: "sandbox-chat" }),
    messages: z.array(message).min(1).max(MAX_MESSAGES),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    response_format: responseFormat.nullish(),
    n: z.literal(1).nullish(),
    user: z.string().nullish().meta({ description: "Kept as the run's metadata `user`" }),
    inputs: moreInputs,
  })
  .meta({ id: "OpenAiChatRequest" });

const usage = z
  .object({ prompt_tokens: z.number().int(), completion_tokens: z.number().int(), total_tokens: z.number().int() })
  .meta({ description: "Tokens, where the model's provider counts them" });

const completion = z
  .object({
    id: z.string(),
    object: z.literal("chat.completion"),
    created: z.number().int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.literal(0),
        message: z.object({ role: z.literal("assistant"), content: z.string(), refusal: z.null() }),
        logprobs: z.null(),
        finish_reason: z.literal("stop"),
      }),
    ),
    usage: usage.optional(),
  })
  .meta({ id: "OpenAiChatCompletion" });

/** OpenAPI 3.1 describes a stream of events by one of them. */
const chunk = z
  .object({
    id: z.string(),
    object: z.literal("chat.completion.chunk"),
    created: z.number().int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.literal(0),
        delta: z.object({ role: z.literal("assistant").optional(), content: z.string().optional() }),
        logprobs: z.null(),
        finish_reason: z.literal("stop").nullable(),
      }),
    ),
    usage: usage.nullish().meta({ description: "In the last chunk, which has no choices, with `stream_options.include_usage`" }),
  })
  .meta({ id: "OpenAiChatChunk" });

type Asked = z.infer<typeof request>;

const schemaOf = (format: Asked["response_format"]): object | undefined => {
  if (format?.type === "json_schema") return format.json_schema.schema;
  return format?.type === "json_object" ? ANY_OBJECT : undefined;
};

const wantedOf = async (context: RunContext, asked: Asked): Promise<Wanted> => {
  const { model, messages, stream: _, stream_options: __, response_format: format, n: ___, user, inputs, ...parameters } = asked;
  const target = await readTarget(context.gateway, context.caller, model, "text");
  const given = { ...parameters, ...questionOf(messages, target.takes("history")) };
  return { target, inputs: { ...target.inputsOf(given, IGNORED), ...inputs }, schema: schemaOf(format), user: user ?? undefined };
};

/** The text of an answer; one that was asked for by a schema is JSON. */
const contentOf = (result: Record<string, unknown>, { schema }: Wanted): string =>
  schema !== undefined && result.json !== undefined ? JSON.stringify(result.json) : textOf(result);

const complete = async (context: RunContext, asked: Asked): Promise<Reply | typeof STREAMED> => {
  const wanted = await wantedOf(context, asked);
  const { model } = asked;
  const [id, created] = [`chatcmpl-${context.executionId}`, Math.floor(Date.now() / MS)];
  if (asked.stream) {
    const chunk = { id, object: "chat.completion.chunk", created, model };
    const withUsage = asked.stream_options?.include_usage === true;
    await beginRun(context, wanted);
    await streamChat(context, wanted.target, {
      piece: (delta, finishReason) => ({
        ...chunk,
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
        ...(withUsage ? { usage: null } : {}),
      }),
      usage: withUsage ? (used: Usage | null) => ({ ...chunk, choices: [], usage: used }) : undefined,
    });
    return STREAMED;
  }
  const { result, usage } = await runToEnd(context, wanted);
  const message = { role: "assistant", content: contentOf(result, wanted), refusal: null };
  const choice = { index: 0, message, logprobs: null, finish_reason: "stop" };
  return { status: 200, body: { id, object: "chat.completion", created, model, choices: [choice], ...(usage ? { usage } : {}) } };
};

export const openAiChatRoutes = [
  defineRoute({
    ...running,
    path: "/v1/chat/completions",
    operationId: "openaiChat",
    summary: "Answer a chat",
    description:
      "With `stream: true` the answer comes in pieces, as server-sent events that end with `[DONE]`; a client that goes away has the run go on and pays for it.",
    body: request,
    responses: { 200: completion },
    otherContent: { "text/event-stream": chunk },
    errors: RUN_ERRORS,
    example: { model: "sandbox-chat", messages: [{ role: "user", content: "Three words for the sea?" }] },
    handler: (context) => complete(context as RunContext, context.body),
  }),
];
