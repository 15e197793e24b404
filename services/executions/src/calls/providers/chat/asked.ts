import { isRecord } from "@nodeloom/kernel";
import type { ProviderSettings } from "@nodeloom/platform";
import type { TextAnswer, TextOptions } from "../dialect";

/** chat/: what the dialects of text models have in common. */

export type ChatSettings = Extract<ProviderSettings, { kind: "llm" }>;

/** What a call is made of. */
export type Asked = Pick<TextOptions, "inputs" | "schema" | "repair">;

/** Inputs that every dialect translates, beside the files. */
const TRANSLATED = ["prompt", "system", "history", "maxTokens"];

/** Inputs that are sent under their own names. */
export const otherInputs = ({ inputs }: Asked, translated: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(inputs).filter(([name]) => !TRANSLATED.includes(name) && !translated.includes(name)));

export interface Turn {
  role: "user" | "assistant";
  content: string;
}

const isTurn = (value: unknown): value is Turn =>
  isRecord(value) && (value.role === "user" || value.role === "assistant") && typeof value.content === "string";

/** What was said before the prompt, the oldest first: the input `history`, as its entry's schema has checked it. */
export const earlierTurns = ({ inputs: { history } }: Asked): Turn[] =>
  Array.isArray(history) ? history.filter(isTurn).map(({ role, content }) => ({ role, content })) : [];

/** Rough, and on the low side: for providers that don't say how many tokens they counted. */
const CHARS_PER_TOKEN = 4;

const isCount = (value: unknown): value is number => typeof value === "number" && value >= 0;

const tokens = (counted: unknown, text: string): number =>
  isCount(counted) ? Math.ceil(counted) : Math.ceil(text.length / CHARS_PER_TOKEN);

/** Tokens as the provider counted them; what it doesn't count is estimated, for no answer is free. */
export const usageOf = (asked: Asked, answer: string, input: unknown, output: unknown): TextAnswer["usage"] => ({
  inputTokens: tokens(input, askedText(asked)),
  outputTokens: tokens(output, answer),
  ...(isCount(input) && isCount(output) ? {} : { isEstimated: true }),
});

/** The texts of a call, as far as they can be counted. */
const askedText = (asked: Asked): string => {
  const { inputs, schema, repair } = asked;
  const said = earlierTurns(asked).map(({ content }) => content);
  return [inputs.system, ...said, inputs.prompt, schema && JSON.stringify(schema), repair?.answer]
    .map((text) => String(text ?? ""))
    .join("");
};
