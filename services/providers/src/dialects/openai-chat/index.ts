import type { ChatSettings } from "../../chat/chat-call";
import { chatProvider } from "../../chat/provider";
import type { DialectContext, TextProvider } from "../../dialect";
import { chatCall, completionOf } from "./mapping";
import { readStream, streamed } from "./stream";

/** A text model that uses an OpenAI-compatible API. */
export const openAiChat = (settings: ChatSettings, context: DialectContext): TextProvider =>
  chatProvider(settings, context, {
    call: (question) => chatCall(settings, question),
    streamed,
    read: readStream,
    completion: (...answered) => completionOf(settings, ...answered),
  });
