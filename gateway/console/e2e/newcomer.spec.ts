import { expect, test } from "@playwright/test";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { handOf } from "./support/hand";
import { setStage } from "./support/stage";

/**
 * `npm run drill console`: a person who has read only the output of `npm start` (an address, an account and its password), and then reads
 * only the screen. They build their own pipeline and call it with curl.
 */
const execute = promisify(execFile);
const MOST_CLICKS = 16;

const stage = setStage();

test("a newcomer gets from sign-in to their own pipeline, called by curl, using only the screen", async () => {
  const account = await stage.http.account({ tier: "pro", capabilities: null });
  const { page, context, complaints } = await stage.visit();
  const { click, fill, button, effort } = handOf(page);
  const palette = page.getByRole("listbox", { name: "Nodes" });
  const from = Date.now();
  await page.goto("/");
  await fill(page.getByLabel("Email"), account.email);
  await fill(page.getByLabel("Password"), account.password);
  await click(button("Sign in"));

  await click(button("Start empty"));
  await click(button(/^Add your first node/));
  await click(palette.getByRole("option", { name: /^Inputs/ }));
  await click(page.locator('.react-flow__handle.source[data-handleid="prompt"]'));
  await click(palette.getByRole("option", { name: /^Image/ }));
  await click(page.locator('.react-flow__handle.source[data-handleid="image"]'));
  await click(palette.getByRole("option", { name: /^Results/ }));
  await click(page.getByTestId("run-now"));
  await fill(page.getByLabel("Prompt"), "a paper boat on a quiet lake");
  await click(page.getByTestId("run"));
  await page.locator("section[aria-label=Run] img").waitFor();

  await click(button("Use as API"));
  await click(button("Create key"));
  await page.getByText("The key below is shown only once").waitFor();
  await click(page.getByRole("dialog").getByRole("button", { name: "Copy" }).first());
  const command = (await page.evaluate("navigator.clipboard.readText()")) as string;
  const { stdout } = await execute("sh", ["-c", `${command} -s`]);
  const seconds = Math.round((Date.now() - from) / 1_000);
  process.stdout.write(`a newcomer: ${effort.clicks} clicks, ${seconds} s beside reading and typing\n`);
  expect(JSON.parse(stdout)).toMatchObject({
    success: true,
    result: { images: [{ url: expect.stringContaining("/media/") }] },
  });
  expect(effort.clicks).toBeLessThanOrEqual(MOST_CLICKS);
  expect(complaints).toEqual([]);
  await context.close();
});
