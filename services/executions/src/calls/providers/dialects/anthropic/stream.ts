import { isRecord } from "@nodeloom/kernel";
import { brokenOff, pieceOf, type StreamReader } from "../../chat/provider";
import { ProviderError } from "../../dialect";
import { pointer } from "../../pointer";
import { eventData } from "../../sse";
import type { JsonCall } from "../../transport";

/** Streamed answers of Anthropic's Messages API, put together to the answer of a call without streaming. */

/** Statuses of errors that a stream tells after it has begun, where they mean that the provider is busy. */
const BUSY: ReadonlyMap<unknown, number> = new Map([
  ["rate_limit_error", 429],
  ["overloaded_error", 529],
]);

export const streamed = (call: JsonCall): JsonCall => ({
  ...call,
  headers: { ...call.headers, accept: "text/event-stream" },
  body: { ...(call.body as object), stream: true },
});

const failureOf = (event: unknown, reason: StreamReader["reason"]): ProviderError => {
  const said = pointer(event, "/error/message");
  const message = reason(typeof said === "string" ? said : "the provider reported a failure");
  const status = BUSY.get(pointer(event, "/error/type"));
  return status === undefined ? new ProviderError("failed", message) : new ProviderError("refused", message, status);
};

/** A message while it arrives. What a tool is given comes as pieces of JSON. */
const createMessage = () => {
  let message: Record<string, unknown> = {};
  let usage: Record<string, unknown> = {};
  let [text, input]: (string | undefined)[] = [];
  const withUsage = (counted: unknown): void => {
    const known = Object.entries(isRecord(counted) ? counted : {}).filter(([, count]) => typeof count === "number");
    usage = { ...usage, ...Object.fromEntries(known) };
  };
  return {
    begin: (event: unknown): void => {
      message = { id: pointer(event, "/message/id") };
      withUsage(pointer(event, "/message/usage"));
    },
    /** @returns the text of a piece */
    add: (delta: unknown): string | undefined => {
      const piece = pointer(delta, "/text") ?? pointer(delta, "/partial_json");
      if (typeof piece !== "string") return undefined;
      if (pointer(delta, "/type") === "text_delta") text = (text ?? "") + piece;
      else input = (input ?? "") + piece;
      return piece;
    },
    end: (event: unknown): void => {
      const delta = pointer(event, "/delta");
      message = { ...message, ...(isRecord(delta) ? delta : {}) };
      withUsage(pointer(event, "/usage"));
    },
    whole: (): unknown => ({
      ...message,
      usage,
      content: [...(text === undefined ? [] : [{ type: "text", text }]), ...(input === undefined ? [] : [{ type: "tool_use", input }])],
    }),
  };
};

/** Puts a streamed message together. @throws ProviderError for one that broke off */
export const readStream = async (body: AsyncIterable<Uint8Array>, { onText, reason }: StreamReader): Promise<unknown> => {
  const message = createMessage();
  let isWhole = false;
  for await (const data of eventData(body)) {
    const event = pieceOf(data);
    switch (pointer(event, "/type")) {
      case "message_start":
        message.begin(event);
        break;
      case "content_block_delta": {
        const piece = message.add(pointer(event, "/delta"));
        if (piece) onText(piece);
        break;
      }
      case "message_delta":
        message.end(event);
        break;
      case "message_stop":
        isWhole = true;
        break;
      case "error":
        throw failureOf(event, reason);
    }
  }
  if (!isWhole) throw brokenOff();
  return message.whole();
};
