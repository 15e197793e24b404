import type { Page } from "@playwright/test";

/** How long the frames of a page take. */

/** Begins to take the times of frames. */
export const FRAMES = `(() => {
  globalThis.frameTimes = [];
  let last = performance.now();
  const next = (now) => { globalThis.frameTimes.push(now - last); last = now; globalThis.frameLoop = requestAnimationFrame(next); };
  globalThis.frameLoop = requestAnimationFrame(next);
})()`;

/** Ends that. @returns the median, in milliseconds */
export const medianFrame = async (page: Page): Promise<number> =>
  Number(
    await page.evaluate(
      `(cancelAnimationFrame(globalThis.frameLoop), globalThis.frameTimes.sort((a, b) => a - b)[globalThis.frameTimes.length >> 1])`,
    ),
  );
