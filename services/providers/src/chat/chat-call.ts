import { isRecord } from "@nodeloom/kernel";
import type { ProviderSettings } from "../entries/settings";
import type { TextAnswer, TextOptions } from "../dialect";
import { toolCallsIn, type ToolCall } from "../tools";

/** chat/: parts that all dialects of text models share. */

export type ChatSettings = Extract<ProviderSettings, { kind: "llm" }>;

/** The parts of a call from which a request is built. */
export type ChatCall = Pick<TextOptions, "inputs" | "schema" | "repair">;

/** Inputs that every dialect translates, except files. */
const TRANSLATED = ["prompt", "system", "history", "steps", "maxTokens"];

/** Inputs that are sent under their own names. */
export const otherInputs = ({ inputs }: ChatCall, translated: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(inputs).filter(([name]) => !TRANSLATED.includes(name) && !translated.includes(name)));

export interface Turn {
  role: "user" | "assistant" | "tool";
  content: string;
  /** Tools that the assistant called in this turn. */
  tool_calls?: ToolCall[];
  /** Id of the call that this tool result belongs to. */
  tool_call_id?: string;
}

const ROLES: readonly unknown[] = ["user", "assistant", "tool"];

const isTurn = (value: unknown): value is Turn => isRecord(value) && ROLES.includes(value.role) && typeof value.content === "string";

const turnsIn = (turns: unknown): Turn[] =>
  (Array.isArray(turns) ? turns : []).filter(isTurn).map(({ role, content, tool_calls: calls, tool_call_id: id }) => ({
    ...{ role, content },
    ...(role === "assistant" && calls !== undefined ? { tool_calls: toolCallsIn(calls, String) } : {}),
    ...(role === "tool" ? { tool_call_id: id ?? "" } : {}),
  }));

/** Turns before the prompt, oldest first, from the input `history`. The entry's schema has already checked it. */
export const earlierTurns = ({ inputs: { history } }: ChatCall): Turn[] => turnsIn(history);

/** Turns after the prompt, oldest first, from the input `steps`. */
export const laterTurns = ({ inputs: { steps } }: ChatCall): Turn[] => turnsIn(steps);

/** A low estimate, used if a provider doesn't report token counts. */
const CHARS_PER_TOKEN = 4;

const isCount = (value: unknown): value is number => typeof value === "number" && value >= 0;

const tokens = (counted: unknown, text: string): number =>
  isCount(counted) ? Math.ceil(counted) : Math.ceil(text.length / CHARS_PER_TOKEN);

/** The provider's token counts, or an estimate, so that no response is free. */
export const usageOf = (question: ChatCall, answer: string, input: unknown, output: unknown): TextAnswer["usage"] => ({
  inputTokens: tokens(input, askedText(question)),
  outputTokens: tokens(output, answer),
  ...(isCount(input) && isCount(output) ? {} : { isEstimated: true }),
});

/** Texts of a call that count as input tokens. */
const askedText = (question: ChatCall): string => {
  const { inputs, schema, repair } = question;
  const turns = [...earlierTurns(question), ...laterTurns(question)].flatMap(({ content, tool_calls: calls }) => [
    content,
    calls && JSON.stringify(calls),
  ]);
  const described = [inputs.tools, schema].map((value) => value && JSON.stringify(value));
  return [inputs.system, ...turns, inputs.prompt, ...described, repair?.answer].map((text) => String(text ?? "")).join("");
};
