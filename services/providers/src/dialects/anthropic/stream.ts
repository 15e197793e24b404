import { isRecord } from "@nodeloom/kernel";
import { brokenOff, pieceOf, type StreamReader } from "../../chat/provider";
import { ProviderError } from "../../dialect";
import { pointer } from "../../pointer";
import { eventData } from "../../sse";
import type { JsonCall } from "../../transport";

/** Combines streamed responses of Anthropic's Messages API into the response of a call without streaming. */

/** Statuses for errors in a stream that mean that the provider is busy. */
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
  const errorText = pointer(event, "/error/message");
  const message = reason(typeof errorText === "string" ? errorText : "the provider reported a failure");
  const status = BUSY.get(pointer(event, "/error/type"));
  return status === undefined ? new ProviderError("failed", message) : new ProviderError("refused", message, status);
};

/**
 * Collects a streamed message. A tool's input arrives as pieces of JSON. @param hasTools true if the tools are the caller's, so that their
 * input isn't the answer
 */
const createMessage = (hasTools: boolean) => {
  let message: Record<string, unknown> = {};
  let usage: Record<string, unknown> = {};
  let text: string | undefined;
  /** Tool calls by the index of their content block. */
  const used = new Map<unknown, { type: "tool_use"; id: unknown; name: unknown; input: string }>();
  const withUsage = (counted: unknown): void => {
    const counts = Object.entries(isRecord(counted) ? counted : {}).filter(([, count]) => typeof count === "number");
    usage = { ...usage, ...Object.fromEntries(counts) };
  };
  return {
    begin: (event: unknown): void => {
      message = { id: pointer(event, "/message/id") };
      withUsage(pointer(event, "/message/usage"));
    },
    open: (event: unknown): void => {
      const block = pointer(event, "/content_block");
      if (pointer(block, "/type") !== "tool_use") return;
      used.set(pointer(event, "/index"), { type: "tool_use", id: pointer(block, "/id"), name: pointer(block, "/name"), input: "" });
    },
    /** @returns the text in an event, if it has any */
    add: (event: unknown): string | undefined => {
      const delta = pointer(event, "/delta");
      const piece = pointer(delta, "/text") ?? pointer(delta, "/partial_json");
      if (typeof piece !== "string") return undefined;
      if (pointer(delta, "/type") === "text_delta") {
        text = (text ?? "") + piece;
        return piece;
      }
      const at = pointer(event, "/index");
      const block = used.get(at) ?? { type: "tool_use", id: undefined, name: undefined, input: "" };
      used.set(at, { ...block, input: block.input + piece });
      return hasTools ? undefined : piece;
    },
    end: (event: unknown): void => {
      const delta = pointer(event, "/delta");
      message = { ...message, ...(isRecord(delta) ? delta : {}) };
      withUsage(pointer(event, "/usage"));
    },
    whole: (): unknown => ({
      ...message,
      usage,
      content: [...(text === undefined ? [] : [{ type: "text", text }]), ...used.values()],
    }),
  };
};

/**
 * Combines a streamed message.
 * @throws ProviderError if the stream is incomplete
 */
export const readStream = async (body: AsyncIterable<Uint8Array>, { onText, reason, hasTools }: StreamReader): Promise<unknown> => {
  const message = createMessage(hasTools);
  let isWhole = false;
  for await (const data of eventData(body)) {
    const event = pieceOf(data);
    switch (pointer(event, "/type")) {
      case "message_start":
        message.begin(event);
        break;
      case "content_block_start":
        message.open(event);
        break;
      case "content_block_delta": {
        const piece = message.add(event);
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
