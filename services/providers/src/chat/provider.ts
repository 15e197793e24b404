import { ProviderError, type DialectContext, type TextAnswer, type TextProvider } from "../dialect";
import { readJson } from "../pointer";
import { createTransport, DIRECT_TIMEOUT_MS, type JsonCall } from "../transport";
import type { ChatCall, ChatSettings } from "./chat-call";

/** Builds a text model from a dialect, with complete and streamed answers. Invalid JSON is repaired once. */

const EVENT_STREAM = /^text\/event-stream\b/i;

export interface StreamReader {
  /** Called with each piece of the text. */
  onText: (piece: string) => void;
  /** Makes a provider's text safe to show. */
  reason: (text: string) => string;
  hasTools: boolean;
}

/** Builds the request for a text model and reads its answer. */
export interface ChatDialect {
  call(question: ChatCall): JsonCall;
  /** Returns the call with streaming enabled. */
  streamed(call: JsonCall): JsonCall;
  /**
   * Combines a streamed response into the complete response.
   * @throws ProviderError if the stream is incomplete, because a part of a text isn't a result
   */
  read(body: AsyncIterable<Uint8Array>, reader: StreamReader): Promise<unknown>;
  /**
   * @param reason makes a provider's text safe to show
   * @throws ProviderError if the answer has no text
   */
  completion(question: ChatCall, answer: unknown, reason: (text: string) => string): TextAnswer;
}

/**
 * Parses a piece of a streamed response.
 * @throws ProviderError if it isn't JSON
 */
export const pieceOf = (data: string): unknown => {
  const parsedJson = readJson(data);
  if (!parsedJson) throw new ProviderError("ambiguous", "a piece of the provider's answer isn't JSON");
  return parsedJson.value;
};

/** Creates the error for an answer without text. @param isCut true if the token limit ended it, because reasoning used all tokens */
export const noText = (isCut: boolean): ProviderError =>
  new ProviderError(
    "incomplete",
    isCut ? "the most tokens were reached before the model wrote any text" : "the provider's answer has no text",
  );

/** Creates the error for a stream that ended before its answer was complete. */
export const brokenOff = (): ProviderError => new ProviderError("ambiguous", "the provider's answer broke off");

export const chatProvider = (settings: ChatSettings, context: DialectContext, dialect: ChatDialect): TextProvider => {
  const transport = createTransport(context, settings);
  return {
    type: "text",
    run: async ({ signal, onText, ...question }) => {
      const call = { ...dialect.call(question), timeoutMs: DIRECT_TIMEOUT_MS, signal };
      const completion = (answer: unknown): TextAnswer => {
        const error = transport.errorInside(answer);
        if (error) throw error;
        try {
          return dialect.completion(question, answer, transport.reason);
        } catch (failure) {
          const isLacking = failure instanceof ProviderError && failure.kind === "incomplete";
          throw isLacking ? (transport.errorInside(answer, true) ?? failure) : failure;
        }
      };
      if (!settings.stream || !onText) return completion(await transport.json(call));
      const { headers, body } = await transport.open(dialect.streamed(call));
      // A service that doesn't support streaming sends a complete response.
      const isStream = EVENT_STREAM.test(headers["content-type"] ?? "");
      const reader = { onText, reason: transport.reason, hasTools: question.inputs.tools !== undefined };
      return completion(isStream ? await dialect.read(body, reader) : await transport.parse(body));
    },
  };
};
