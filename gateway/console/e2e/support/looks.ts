import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { accessibilityProblems, type Visitor } from "../../../../test-support/browser";

const SCREENSHOTS = join(__dirname, "..", "..", "..", "..", ".nodeloom", "screenshots");
const BRIGHT = 0.85;
const DARK = 0.2;

/** Tests with this tag run in both themes, wide and narrow. */
export const EVERY_LOOK = { tag: "@every-look" };

/** Brightness of the page background, from 0 (black) to 1 (white). */
const brightness = async (page: Page): Promise<number> =>
  Number(
    await page.evaluate(`(() => {
      const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).map(Number);
      return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
    })()`),
  );
export const isLight = async (page: Page): Promise<boolean> => (await brightness(page)) > BRIGHT;
export const isDark = async (page: Page): Promise<boolean> => (await brightness(page)) < DARK;

/** Visual problems of pages by path: axe findings, content wider than the window, wrong theme, browser complaints. */
export const lookProblems = async ({ page, complaints }: Visitor, paths: readonly string[]): Promise<Record<string, string[]>> => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const problems: Record<string, string[]> = {};
  const { width } = page.viewportSize()!;
  const theme = (await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")) === true ? "dark" : "light";
  for (const path of paths) {
    await page.goto(path);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await page.waitForLoadState("networkidle");
    const name = path.replaceAll("/", "-").replace(/^-$/, "-dashboard");
    await page.screenshot({ path: join(SCREENSHOTS, `page${name}-${theme}-${width}.png`), animations: "disabled", fullPage: true });
    const tooWide = (await page.evaluate("document.documentElement.scrollWidth > innerWidth")) as boolean;
    const inTheme = await (theme === "light" ? isLight(page) : isDark(page));
    const complaintsFound = [
      ...(await accessibilityProblems(page)),
      ...(tooWide ? ["wider than the window"] : []),
      ...(inTheme ? [] : [`not ${theme}`]),
      ...complaints.splice(0),
    ];
    if (complaintsFound.length > 0) problems[path] = complaintsFound;
  }
  return problems;
};
