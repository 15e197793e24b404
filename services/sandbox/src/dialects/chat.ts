import { randomUUID } from "node:crypto";
import { Router, type Response } from "express";
import { z } from "zod";
import { composeJson } from "../chat-json";
import { composeCall, toolChoiceSchema, toolsSchema, type ToolCall } from "../chat-tools";
import { composeVerdict } from "../chat-verdict";
import { composeReply, cutToTokens, tokensOf } from "../chat-text";
import { CHAT_LATENCY_MS } from "../generators";
import { FAILURES, faultOf, faultSchema, imageReference, type Fault } from "../inputs";
import { createExchanges } from "../one-exchange";
import { parseBody, ProviderError } from "../provider-error";
import { waitWithClient } from "../requests";

const MODEL = "sandbox-chat";
const DEFAULT_MAX_TOKENS = 512;
const MAX_TOKENS = 4_096;
const MAX_MESSAGES = 500;
const TOKENS_PER_IMAGE = 85;
const MAX_STOPS = 4;
const CHUNK_CHARACTERS = 24;
/** Minimum pause between chunks. */
const PACE_MS = 10;
/** Faults that cause invalid answers. `invalid` affects only the first answer, `unfit` every answer. */
const UNFIT = ["invalid", "unfit"] as const;
const UNFIT_TEXT = "[sandbox] This answer is not JSON, although the request asked for JSON.";

const partSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image_url"), image_url: z.union([imageReference, z.object({ url: imageReference })]) }),
]);
const messageSchema = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content: z.union([z.string(), z.array(partSchema)]).nullish(),
  tool_calls: z.array(z.looseObject({ id: z.string() })).nullish(),
  tool_call_id: z.string().nullish(),
});
/** Other members are ignored, because many clients use this API. */
const chatSchema = z.looseObject({
  model: z.string(),
  messages: z.array(messageSchema).min(1).max(MAX_MESSAGES),
  max_tokens: z.int().min(1).max(MAX_TOKENS).nullish(),
  max_completion_tokens: z.int().min(1).max(MAX_TOKENS).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  seed: z.int().nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  stop: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(MAX_STOPS)]).nullish(),
  tools: toolsSchema.nullish(),
  tool_choice: toolChoiceSchema.nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  response_format: z
    .discriminatedUnion("type", [
      z.looseObject({ type: z.literal("text") }),
      z.looseObject({
        type: z.literal("json_schema"),
        json_schema: z.looseObject({ name: z.string().min(1), schema: z.record(z.string(), z.json()) }),
      }),
    ])
    .nullish(),
  sandbox: faultSchema.extend({ fail: z.enum([...FAILURES, ...UNFIT]).optional() }).optional(),
});
type ChatRequest = z.infer<typeof chatSchema>;

interface Completion {
  text: string;
  call?: ToolCall | undefined;
  finishReason: "stop" | "length" | "tool_calls";
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
}

const textOf = ({ content }: ChatRequest["messages"][number]): string => {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("\n");
};

const imagesOf = ({ content }: ChatRequest["messages"][number]): string[] =>
  (Array.isArray(content) ? content : []).flatMap((part) => {
    if (part.type !== "image_url") return [];
    return [typeof part.image_url === "string" ? part.image_url : part.image_url.url];
  });

/** Tool results since the user's last message. */
const returned = (messages: ChatRequest["messages"]): string[] =>
  messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1).flatMap((one) => (one.role === "tool" ? [textOf(one)] : []));

const callOf = ({ messages, tools, tool_choice: choice }: ChatRequest): ToolCall | undefined => {
  if (!tools) return undefined;
  const question = messages.findLast(({ role }) => role === "user");
  return composeCall({
    tools,
    choice: choice ?? "auto",
    prompt: question ? textOf(question) : "",
    isAnswered: returned(messages).length > 0,
    context: messages.map(textOf),
  });
};

const untilStop = (text: string, stop: ChatRequest["stop"]): string =>
  [stop ?? []].flat().reduce((rest, one) => (rest.includes(one) ? rest.slice(0, rest.indexOf(one)) : rest), text);

/** Generates the reply, before it is cut. Repeated requests for a schema get the first answer again. */
const replyTo = ({ messages, seed, response_format, sandbox }: ChatRequest): string => {
  const images = messages.flatMap(imagesOf);
  if (response_format?.type !== "json_schema") {
    const question = messages.findLast((message) => message.role === "user") ?? messages.at(-1);
    const reply = composeReply(question ? textOf(question) : "", [...messages.map(textOf), ...images, seed ?? undefined]);
    return [reply, ...returned(messages).map((text) => `A tool returned: ${text}`)].join(" ");
  }
  const answeredAt = messages.findIndex((message) => message.role === "assistant" && !message.tool_calls);
  const isFirst = answeredAt === -1;
  const { fail } = faultOf(sandbox, MODEL) ?? {};
  if (fail === "unfit" || (fail === "invalid" && isFirst)) return UNFIT_TEXT;
  const first = isFirst ? messages : messages.slice(0, answeredAt);
  const lastQuestion = first.findLast((message) => message.role === "user");
  const context = [...first.map(textOf), ...images, seed ?? undefined];
  const prompt = lastQuestion ? textOf(lastQuestion) : "";
  const { schema } = response_format.json_schema;
  return composeVerdict(prompt, schema) ?? composeJson(prompt, schema, context);
};

