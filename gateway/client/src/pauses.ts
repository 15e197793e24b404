/** Pauses between attempts at a request. */

const MS = 1_000;
const FIRST_BACK_OFF_MS = 250;
const MAX_BACK_OFF_MS = 8_000;

/** Retry-After in milliseconds, from seconds or a date. */
export const retryAfterMs = (headers: Headers): number | undefined => {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const seconds = Number(text);
  const ms = Number.isFinite(seconds) ? seconds * MS : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
};

export const backOffMs = (attempt: number): number => {
  const ceiling = Math.min(FIRST_BACK_OFF_MS * 2 ** attempt, MAX_BACK_OFF_MS);
  return ceiling / 2 + (Math.random() * ceiling) / 2;
};
