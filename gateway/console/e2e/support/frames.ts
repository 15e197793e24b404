import type { Page } from "@playwright/test";

/** Frame times of a page. */

/** Starts the measurement. */
export const FRAMES = `(() => {
  globalThis.frameTimes = [];
  let last = performance.now();
  const next = (now) => { globalThis.frameTimes.push(now - last); last = now; globalThis.frameLoop = requestAnimationFrame(next); };
  globalThis.frameLoop = requestAnimationFrame(next);
})()`;

/**
 * Ends the measurement.
 * @returns the median in milliseconds
 */
export const medianFrame = async (page: Page): Promise<number> =>
  Number(
    await page.evaluate(
      `(cancelAnimationFrame(globalThis.frameLoop), globalThis.frameTimes.sort((a, b) => a - b)[globalThis.frameTimes.length >> 1])`,
    ),
  );
