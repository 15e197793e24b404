import type { DialectContext, TextProvider } from "../dialect";
import { createTransport } from "../transport";
import { chatCall, completionOf } from "./mapping";
import type { OpenAiChatSettings } from "./settings";

export { openAiChatSchema } from "./settings";

const TIMEOUT_MS = 300_000;

/** A text model behind an OpenAI-compatible API. */
export const openAiChat = (settings: OpenAiChatSettings, context: DialectContext): TextProvider => {
  const transport = createTransport(context, settings.auth);
  return {
    type: "text",
    run: async ({ inputs, signal }) =>
      completionOf(inputs, await transport.json({ ...chatCall(settings, inputs), timeoutMs: TIMEOUT_MS, signal })),
  };
};
