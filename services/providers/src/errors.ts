import { ProviderError } from "./dialect";
import { pointer, readJson } from "./pointer";

/** Messages for error responses of providers. */

const MAX_DETAIL_CHARS = 300;
const OK = 200;
const FIRST_ERROR = 400;
const FIRST_SERVER_ERROR = 500;
const LAST_ERROR = 599;
/** Pointers to a provider's error message, the most specific first. */
const DETAILS = ["/error/message", "/error", "/detail/message", "/detail/0/msg", "/detail", "/message", "/title"];
const CODES = ["/error/code", "/error/type", "/detail/status", "/detail/0/type", "/code"];
const POLICY = /content.?polic|moderation|safety.?(?:system|filter|violation)|content.?(?:filter|moderat)|\bnsfw\b|flagged as sensitive/i;

/** Messages for statuses that concern Nodeloom's account at the provider. Callers don't see the details. */
const OURS: Readonly<Record<number, string>> = {
  401: "it does not accept the platform's key",
  402: "the platform's account there has no credit",
  403: "the platform's key may not do this",
  404: "it does not know the model or the address",
  429: "it has too many requests of ours",
  529: "it has too much to do at the moment",
};

const texts = (document: unknown, places: readonly string[]): string[] =>
  places.map((place) => pointer(document, place)).filter((value): value is string => typeof value === "string" && value !== "");

/** Returns a shortened error message, and whether it names a content policy. */
const detailOf = (answer: unknown): { short: string; isPolicy: boolean } => {
  const [detail = ""] = texts(answer, DETAILS);
  const short = detail.length > MAX_DETAIL_CHARS ? `${detail.slice(0, MAX_DETAIL_CHARS)}…` : detail;
  return { short, isPolicy: [...texts(answer, CODES), detail].some((text) => POLICY.test(text)) };
};

const isErrorStatus = (code: unknown): code is number => typeof code === "number" && code >= FIRST_ERROR && code <= LAST_ERROR;

/**
 * Returns the error in a response with a success status.
 * @param showText makes a provider's text safe to show
 * @param lacksOutput true if the expected output is missing, so that any message counts as an error
 * @returns undefined if the response has no error
 */
export const errorInside = (answer: unknown, showText: (text: string) => string, lacksOutput = false): ProviderError | undefined => {
  const error = pointer(answer, "/error");
  if (!lacksOutput && (error === undefined || error === null || error === false)) return undefined;
  const body = showText(JSON.stringify(answer));
  const { short, isPolicy } = detailOf(readJson(body)?.value ?? answer);
  if (short === "") return undefined;
  const code = pointer(answer, "/error/code");
  const message = isPolicy
    ? `the provider's content policy does not allow this: ${short}`
    : `the provider answered with an error: ${short}`;
  return new ProviderError("refused", showText(message), isErrorStatus(code) ? code : OK, body);
};

/** Message for an error status. @param body the part of the response that is safe to show */
export const refusal = (status: number, body: string): string => {
  const { short, ...detail } = detailOf(readJson(body)?.value);
  const isPolicy = status >= FIRST_ERROR && status < FIRST_SERVER_ERROR && detail.isPolicy;
  if (isPolicy) return `the provider answered ${status}: its content policy does not allow this${short === "" ? "" : `: ${short}`}`;
  const meaning = OURS[status] ?? short;
  return `the provider answered ${status}${meaning === "" ? "" : `: ${meaning}`}`;
};
