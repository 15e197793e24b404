import { shortId } from "../../answers";
import { ProviderError, type TextAnswer, type TextOptions } from "../../dialect";
import { pointer } from "../../pointer";
import type { JsonCall } from "../../transport";
import { instruction, repairTurns, responseFormat, unwrapped, type ChatSettings } from "./structured";

/** What a call is made of. */
export type Asked = Pick<TextOptions, "inputs" | "schema" | "repair">;

/** Inputs that are translated; all others are sent as they are. */
const TRANSLATED = new Set(["prompt", "system", "image", "maxTokens", "temperature"]);

/** Rough, and on the low side: for providers that don't say how many tokens they counted. */
const CHARS_PER_TOKEN = 4;

const messages = (settings: ChatSettings, asked: Asked): unknown[] => {
  const { prompt, system, image } = asked.inputs;
  const systems = [...(typeof system === "string" && system !== "" ? [system] : []), ...instruction(settings, asked)];
  const content =
    typeof image === "string"
      ? [
          { type: "text", text: prompt },
          { type: "image_url", image_url: { url: image } },
        ]
      : prompt;
  return [
    ...(systems.length > 0 ? [{ role: "system", content: systems.join("\n\n") }] : []),
    { role: "user", content },
    ...repairTurns(asked),
  ];
};

export const chatCall = (settings: ChatSettings, asked: Asked): JsonCall => {
  const { baseUrl, model, tokenLimit = "max_tokens" } = settings;
  const { inputs } = asked;
  return {
    method: "POST",
    url: `${baseUrl}/chat/completions`,
    body: {
      ...Object.fromEntries(Object.entries(inputs).filter(([name]) => !TRANSLATED.has(name))),
      model,
      messages: messages(settings, asked),
      ...(inputs.maxTokens === undefined ? {} : { [tokenLimit]: inputs.maxTokens }),
      ...(inputs.temperature === undefined ? {} : { temperature: inputs.temperature }),
      ...responseFormat(settings, asked),
    },
  };
};

/** Tokens as the provider counted them; what it doesn't count is estimated, for no answer is free. */
const tokens = (counted: unknown, text: string): number =>
  typeof counted === "number" && counted >= 0 ? Math.ceil(counted) : Math.ceil(text.length / CHARS_PER_TOKEN);

const MAX_REFUSAL_CHARS = 300;

/** Why a completion has no text, when that was decided. */
const refusalOf = (answer: unknown): ProviderError | undefined => {
  const refusal = pointer(answer, "/choices/0/message/refusal");
  if (typeof refusal === "string" && refusal !== "")
    return new ProviderError("refused", `the model refuses this: ${refusal.slice(0, MAX_REFUSAL_CHARS)}`);
  if (pointer(answer, "/choices/0/finish_reason") === "content_filter")
    return new ProviderError("refused", "the provider's content policy does not allow this");
  return undefined;
};

const askedText = ({ inputs, schema, repair }: Asked): string =>
  [inputs.system, inputs.prompt, schema && JSON.stringify(schema), repair?.answer].map((text) => String(text ?? "")).join("");

/** The text of a completion and what it used. @throws ProviderError when it has no text. */
export const completionOf = (settings: ChatSettings, asked: Asked, answer: unknown): TextAnswer => {
  const text = pointer(answer, "/choices/0/message/content");
  const refusal = typeof text === "string" && text !== "" ? undefined : refusalOf(answer);
  if (refusal) throw refusal;
  if (typeof text !== "string") throw new ProviderError("incomplete", "the provider's answer has no text");
  const id = pointer(answer, "/id");
  return {
    text: unwrapped(settings, asked, text),
    ...(pointer(answer, "/choices/0/finish_reason") === "length" ? { isCut: true } : {}),
    usage: {
      inputTokens: tokens(pointer(answer, "/usage/prompt_tokens"), askedText(asked)),
      outputTokens: tokens(pointer(answer, "/usage/completion_tokens"), text),
    },
    requestId: typeof id === "string" ? shortId(id) : null,
  };
};
