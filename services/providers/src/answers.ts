import { ProviderError } from "./dialect";
import { pointer } from "./pointer";

/** Helpers for reading responses in several dialects. */

/** Maximum length of a stored request id. Rows, events and usage contain it. */
const MAX_ID_CHARS = 1_000;

/** A provider's request id, cut to `MAX_ID_CHARS`. */
export const shortId = (id: string): string => id.slice(0, MAX_ID_CHARS);

/** @throws ProviderError if the response has no job id */
export const requestIdOf = (answer: unknown, path: string): string => {
  const id = pointer(answer, path);
  if (typeof id !== "string" && typeof id !== "number") throw new ProviderError("refused", "the provider's answer has no request id");
  return shortId(String(id));
};

const REQUEST_ID_HEADERS = ["x-request-id", "request-id", "x-litellm-call-id"];

/** Request id of a response that has the complete result. */
export const answerId = (headers: Readonly<Record<string, string>>): string | null =>
  REQUEST_ID_HEADERS.map((name) => headers[name]).flatMap((id) => (id === undefined || id === "" ? [] : [shortId(id)]))[0] ?? null;

/** Size of a response according to its headers. */
export const answerBytes = (headers: Readonly<Record<string, string>>, most: number): number => {
  const declared = headers["content-encoding"] === undefined ? Number(headers["content-length"] ?? NaN) : NaN;
  return Number.isInteger(declared) && declared >= 0 ? Math.min(declared, most) : most;
};
