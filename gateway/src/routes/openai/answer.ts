import { isRecord } from "@nodeloom/kernel";
import { z } from "zod";
import { toolCall, type ToolCall } from "./messages";
import { textOf, type Ended, type Usage, type Wanted } from "./runs";
import type { FinishReason } from "./vocabulary";

/** What a text model answered: words, or calls of tools. */

export interface Answer {
  /** Empty where the model calls tools and says nothing. */
  text: string;
  toolCalls: ToolCall[];
  finishReason: FinishReason;
  usage: Usage | undefined;
}

const calls = z.looseObject({ tool_calls: z.array(toolCall).min(1) });

/** The calls in a result: of runs that were given tools. */
const callsIn = (json: unknown, { inputs }: Wanted): ToolCall[] => {
  const read = inputs.tools === undefined || !isRecord(json) ? undefined : calls.safeParse(json).data;
  return read?.tool_calls ?? [];
};

/** The text of a result; one that was asked for by a schema is JSON. */
const contentOf = (result: Ended["result"], { schema }: Wanted): string =>
  schema !== undefined && result.json !== undefined ? JSON.stringify(result.json) : textOf(result);

export const answerOf = ({ result, usage, isCut }: Ended, wanted: Wanted): Answer => {
  const toolCalls = callsIn(result.json, wanted);
  if (toolCalls.length === 0) return { text: contentOf(result, wanted), toolCalls, finishReason: isCut ? "length" : "stop", usage };
  return { text: typeof result.text === "string" ? result.text : "", toolCalls, finishReason: "tool_calls", usage };
};
