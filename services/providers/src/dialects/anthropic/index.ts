import type { ChatSettings } from "../../chat/chat-call";
import { chatProvider } from "../../chat/provider";
import type { DialectContext, TextProvider } from "../../dialect";
import { completionOf } from "./answer";
import { messagesCall } from "./request";
import { readStream, streamed } from "./stream";

/** A text model that uses Anthropic's Messages API. */
export const anthropic = (settings: ChatSettings, context: DialectContext): TextProvider =>
  chatProvider(settings, context, {
    call: (question) => messagesCall(settings, question),
    streamed,
    read: readStream,
    completion: (...answered) => completionOf(settings, ...answered),
  });
