const FIRST_MS = 250;
const LONGEST_MS = 10_000;
const HEALTHY_AFTER_MS = 60_000;

/**
 * Restart delays: doubled after each crash, reset after a healthy minute.
 * @param {{ firstMs?: number, longestMs?: number, healthyAfterMs?: number }} [options]
 * @returns {(ranForMs: number) => number} maps the duration of the last run to the delay, in milliseconds
 */
export const createBackoff = ({ firstMs = FIRST_MS, longestMs = LONGEST_MS, healthyAfterMs = HEALTHY_AFTER_MS } = {}) => {
  let next = firstMs;
  return (ranForMs) => {
    if (ranForMs >= healthyAfterMs) next = firstMs;
    const delay = next;
    next = Math.min(next * 2, longestMs);
    return delay;
  };
};
