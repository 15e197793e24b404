import { isRecord } from "@nodeloom/kernel";
import { z } from "zod";
import { toolCall, type ToolCall } from "./messages";
import { textOf, type RunOutcome, type Usage, type OpenAiRun } from "./runs";
import type { FinishReason } from "./vocabulary";

/** Answer of a text model: text or tool calls. */

export interface Answer {
  /** Empty if the model only calls tools. */
  text: string;
  toolCalls: ToolCall[];
  finishReason: FinishReason;
  usage: Usage | undefined;
}

const calls = z.looseObject({ tool_calls: z.array(toolCall).min(1) });

/** Tool calls in a result of a run with tools. */
const callsIn = (json: unknown, { inputs }: OpenAiRun): ToolCall[] => {
  const parsedCalls = inputs.tools === undefined || !isRecord(json) ? undefined : calls.safeParse(json).data;
  return parsedCalls?.tool_calls ?? [];
};

/** Text of a result; JSON if a schema was requested. */
const contentOf = (result: RunOutcome["result"], { schema }: OpenAiRun): string =>
  schema !== undefined && result.json !== undefined ? JSON.stringify(result.json) : textOf(result);

export const answerOf = ({ result, usage, isCut }: RunOutcome, runRequest: OpenAiRun): Answer => {
  const toolCalls = callsIn(result.json, runRequest);
  if (toolCalls.length === 0) return { text: contentOf(result, runRequest), toolCalls, finishReason: isCut ? "length" : "stop", usage };
  return { text: typeof result.text === "string" ? result.text : "", toolCalls, finishReason: "tool_calls", usage };
};
