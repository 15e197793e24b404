import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Browser, Locator, Page } from "playwright-core";
import { launchBrowser, visit } from "../e2e/support/browser";
import { clientOf } from "../e2e/support/client";
import { startPlatform, type Platform } from "../e2e/support/platform";

/**
 * `npm run console:full`: somebody who has read what `npm start` printed (an address, an account and its password) and
 * from then on only what the screen says, up to a pipeline of their own that curl calls.
 */
const execute = promisify(execFile);
const MINUTES = 10;
const MINUTE_MS = 60_000;
const MOST_CLICKS = 16;

let platform: Platform;
let browser: Browser | undefined;

beforeAll(async () => {
  browser = await launchBrowser();
  if (browser) platform = await startPlatform();
}, MINUTES * MINUTE_MS);
afterAll(async () => {
  await browser?.close();
  await platform?.stop();
});

const handOf = (page: Page) => {
  let clicks = 0;
  return {
    click: async (what: Locator): Promise<void> => {
      await what.click();
      clicks += 1;
    },
    /** A field that is clicked and filled. */
    fill: async (what: Locator, text: string): Promise<void> => {
      await what.click();
      await what.fill(text);
      clicks += 1;
    },
    button: (name: string | RegExp): Locator => page.getByRole("button", { name, exact: typeof name === "string" }),
    count: (): number => clicks,
  };
};

it(
  "a newcomer gets from signing in to an own pipeline that curl calls by what the screen says",
  async () => {
    if (!browser) return;
    const account = await clientOf(platform).account({ tier: "pro", capabilities: null });
    const { page, context, complaints } = await visit(browser, { baseUrl: platform.baseUrl });
    const { click, fill, button, count } = handOf(page);
    const palette = page.getByRole("listbox", { name: "Nodes" });
    const from = Date.now();
    await page.goto("/");
    await fill(page.getByLabel("Email"), account.email);
    await fill(page.getByLabel("Password"), account.password);
    await click(button("Sign in"));

    await click(button("Empty canvas"));
    await click(button(/^Add the first node/));
    await click(palette.getByRole("option", { name: /^Inputs/ }));
    await click(page.locator('.react-flow__handle.source[data-handleid="prompt"]'));
    await click(palette.getByRole("option", { name: /^Image/ }));
    await click(page.locator('.react-flow__handle.source[data-handleid="image"]'));
    await click(palette.getByRole("option", { name: /^Results/ }));
    await click(page.locator("header").getByRole("button", { name: "Run", exact: true }));
    await fill(page.getByLabel("Prompt"), "a paper boat on a quiet lake");
    await click(page.getByTestId("run"));
    await page.locator("section[aria-label=Run] img").waitFor();

    await click(button("Use as API"));
    await click(button("Make a key for it"));
    await page.getByText("The key below is shown this once").waitFor();
    await click(page.getByRole("dialog").getByRole("button", { name: "Copy" }).first());
    const command = (await page.evaluate("navigator.clipboard.readText()")) as string;
    const { stdout } = await execute("sh", ["-c", `${command} -s`]);
    const seconds = Math.round((Date.now() - from) / 1_000);
    process.stdout.write(`a newcomer: ${count()} clicks, ${seconds} s beside reading and typing\n`);
    expect(JSON.parse(stdout)).toMatchObject({
      success: true,
      result: { images: [{ url: expect.stringContaining("/media/") as string }] },
    });
    expect(count()).toBeLessThanOrEqual(MOST_CLICKS);
    expect(complaints).toEqual([]);
    await context.close();
  },
  MINUTES * MINUTE_MS,
);
