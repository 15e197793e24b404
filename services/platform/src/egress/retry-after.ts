const SECONDS = /^\d+(?:\.\d+)?$/;
const HTTP_DATE = /^[A-Za-z]{3,9},? .+GMT$/;

/** The pause in milliseconds that a Retry-After header asks for, by seconds or by an HTTP date; undefined when it asks for none. */
export const parseRetryAfter = (header: string | undefined, now = Date.now()): number | undefined => {
  const text = header?.trim() ?? "";
  if (SECONDS.test(text)) return Number(text) * 1_000;
  if (!HTTP_DATE.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
};
