import { z } from "zod";
import type { ErrorReply } from "../../../http/errors";
import type { Answer } from "../answer";
import type { Usage } from "../runs";
import type { Request } from "./request";

/** Answers in the form of the Responses API. */

const count = z.number().int();
const outputText = z.object({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(z.never()),
  logprobs: z.array(z.never()),
});
const message = z.object({
  type: z.literal("message"),
  id: z.string(),
  status: z.enum(["in_progress", "completed", "incomplete"]),
  role: z.literal("assistant"),
  content: z.array(outputText),
});
const functionCall = z.object({
  type: z.literal("function_call"),
  id: z.string(),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string().meta({ description: "JSON, as the model wrote it" }),
  status: z.enum(["in_progress", "completed"]),
});
const outputItem = z.union([message, functionCall]);
export type OutputItem = z.infer<typeof outputItem>;

export const response = z
  .looseObject({
    id: z.string(),
    object: z.literal("response"),
    created_at: count.meta({ description: "Seconds" }),
    status: z.enum(["in_progress", "completed", "incomplete", "failed"]),
    model: z.string(),
    output: z.array(outputItem),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.object({ reason: z.literal("max_output_tokens") }).nullable(),
    usage: z
      .object({
        input_tokens: count,
        input_tokens_details: z.object({ cached_tokens: count }),
        output_tokens: count,
        output_tokens_details: z.object({ reasoning_tokens: count }),
        total_tokens: count,
      })
      .nullable()
      .meta({ description: "Tokens, if the model's provider counts them" }),
    store: z.literal(false).meta({ description: "Responses are not stored" }),
  })
  .meta({ id: "OpenAiResponse" });
export type Response = z.infer<typeof response>;

export const outputTextOf = (text: string): z.infer<typeof outputText> => ({ type: "output_text", text, annotations: [], logprobs: [] });

/** @param id id of its response */
export const messageOf = (id: string, text: string, status: "completed" | "incomplete"): OutputItem => ({
  ...{ type: "message", id: `msg_${id}`, status, role: "assistant" },
  content: [outputTextOf(text)],
});

export const callsOf = (id: string, { toolCalls }: Answer): OutputItem[] =>
  toolCalls.map(({ id: call_id, function: { name, arguments: json } }, index) => ({
    ...{ type: "function_call", id: `fc_${id}_${index}`, call_id, name },
    ...{ arguments: json, status: "completed" },
  }));

const isCut = ({ finishReason }: Answer): boolean => finishReason === "length";

/** Output items: a message, followed by tool calls if there are any; only the calls if there is no text. */
export const outputOf = (id: string, answer: Answer): OutputItem[] => {
  const isSilent = answer.text === "" && answer.toolCalls.length > 0;
  return [...(isSilent ? [] : [messageOf(id, answer.text, isCut(answer) ? "incomplete" : "completed")]), ...callsOf(id, answer)];
};

const usageOf = (used: Usage | undefined): Response["usage"] =>
  used
    ? {
        input_tokens: used.prompt_tokens,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: used.completion_tokens,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: used.total_tokens,
      }
    : null;

/** A response in progress. It repeats the request, as clients expect. @param executionId id of its run */
export const begunResponse = (executionId: string, responseRequest: Request, createdAtMs: number): Response => ({
  ...{ id: `resp_${executionId}`, object: "response", created_at: Math.floor(createdAtMs / 1_000), status: "in_progress" },
  ...{ background: false, error: null, incomplete_details: null, instructions: responseRequest.instructions ?? null },
  ...{ max_output_tokens: responseRequest.max_output_tokens ?? null, model: responseRequest.model, output: [] },
  ...{
    parallel_tool_calls: responseRequest.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: responseRequest.reasoning ?? null,
  },
  ...{ store: false, temperature: responseRequest.temperature ?? null, text: responseRequest.text ?? { format: { type: "text" } } },
  ...{
    tool_choice: responseRequest.tool_choice ?? "auto",
    tools: responseRequest.tools ?? [],
    top_p: responseRequest.top_p ?? null,
    truncation: "disabled",
  },
  ...{ usage: null, user: responseRequest.user ?? null, metadata: responseRequest.metadata ?? {} },
});

export const endedResponse = (startedResponse: Response, executionId: string, answer: Answer): Response => ({
  ...startedResponse,
  status: isCut(answer) ? "incomplete" : "completed",
  incomplete_details: isCut(answer) ? { reason: "max_output_tokens" } : null,
  output: outputOf(executionId, answer),
  usage: usageOf(answer.usage),
});

export const failedResponse = (startedResponse: Response, { body }: ErrorReply): Response => {
  const { code, message: why } = body.error as { code: unknown; message: unknown };
  return { ...startedResponse, status: "failed", error: { code: String(code), message: String(why) } };
};
