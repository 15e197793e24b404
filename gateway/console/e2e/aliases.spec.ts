import { expect, test } from "@playwright/test";
import { setStage } from "./support/stage";

/** `npm run drill console`: aliases in the dialog of versions. */

const stage = setStage();

test("a version is rolled back and promoted with one click", async () => {
  const account = await stage.http.account({ tier: "pro" });
  const call = (method: string, path: string, body: object = {}) => stage.http.call(method, path, { key: account.key, body });
  const says = (text: string) => ({ nodes: [{ id: "t", type: "text-box", position: { x: 0, y: 0 }, data: { text } }], edges: [] });
  const slug = String((await call("POST", "/api/workflows", { name: "Released", ...says("one") })).body.slug);
  await call("POST", `/api/workflows/${slug}/versions`);
  await call("PUT", `/api/workflows/${slug}`, says("two"));
  await call("POST", `/api/workflows/${slug}/versions`);
  const { page, context, complaints } = await stage.signedIn(account);
  await page.goto(`/workflows/${slug}`);
  await page.getByRole("button", { name: "Version 2" }).click();
  await page.getByRole("button", { name: "Roll back to version 1" }).click();
  await expect(page.getByText("production runs version 1", { exact: false }).first()).toBeVisible();
  const production = async () => (await stage.http.call("GET", `/api/workflows/${slug}/aliases/production`, { key: account.key })).body;
  expect(await production()).toMatchObject({ version: 1, isDefault: false });
  await page.locator("li > div > button[aria-expanded]").filter({ hasText: "Version 2" }).click();
  await page.getByRole("button", { name: "Point to version 2" }).click();
  await expect(page.getByText("staging runs version 2", { exact: false }).first()).toBeVisible();
  await page.getByLabel("Share of production").fill("51");
  await expect(page.getByRole("button", { name: "Start canary" })).toBeDisabled();
  await page.getByLabel("Share of production").fill("20");
  await page.getByRole("button", { name: "Start canary" }).click();
  const canary = page.getByRole("group", { name: "Canary of production" });
  await expect(canary).toContainText("Canary: version 2 gets 20 % of the runs, and is promoted after 50");
  await expect(canary).toContainText("Version 1: 0 runs, 0 failed");
  expect(await production()).toMatchObject({ version: 1, canary: { version: 2, percent: 20, minRuns: 50 } });
  await canary.getByRole("button", { name: "Stop canary" }).click();
  await expect(canary).toHaveCount(0);
  await page.getByRole("button", { name: "Promote to version 2" }).click();
  await expect(page.getByText("production runs version 2", { exact: false }).first()).toBeVisible();
  await page.getByRole("button", { name: "Follow the newest version" }).click();
  await expect(page.getByRole("button", { name: "Follow the newest version" })).toHaveCount(0);
  expect(await production()).toMatchObject({ version: 2, isDefault: true });
  expect(complaints).toEqual([]);
  await context.close();
});
