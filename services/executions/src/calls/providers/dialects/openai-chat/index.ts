import type { DialectContext, TextAnswer, TextProvider } from "../../dialect";
import { createTransport, DIRECT_TIMEOUT_MS } from "../../transport";
import { chatCall, completionOf } from "./mapping";
import { readStream, streamed } from "./stream";
import type { ChatSettings } from "./structured";

const EVENT_STREAM = /^text\/event-stream\b/i;

/** A text model behind an OpenAI-compatible API. */
export const openAiChat = (settings: ChatSettings, context: DialectContext): TextProvider => {
  const transport = createTransport(context, settings);
  return {
    type: "text",
    run: async ({ signal, onText, ...asked }) => {
      const call = { ...chatCall(settings, asked), timeoutMs: DIRECT_TIMEOUT_MS, signal };
      const complete = (answer: unknown): TextAnswer => completionOf(settings, asked, answer);
      if (!settings.stream || !onText) return complete(await transport.json(call));
      const { headers, body } = await transport.open(streamed(call));
      // A service that can't stream answers as it always does.
      const isStream = EVENT_STREAM.test(headers["content-type"] ?? "");
      return complete(isStream ? await readStream(body, onText, transport.reason) : await transport.parse(body));
    },
  };
};
