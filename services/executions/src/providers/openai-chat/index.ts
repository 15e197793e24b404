import type { DialectContext, TextProvider } from "../dialect";
import { createTransport } from "../transport";
import { chatCall, completionOf } from "./mapping";
import type { OpenAiChatSettings } from "./settings";
import { readStream, streamed } from "./stream";

export { openAiChatSchema } from "./settings";

const TIMEOUT_MS = 300_000;
const EVENT_STREAM = /^text\/event-stream\b/i;

/** A text model behind an OpenAI-compatible API. */
export const openAiChat = (settings: OpenAiChatSettings, context: DialectContext): TextProvider => {
  const transport = createTransport(context, settings.auth);
  return {
    type: "text",
    run: async ({ inputs, signal, onText }) => {
      const call = { ...chatCall(settings, inputs), timeoutMs: TIMEOUT_MS, signal };
      if (!settings.stream || !onText) return completionOf(inputs, await transport.json(call));
      const { headers, body } = await transport.open(streamed(call));
      // A service that can't stream answers as it always does.
      const isStream = EVENT_STREAM.test(headers["content-type"] ?? "");
      return completionOf(inputs, isStream ? await readStream(body, onText, transport.reason) : await transport.parse(body));
    },
  };
};