const complete = (request: ChatRequest): Completion => {
  const { messages, max_tokens, max_completion_tokens, stop } = request;
  const texts = messages.map(textOf);
  const images = messages.flatMap(imagesOf);
  const call = callOf(request);
  const reply = call ? "" : untilStop(replyTo(request), stop);
  const text = cutToTokens(reply, max_completion_tokens ?? max_tokens ?? DEFAULT_MAX_TOKENS);
  const promptTokens = tokensOf(texts.join("")) + images.length * TOKENS_PER_IMAGE;
  const completionTokens = tokensOf(text + (call ? JSON.stringify(call) : ""));
  return {
    text,
    call,
    finishReason: call ? "tool_calls" : text === reply ? "stop" : "length",
    usage: { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: promptTokens + completionTokens },
  };
};

/** Returns the fault of an exchange. A failure that only makes the answer invalid is dropped, because the exchange succeeds. */
const troubleOf = ({ sandbox }: ChatRequest): Fault | undefined => {
  const fault = faultOf(sandbox, MODEL);
  if (!fault) return undefined;
  const { fail, ...rest } = fault;
  const trouble = FAILURES.find((one) => one === fail);
  return trouble ? { ...rest, fail: trouble } : rest;
};

interface Answer {
  id: string;
  created: number;
  isEmpty: boolean;
  completion: Completion;
}

const answerWhole = (response: Response, { id, created, isEmpty, completion }: Answer): void => {
  const choice = {
    index: 0,
    message: {
      role: "assistant",
      content: completion.call ? null : completion.text,
      refusal: null,
      ...(completion.call ? { tool_calls: [completion.call] } : {}),
    },
    logprobs: null,
    finish_reason: completion.finishReason,
  };
  response.json({
    id,
    object: "chat.completion",
    created,
    model: MODEL,
    choices: isEmpty ? [] : [choice],
    usage: completion.usage,
  });
};

/** Sends chunks evenly over a period. @returns false if the client has disconnected */
const paced = async (response: Response, pieces: readonly string[], overMs: number, send: (piece: string) => void): Promise<boolean> => {
  const startedAt = Date.now();
  for (const [index, piece] of pieces.entries()) {
    const dueInMs = startedAt + (overMs * (index + 1)) / pieces.length - Date.now();
    if (dueInMs >= PACE_MS && !(await waitWithClient(response, dueInMs))) return false;
    send(piece);
  }
  return true;
};

const piecesOf = (text: string): string[] => {
  const letters = [...text];
  return Array.from({ length: Math.ceil(letters.length / CHUNK_CHARACTERS) }, (_, index) =>
    letters.slice(index * CHUNK_CHARACTERS, (index + 1) * CHUNK_CHARACTERS).join(""),
  );
};

const answerStream = async (
  response: Response,
  { id, created, isEmpty, completion }: Answer,
  withUsage: boolean,
  overMs: number,
): Promise<void> => {
  response.type("text/event-stream").set("cache-control", "no-cache");
  const send = (members: object): void => {
    response.write(`data: ${JSON.stringify({ id, object: "chat.completion.chunk", created, model: MODEL, ...members })}\n\n`);
  };
  const choose = (delta: object, finish_reason: string | null = null): void => send({ choices: [{ index: 0, delta, finish_reason }] });
  if (!isEmpty) {
    choose({ role: "assistant", content: "" });
    if (!(await paced(response, piecesOf(completion.text), overMs, (content) => choose({ content })))) return;
    if (completion.call) choose({ tool_calls: [{ index: 0, ...completion.call }] });
    choose({}, completion.finishReason);
  }
  if (withUsage) send({ choices: [], usage: completion.usage });
  response.end("data: [DONE]\n\n");
};

export interface ChatDialect {
  router: Router;
  /** Number of requests, including rejected ones. */
  requests(): number;
}

/** OpenAI-compatible chat completions, complete or streamed. */
export const chatDialect = (clock: () => number): ChatDialect => {
  const router = Router();
  const exchanges = createExchanges();

  router.post("/v1/chat/completions", async (request, response) => {
    const body = parseBody(chatSchema, request.body);
    if (body.model !== MODEL)
      throw new ProviderError(404, "model_not_found", `no such model: ${body.model.slice(0, 100)}; there is ${MODEL}`, "model");
    const fault = troubleOf(body);
    const latencyMs = fault?.latencyMs ?? CHAT_LATENCY_MS;
    // A stream divides the latency between its start and its chunks.
    const writingMs = body.stream && fault?.fail === undefined ? latencyMs / 2 : 0;
    const remaining = { sandbox: writingMs > 0 ? { latencyMs: latencyMs - writingMs } : fault };
    if (!(await exchanges.undergo(response, remaining, CHAT_LATENCY_MS))) return;
    const answer: Answer = {
      id: `chatcmpl-${randomUUID()}`,
      created: Math.floor(clock() / 1000),
      isEmpty: fault?.fail === "incomplete",
      completion: complete(body),
    };
    if (body.stream) await answerStream(response, answer, body.stream_options?.include_usage === true, writingMs);
    else answerWhole(response, answer);
  });

  router.get("/v1/models", (_request, response) => {
    response.json({ object: "list", data: [{ id: MODEL, object: "model", created: 0, owned_by: "nodeloom-sandbox" }] });
  });

  return { router, requests: exchanges.count };
};
