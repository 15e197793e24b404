import { brokenOff, pieceOf, type StreamReader } from "../../chat/provider";
import { ProviderError } from "../../dialect";
import { pointer } from "../../pointer";
import { eventData } from "../../sse";
import type { JsonCall } from "../../transport";

/** Streamed answers of chat completions, put together to the answer of a call without streaming. */

const DONE = "[DONE]";

/** The same call, answered piece by piece. */
export const streamed = (call: JsonCall): JsonCall => ({
  ...call,
  headers: { ...call.headers, accept: "text/event-stream" },
  body: { ...(call.body as object), stream: true, stream_options: { include_usage: true } },
});

const messageOf = (chunk: unknown): string | undefined => {
  if (pointer(chunk, "/error") === undefined) return undefined;
  const message = pointer(chunk, "/error/message");
  return typeof message === "string" ? message : "the provider reported a failure";
};

/** Puts a streamed completion together. @throws ProviderError for one that broke off */
export const readStream = async (body: AsyncIterable<Uint8Array>, { onText, reason }: StreamReader): Promise<unknown> => {
  let [id, usage]: unknown[] = [];
  const message: { content?: string; refusal?: string } = {};
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
    id ??= pointer(chunk, "/id");
    usage = pointer(chunk, "/usage") ?? usage;
    const ended = pointer(chunk, "/choices/0/finish_reason");
    if (typeof ended === "string") [isWhole, finish] = [true, ended];
  }
  if (!isWhole) throw brokenOff();
  return { id, choices: [{ message, finish_reason: finish }], usage };
};
