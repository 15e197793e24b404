const SECONDS = /^\d+(?:\.\d+)?$/;
const HTTP_DATE = /^[A-Za-z]{3,9},? .+GMT$/;

/** Parses a Retry-After header (seconds or an HTTP date). Returns milliseconds; undefined if the header requests no pause. */
export const parseRetryAfter = (header: string | undefined, now = Date.now()): number | undefined => {
  const text = header?.trim() ?? "";
  if (SECONDS.test(text)) return Number(text) * 1_000;
  if (!HTTP_DATE.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
};
