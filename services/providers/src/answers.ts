import { ProviderError } from "./dialect";
import { pointer } from "./pointer";

/** Helpers for answers that several dialects share. */

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

const REQUEST_ID_HEADERS = ["x-request-id", "request-id", "x-litellm-call-id"];

/** How a provider calls a request that it answered at once. */
export const answerId = (headers: Readonly<Record<string, string>>): string | null =>
  REQUEST_ID_HEADERS.map((name) => headers[name]).flatMap((id) => (id === undefined || id === "" ? [] : [shortId(id)]))[0] ?? null;

/** The bytes of an answer that is about to be read, as far as its headers tell. */
export const answerBytes = (headers: Readonly<Record<string, string>>, most: number): number => {
  const declared = headers["content-encoding"] === undefined ? Number(headers["content-length"] ?? NaN) : NaN;
  return Number.isInteger(declared) && declared >= 0 ? Math.min(declared, most) : most;
};
