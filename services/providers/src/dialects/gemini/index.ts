import type { ChatSettings } from "../../chat/chat-call";
import { chatProvider } from "../../chat/provider";
import type { DialectContext, TextProvider } from "../../dialect";
import { completionOf } from "./answer";
import { generateCall } from "./request";
import { readStream, streamed } from "./stream";

/** A text model that uses Google's `generateContent`. */
export const gemini = (settings: ChatSettings, context: DialectContext): TextProvider =>
  chatProvider(settings, context, {
    call: (question) => generateCall(settings, question),
    streamed,
    read: readStream,
    completion: completionOf,
  });
