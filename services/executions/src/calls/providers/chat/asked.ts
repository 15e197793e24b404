import type { ProviderSettings } from "@nodeloom/platform";
import type { TextOptions } from "../dialect";

/** chat/: what the dialects of text models have in common. */

export type ChatSettings = Extract<ProviderSettings, { kind: "llm" }>;

/** What a call is made of. */
export type Asked = Pick<TextOptions, "inputs" | "schema" | "repair">;

/** Inputs that every dialect translates, beside the files. */
const TRANSLATED = ["prompt", "system", "maxTokens"];

/** Inputs that are sent under their own names. */
export const otherInputs = ({ inputs }: Asked, translated: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(inputs).filter(([name]) => !TRANSLATED.includes(name) && !translated.includes(name)));

/** Rough, and on the low side: for providers that don't say how many tokens they counted. */
const CHARS_PER_TOKEN = 4;

/** Tokens as the provider counted them; what it doesn't count is estimated, for no answer is free. */
export const tokens = (counted: unknown, text: string): number =>
  typeof counted === "number" && counted >= 0 ? Math.ceil(counted) : Math.ceil(text.length / CHARS_PER_TOKEN);

/** The texts of a call, as far as they can be counted. */
export const askedText = ({ inputs, schema, repair }: Asked): string =>
  [inputs.system, inputs.prompt, schema && JSON.stringify(schema), repair?.answer].map((text) => String(text ?? "")).join("");
