import { brokenOff, pieceOf, type StreamReader } from "../../chat/provider";
import { ProviderError } from "../../dialect";
import { pointer } from "../../pointer";
import { eventData } from "../../sse";
import type { JsonCall } from "../../transport";

/** Combines streamed chat completions into the response of a call without streaming. */

const DONE = "[DONE]";

/** Returns the call with streaming enabled. */
export const streamed = (call: JsonCall): JsonCall => ({
  ...call,
  headers: { ...call.headers, accept: "text/event-stream" },
  body: { ...(call.body as object), stream: true, stream_options: { include_usage: true } },
});

interface CallParts {
  id?: unknown;
  function: { name: string; arguments: string };
  extra_content?: unknown;
}

/** Appends the pieces of tool calls in a chunk to earlier pieces, by index. */
const addCalls = (calls: CallParts[], pieces: unknown): void => {
  for (const [at, piece] of (Array.isArray(pieces) ? pieces : []).entries() as Iterable<[number, unknown]>) {
    const place = pointer(piece, "/index");
    const index = typeof place === "number" && place >= 0 && place <= calls.length ? Math.floor(place) : at;
    const call = (calls[index] ??= { function: { name: "", arguments: "" } });
    const [name, text] = [pointer(piece, "/function/name"), pointer(piece, "/function/arguments")];
    call.id ??= pointer(piece, "/id");
    if (typeof name === "string") call.function.name += name;
    if (typeof text === "string") call.function.arguments += text;
    call.extra_content ??= pointer(piece, "/extra_content");
  }
};

const messageOf = (chunk: unknown): string | undefined => {
  if (pointer(chunk, "/error") === undefined) return undefined;
  const message = pointer(chunk, "/error/message");
  return typeof message === "string" ? message : "the provider reported a failure";
};

/**
 * Combines a streamed completion.
 * @throws ProviderError if the stream is incomplete
 */
export const readStream = async (body: AsyncIterable<Uint8Array>, { onText, reason }: StreamReader): Promise<unknown> => {
  let [id, usage]: unknown[] = [];
  const message: { content?: string; refusal?: string; tool_calls: CallParts[] } = { tool_calls: [] };
  let [isWhole, finish]: [boolean, string | undefined] = [false, undefined];
  for await (const data of eventData(body)) {
    if (data === DONE) {
      isWhole = true;
      continue;
    }
    const chunk = pieceOf(data);
    const failure = messageOf(chunk);
    if (failure !== undefined) throw new ProviderError("failed", reason(failure));
    const piece = pointer(chunk, "/choices/0/delta/content");
    if (typeof piece === "string") {
      message.content = (message.content ?? "") + piece;
      if (piece !== "") onText(piece);
    }
    const refusal = pointer(chunk, "/choices/0/delta/refusal");
    if (typeof refusal === "string") message.refusal = (message.refusal ?? "") + refusal;
    addCalls(message.tool_calls, pointer(chunk, "/choices/0/delta/tool_calls"));
    id ??= pointer(chunk, "/id");
    usage = pointer(chunk, "/usage") ?? usage;
    const finishReason = pointer(chunk, "/choices/0/finish_reason");
    if (typeof finishReason === "string") [isWhole, finish] = [true, finishReason];
  }
  if (!isWhole) throw brokenOff();
  return { id, choices: [{ message, finish_reason: finish }], usage };
};
