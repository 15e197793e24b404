import { z } from "zod";
import type { ChatInputs, ChatMessage } from "../engines/chat/chat";

/** What a chat completion asks for. All models that answer with text speak this dialect, also those that read images and sound. */

const MAX_MESSAGES = 500;
const MAX_TOKENS = 2_048;
const DEFAULT_MAX_TOKENS = 512;
const DEFAULT_TEMPERATURE = 0.3;

const reference = z.string().min(1);
const partSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string().optional() }),
  z.object({ type: z.literal("image_url"), image_url: z.union([reference, z.object({ url: reference })]) }),
]);
const messageSchema = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant"]),
  content: z.union([z.string(), z.array(partSchema)]).nullish(),
});

/** Members that no model here has a use for are ignored, as the API it follows is spoken by many clients. */
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
  /** Of transcription: the sound's address or data URL. */
  audio: reference.nullish(),
  /** Of transcription and OCR: the text alone, or JSON with where and when. */
  format: z.enum(["text", "json"]).nullish(),
});
export type ChatRequest = z.infer<typeof chatSchema>;

const textOf = ({ content }: ChatRequest["messages"][number]): string => {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("\n");
};

const isSystem = (role: string): boolean => role === "system" || role === "developer";

/** The JSON Schema that an answer is to fit, if any. */
export const schemaOf = ({ response_format: format }: ChatRequest): Record<string, unknown> | undefined =>
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

/** The files of a request, by input. */
export const filesOf = ({ messages, audio }: ChatRequest): Record<string, string> => {
  const images = messages.flatMap(({ content }) =>
    (Array.isArray(content) ? content : []).flatMap((part) => {
      if (part.type !== "image_url") return [];
      return [typeof part.image_url === "string" ? part.image_url : part.image_url.url];
    }),
  );
  const image = images.at(-1);
  return { ...(image === undefined ? {} : { image }), ...(typeof audio === "string" ? { audio } : {}) };
};

/** The member that holds an answer whose schema is not that of an object. */
const WRAPPED = "answer";

/**
 * What a reader found, as the JSON that is asked for: the members that the schema names, of those that there are; the list of words
 * or lines where the schema is of a list.
 */
export const shaped = (found: Readonly<Record<string, unknown>>, schema: Readonly<Record<string, unknown>>): unknown => {
  const names = Object.keys((schema.properties ?? {}) as object);
  if (names.length === 1 && names[0] === WRAPPED) return { [WRAPPED]: found.words ?? found.lines ?? found.text };
  return names.length === 0 ? found : Object.fromEntries(Object.entries(found).filter(([name]) => names.includes(name)));
};
