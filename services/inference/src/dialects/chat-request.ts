import { z } from "zod";
import type { ChatInputs, ChatMessage } from "../engines/chat/chat";

/** Schema of chat completion requests. */

const MAX_MESSAGES = 500;
/** Maximum tokens per request. A model with a smaller context generates fewer. */
const MAX_TOKENS = 32_768;
const DEFAULT_MAX_TOKENS = 512;
const DEFAULT_TEMPERATURE = 0.3;

const partSchema = z.object({ type: z.literal("text"), text: z.string().optional() });
const messageSchema = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant"]),
  content: z.union([z.string(), z.array(partSchema)]).nullish(),
});

/** Other members are ignored, because many clients use this API. */
export const chatSchema = z.looseObject({
  model: z.string(),
  messages: z.array(messageSchema).min(1).max(MAX_MESSAGES),
  max_tokens: z.int().min(1).max(MAX_TOKENS).nullish(),
  max_completion_tokens: z.int().min(1).max(MAX_TOKENS).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  seed: z.int().min(0).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  response_format: z
    .discriminatedUnion("type", [
      z.looseObject({ type: z.literal("text") }),
      z.looseObject({
        type: z.literal("json_schema"),
        json_schema: z.looseObject({ schema: z.record(z.string(), z.json()) }),
      }),
    ])
    .nullish(),
});
export type ChatRequest = z.infer<typeof chatSchema>;

const textOf = ({ content }: ChatRequest["messages"][number]): string => {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text = "" }) => text).join("\n");
};

const isSystem = (role: string): boolean => role === "system" || role === "developer";

/** Returns the JSON Schema for the answer, if the request has one. */
const schemaOf = ({ response_format: format }: ChatRequest): Record<string, unknown> | undefined =>
  format?.type === "json_schema" ? format.json_schema.schema : undefined;

export const chatInputs = (request: ChatRequest): ChatInputs => {
  const schema = schemaOf(request);
  return {
    messages: request.messages.map((message): ChatMessage => {
      const role = isSystem(message.role) ? "system" : message.role === "assistant" ? "assistant" : "user";
      return { role, text: textOf(message) };
    }),
    maxTokens: request.max_completion_tokens ?? request.max_tokens ?? DEFAULT_MAX_TOKENS,
    temperature: request.temperature ?? DEFAULT_TEMPERATURE,
    ...(typeof request.seed === "number" ? { seed: request.seed } : {}),
    ...(schema ? { schema } : {}),
  };
};
