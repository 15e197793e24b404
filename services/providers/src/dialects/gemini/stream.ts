import { brokenOff, pieceOf, type StreamReader } from "../../chat/provider";
import { ProviderError } from "../../dialect";
import { pointer, pointerAll } from "../../pointer";
import { eventData } from "../../sse";
import type { JsonCall } from "../../transport";
import { textIn } from "./answer";

/** Combines streamed responses of Google's generateContent into the response of a call without streaming. */

export const streamed = (call: JsonCall): JsonCall => ({
  ...call,
  url: `${call.url.replace(/:generateContent$/, ":streamGenerateContent")}?alt=sse`,
  headers: { ...call.headers, accept: "text/event-stream" },
});

/**
 * Combines a streamed response. Each event is a response with the next piece.
 * @throws ProviderError if the stream is incomplete
 */
export const readStream = async (body: AsyncIterable<Uint8Array>, { onText, reason }: StreamReader): Promise<unknown> => {
  let [responseId, usageMetadata, promptFeedback, finishReason]: unknown[] = [];
  let text: string | undefined;
  const calls: unknown[] = [];
  for await (const data of eventData(body)) {
    const event = pieceOf(data);
    const failure = pointer(event, "/error");
    if (failure !== undefined) {
      const [message, code] = [pointer(failure, "/message"), pointer(failure, "/code")];
      const reasonText = reason(typeof message === "string" ? message : "the provider reported a failure");
      throw typeof code === "number"
        ? new ProviderError("refused", reasonText, code, reason(JSON.stringify(event)))
        : new ProviderError("failed", reasonText);
    }
    const piece = textIn(event);
    if (piece !== undefined) text = (text ?? "") + piece;
    if (piece) onText(piece);
    calls.push(...pointerAll(event, "/candidates/0/content/parts/*").filter((part) => pointer(part, "/functionCall") !== undefined));
    responseId ??= pointer(event, "/responseId");
    usageMetadata = pointer(event, "/usageMetadata") ?? usageMetadata;
    promptFeedback ??= pointer(event, "/promptFeedback");
    finishReason = pointer(event, "/candidates/0/finishReason") ?? finishReason;
  }
  if (finishReason === undefined && pointer(promptFeedback, "/blockReason") === undefined) throw brokenOff();
  const content = { parts: [...(text === undefined ? [] : [{ text }]), ...calls] };
  return { responseId, usageMetadata, promptFeedback, candidates: [{ content, finishReason }] };
};
