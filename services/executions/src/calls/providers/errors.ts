import { pointer, readJson } from "./pointer";

/** What a provider's refusal means, in words for those who asked. */

const MAX_DETAIL_CHARS = 300;
/** Where providers say what was wrong, the most telling first. */
const DETAILS = ["/error/message", "/error", "/detail/message", "/detail/0/msg", "/detail", "/message", "/title"];
const CODES = ["/error/code", "/error/type", "/detail/status", "/detail/0/type", "/code"];
const POLICY = /content.?polic|moderation|safety.?(?:system|filter|violation)|content.?(?:filter|moderat)|\bnsfw\b|flagged as sensitive/i;

/** Of statuses that are no one's fault who asked: the details would only speak of our account. */
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

/** A provider's error status in words. @param body what may be shown of its answer */
export const refusal = (status: number, body: string): string => {
  const answer = readJson(body)?.value;
  const [detail = ""] = texts(answer, DETAILS);
  const short = detail.length > MAX_DETAIL_CHARS ? `${detail.slice(0, MAX_DETAIL_CHARS)}…` : detail;
  const isPolicy = status >= 400 && status < 500 && [...texts(answer, CODES), detail].some((text) => POLICY.test(text));
  if (isPolicy) return `the provider answered ${status}: its content policy does not allow this${short === "" ? "" : `: ${short}`}`;
  const meaning = OURS[status] ?? short;
  return `the provider answered ${status}${meaning === "" ? "" : `: ${meaning}`}`;
};
