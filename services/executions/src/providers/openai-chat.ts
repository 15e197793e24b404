import { z } from "zod";
import { ProviderError, type DialectContext, type TextProvider } from "./dialect";
import { pointer } from "./pointer";
import { authSchema, createTransport } from "./transport";

/** OpenAI-compatible chat completions. */
export const llmSchema = z.object({
  kind: z.literal("llm"),
  /** Up to and including the version, for example https://host/v1. */
  baseUrl: z.string(),
  model: z.string(),
  auth: authSchema.optional(),
});
export type LlmSettings = z.infer<typeof llmSchema>;

const TIMEOUT_MS = 300_000;
/** Inputs that are translated; all others are sent as they are. */
const TRANSLATED = new Set(["prompt", "system", "image", "maxTokens", "temperature"]);

const messages = (inputs: Record<string, unknown>): unknown[] => {
  const { prompt, system, image } = inputs;
  const content =
    typeof image === "string"
      ? [
          { type: "text", text: prompt },
          { type: "image_url", image_url: { url: image } },
        ]
      : prompt;
  return [...(typeof system === "string" && system !== "" ? [{ role: "system", content: system }] : []), { role: "user", content }];
};

/** Rough, and on the low side: for providers that don't say how many tokens they counted. */
const CHARS_PER_TOKEN = 4;

/** Tokens as the provider counted them; what it doesn't count is estimated, for no answer is free. */
const tokens = (counted: unknown, text: string): number =>
  typeof counted === "number" && counted >= 0 ? Math.ceil(counted) : Math.ceil(text.length / CHARS_PER_TOKEN);

export const openAiChat = (settings: LlmSettings, context: DialectContext): TextProvider => {
  const transport = createTransport(context, settings.auth);
  return {
    type: "text",
    run: async ({ inputs, signal }) => {
      const rest = Object.fromEntries(Object.entries(inputs).filter(([name]) => !TRANSLATED.has(name)));
      const answer = await transport.json({
        method: "POST",
        url: `${settings.baseUrl}/chat/completions`,
        body: {
          ...rest,
          model: settings.model,
          messages: messages(inputs),
          ...(inputs.maxTokens === undefined ? {} : { max_tokens: inputs.maxTokens }),
          ...(inputs.temperature === undefined ? {} : { temperature: inputs.temperature }),
        },
        timeoutMs: TIMEOUT_MS,
        signal,
      });
      const text = pointer(answer, "/choices/0/message/content");
      if (typeof text !== "string") throw new ProviderError("incomplete", "the provider's answer has no text");
      const id = pointer(answer, "/id");
      return {
        text,
        usage: {
          inputTokens: tokens(pointer(answer, "/usage/prompt_tokens"), `${String(inputs.system ?? "")}${String(inputs.prompt)}`),
          outputTokens: tokens(pointer(answer, "/usage/completion_tokens"), text),
        },
        requestId: typeof id === "string" ? id : null,
      };
    },
  };
};
