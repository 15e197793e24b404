import { z } from "zod";
import { jsonSchema, type Conversation, type Tool, type ToolChoice } from "../conversation";
import type { Message } from "../messages";
import { moreInputs } from "../runs";
import { TOOL_CHOICES } from "../vocabulary";

/** Converts requests of the stateless Responses API (platform.openai.com/docs/api-reference/responses) to conversations. */

const MAX_ITEMS = 2_000;

const text = z.string();
const textPart = z.looseObject({ type: z.enum(["input_text", "output_text", "text"]), text });
const imagePart = z.looseObject({ type: z.literal("input_image"), image_url: z.string().min(1) });
const refusalPart = z.looseObject({ type: z.literal("refusal"), refusal: text });
const content = z.union([text, z.array(z.discriminatedUnion("type", [textPart, imagePart, refusalPart]))]);
type Content = z.infer<typeof content>;

const spokenMessage = z.looseObject({
  type: z.literal("message").optional(),
  role: z.enum(["system", "developer", "user", "assistant"]),
  content,
});
const called = z.looseObject({
  type: z.literal("function_call"),
  call_id: z.string().min(1),
  name: z.string().min(1),
  arguments: text.meta({ description: "JSON, as the model wrote it" }),
});
const returned = z.looseObject({ type: z.literal("function_call_output"), call_id: z.string().min(1), output: content });
/** Reasoning items of models that store them. They are ignored, because no model here stores them. */
const reasoningItem = z.looseObject({ type: z.literal("reasoning") });
const item = z.union([called, returned, reasoningItem, spokenMessage]);
const INPUT = "must be a text, or a list of messages, function_call and function_call_output";

const tool = z.looseObject({
  type: z.literal("function", "must be function: the caller runs the tools, and this platform has none of its own"),
  name: z.string().min(1),
  description: z.string().nullish(),
  parameters: jsonSchema.nullish(),
  strict: z.boolean().nullish(),
});
const format = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("text") }),
  z.looseObject({ type: z.literal("json_object") }),
  z.looseObject({ type: z.literal("json_schema"), schema: jsonSchema }),
]);
const stored = z.null("is not supported: responses are not stored, send the whole conversation as `input`").optional();

export const request = z
  .looseObject({
    model: z.string().min(1).meta({ description: "A model's internal name, or `workflow/<slug>`", example: "sandbox-chat" }),
    input: z.union([text.min(1), z.array(item).min(1).max(MAX_ITEMS)], INPUT).meta({
      description: "A text, or the conversation: messages, `function_call` and `function_call_output`",
    }),
    instructions: z.string().nullish(),
    tools: z.array(tool).nullish().meta({ description: "Functions that the model can call, if the model supports them" }),
    tool_choice: z.union([z.enum(TOOL_CHOICES), z.looseObject({ type: z.literal("function"), name: z.string().min(1) })]).nullish(),
    text: z.looseObject({ format: format.nullish(), verbosity: z.string().nullish() }).nullish(),
    reasoning: z.looseObject({ effort: z.string().nullish() }).nullish(),
    max_output_tokens: z.number().int().min(1).nullish(),
    stream: z.boolean().nullish(),
    metadata: z.record(z.string(), z.unknown()).nullish().meta({ description: "Returned with the response. It isn't stored" }),
    user: z.string().nullish().meta({ description: "Stored as the metadata `user` of the run" }),
    background: z.literal(false, "is not supported: a response is waited for").nullish(),
    previous_response_id: stored,
    conversation: stored,
    prompt: stored,
    inputs: moreInputs,
  })
  .meta({ id: "OpenAiResponseRequest" });
export type Request = z.infer<typeof request>;

const partOf = (part: Exclude<Content, string>[number]): Exclude<Message["content"], string | null | undefined>[number] => {
  if (part.type === "input_image") return { type: "image_url", image_url: { url: part.image_url } };
  return { type: "text", text: part.type === "refusal" ? part.refusal : part.text };
};
const contentOf = (messageContent: Content): NonNullable<Message["content"]> =>
  typeof messageContent === "string" ? messageContent : messageContent.map(partOf);

/** Converts items to chat messages. Tool calls belong to the assistant message before them. */
const messagesOf = (items: Exclude<Request["input"], string>): Message[] => {
  const messages: Message[] = [];
  for (const one of items) {
    if ("call_id" in one && "output" in one) {
      messages.push({ role: "tool", tool_call_id: one.call_id as string, content: contentOf(one.output as Content) });
    } else if ("call_id" in one) {
      const { call_id: id, name, arguments: json } = one as z.infer<typeof called>;
      const last = messages.at(-1);
      const message: Message = last?.role === "assistant" ? last : { role: "assistant", content: null };
      if (message !== last) messages.push(message);
      message.tool_calls = [...(message.tool_calls ?? []), { id, type: "function", function: { name, arguments: json } }];
    } else if ("role" in one) {
      const { role, content: messageContent } = one as z.infer<typeof spokenMessage>;
      messages.push({ role, content: contentOf(messageContent) });
    }
  }
  return messages;
};

const toolOf = ({ type, ...declared }: z.infer<typeof tool>): Tool => ({ type, function: declared });

const choiceOf = (choice: Request["tool_choice"]): ToolChoice | null | undefined =>
  typeof choice === "object" && choice ? { type: "function", function: { name: choice.name } } : choice;

const formatOf = (responseFormat: z.infer<typeof format> | null | undefined): Conversation["format"] => {
  if (responseFormat?.type === "json_schema") return { type: responseFormat.type, schema: responseFormat.schema as object };
  return responseFormat ? { type: responseFormat.type as "text" | "json_object" } : undefined;
};

export const conversationOf = (responseRequest: Request): Conversation => {
  const { model, input, instructions, tools, tool_choice: choice, text: look, reasoning, user, inputs, ...rest } = responseRequest;
  const { stream: _, metadata: __, background: ___, previous_response_id: ____, conversation: _____, prompt: ______, ...parameters } = rest;
  const instruction: Message[] = instructions ? [{ role: "system", content: instructions }] : [];
  return {
    ...{ model, user, inputs },
    messages: [...instruction, ...(typeof input === "string" ? [{ role: "user" as const, content: input }] : messagesOf(input))],
    tools: tools?.map(toolOf),
    toolChoice: choiceOf(choice),
    format: formatOf(look?.format),
    parameters: { ...parameters, reasoning_effort: reasoning?.effort, verbosity: look?.verbosity },
  };
};
