import { ProviderError, type PollState } from "./dialect";
import { pointer, pointerTexts } from "./pointer";

/** What the answers of several dialects have in common. */

/** @throws ProviderError when the answer doesn't say how the job is called. */
export const requestIdOf = (answer: unknown, path: string): string => {
  const id = pointer(answer, path);
  if (typeof id !== "string" && typeof id !== "number") throw new ProviderError("refused", "the provider's answer has no request id");
  return String(id);
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
  REQUEST_ID_HEADERS.map((name) => headers[name]).find((id) => id !== undefined && id !== "") ?? null;

/** @throws ProviderError when the body is no JSON. */
export const jsonOf = async (body: AsyncIterable<Buffer>): Promise<unknown> => {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown;
  } catch {
    throw new ProviderError("ambiguous", "the provider's answer is no JSON");
  }
};
