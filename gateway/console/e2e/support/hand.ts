import type { Locator, Page } from "@playwright/test";

/** Effort of a task with pointer and keyboard. */
export interface Effort {
  clicks: number;
  /** Number of key presses without letters of texts, which no editor can save. */
  presses: number;
  letters: number;
}

/** Acts like a person and counts the actions. A drag counts as a click. */
export const handOf = (page: Page) => {
  const effort: Effort = { clicks: 0, presses: 0, letters: 0 };
  const click = async (what: Locator): Promise<void> => {
    await what.click();
    effort.clicks += 1;
  };
  return {
    effort,
    click,
    button: (name: string | RegExp): Locator => page.getByRole("button", { name, exact: typeof name === "string" }),
    press: async (...keys: string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key);
      effort.presses += keys.length;
    },
    type: async (words: string): Promise<void> => {
      await page.keyboard.type(words);
      effort.letters += words.length;
    },
    fill: async (what: Locator, words: string): Promise<void> => {
      await click(what);
      await what.fill(words);
      effort.letters += words.length;
    },
    drag: async (from: { x: number; y: number }, to: { x: number; y: number }): Promise<void> => {
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(to.x, to.y, { steps: 5 });
      await page.mouse.up();
      effort.clicks += 1;
    },
  };
};
export type Hand = ReturnType<typeof handOf>;
