import { StringDecoder } from "node:string_decoder";
import { ProviderError, type PollState } from "./dialect";
import { pointer, pointerTexts } from "./pointer";

/** What the answers of several dialects have in common. */

/** Longest request id that is kept: rows, events and usage carry it. */
const MAX_ID_CHARS = 1_000;

/** A request id of a provider, cut where it is too long to be one. */
export const shortId = (id: string): string => id.slice(0, MAX_ID_CHARS);

/** @throws ProviderError when the answer doesn't say how the job is called. */
export const requestIdOf = (answer: unknown, path: string): string => {
  const id = pointer(answer, path);
  if (typeof id !== "string" && typeof id !== "number") throw new ProviderError("refused", "the provider's answer has no request id");
  return shortId(String(id));
};

/** The files' URLs, by the pointers of a registry entry. */
export const filesAt = (outputs: Readonly<Record<string, string>>, answer: unknown): string[] =>
  Object.values(outputs).flatMap((path) => pointerTexts(answer, path));

/** A state whose message is fit to be shown. */
export const shownState = (state: PollState, reason: (text: string) => string): PollState =>
  state.state === "failed" ? { state: "failed", message: reason(state.message) } : state;

const REQUEST_ID_HEADERS = ["x-request-id", "request-id", "x-litellm-call-id"];

/** How a provider calls a request that it answered at once. */
export const answerId = (headers: Readonly<Record<string, string>>): string | null =>
  REQUEST_ID_HEADERS.map((name) => headers[name]).flatMap((id) => (id === undefined || id === "" ? [] : [shortId(id)]))[0] ?? null;

/** The bytes of an answer that is about to be read, as far as its headers tell. */
export const answerBytes = (headers: Readonly<Record<string, string>>, most: number): number => {
  const declared = headers["content-encoding"] === undefined ? Number(headers["content-length"] ?? NaN) : NaN;
  return Number.isInteger(declared) && declared >= 0 ? Math.min(declared, most) : most;
};

/** @throws ProviderError when the body is no JSON. */
export const jsonOf = async (body: AsyncIterable<Buffer>): Promise<unknown> => {
  // Decoded as it arrives: the bytes of an answer and its text are not in memory at once.
  const decoder = new StringDecoder("utf8");
  let text = "";
  for await (const chunk of body) text += decoder.write(chunk);
  try {
    return JSON.parse(text + decoder.end()) as unknown;
  } catch {
    throw new ProviderError("ambiguous", "the provider's answer is no JSON");
  }
};
