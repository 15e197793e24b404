import { ProviderError } from "../../dialect";
import { pointer, readJson } from "../../pointer";
import { eventData } from "../../sse";
import type { JsonCall } from "../../transport";

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

/**
 * Puts a streamed completion together, as the answer it would have been otherwise.
 * @param reason makes what the provider says fit to be shown
 * @throws ProviderError for an answer that broke off: a part of a text is no text
 */
export const readStream = async (
  body: AsyncIterable<Uint8Array>,
  onText: (piece: string) => void,
  reason: (text: string) => string,
): Promise<unknown> => {
  let [id, content, usage]: [unknown, string | undefined, unknown] = [undefined, undefined, undefined];
  let [isWhole, finish]: [boolean, string | undefined] = [false, undefined];
  for await (const data of eventData(body)) {
    if (data === DONE) {
      isWhole = true;
      continue;
    }
    const read = readJson(data);
    if (!read) throw new ProviderError("ambiguous", "a piece of the provider's answer is no JSON");
    const chunk = read.value;
    const failure = messageOf(chunk);
    if (failure !== undefined) throw new ProviderError("failed", reason(failure));
    const piece = pointer(chunk, "/choices/0/delta/content");
    if (typeof piece === "string") {
      content = (content ?? "") + piece;
      if (piece !== "") onText(piece);
    }
    id ??= pointer(chunk, "/id");
    usage = pointer(chunk, "/usage") ?? usage;
    const ended = pointer(chunk, "/choices/0/finish_reason");
    if (typeof ended === "string") [isWhole, finish] = [true, ended];
  }
  if (!isWhole) throw new ProviderError("ambiguous", "the provider's answer broke off");
  return { id, choices: content === undefined ? [] : [{ message: { content }, finish_reason: finish }], usage };
};
