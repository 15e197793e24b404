import { expect, test } from "@playwright/test";
import { setStage } from "./support/stage";

/** Service accounts: created, given a key, changed and deleted on their page. */

const stage = setStage();

test("an owner creates a service account and its key, changes it and deletes it, and its key ends", async () => {
  const account = await stage.http.account({ tier: "business" });
  const { page, complaints, context } = await stage.signedIn(account);
  await page.goto("/keys");
  await page.getByRole("link", { name: "Service accounts" }).click();
  await page.getByText("No service accounts yet").waitFor();

  await page.getByRole("button", { name: "New service account" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "Create" })).toBeDisabled();
  await dialog.getByLabel("Name").fill("Deploys");
  await dialog.getByRole("checkbox", { name: "workflow:read" }).check();
  await dialog.getByRole("checkbox", { name: "keys:write" }).check();
  await dialog.getByRole("button", { name: "Create" }).click();
  const row = page.getByRole("row", { name: /Deploys/ });
  await row.getByText("0 keys").waitFor();

  const open = async (entry: string): Promise<void> => {
    await page.getByRole("button", { name: "Actions for Deploys" }).click();
    await page.getByRole("menuitem", { name: entry }).click();
  };
  await open("New key…");
  await dialog.getByLabel("Name").fill("Pipeline");
  await dialog.getByRole("checkbox", { name: "keys:write" }).uncheck();
  await dialog.getByRole("button", { name: "Create key" }).click();
  const key = (await page.getByRole("region", { name: "API key" }).innerText()).trim();
  await page.getByRole("button", { name: "I saved it" }).click();
  await row.getByText("1 key").waitFor();
  await expect(page.locator("main")).not.toContainText(key);
  const who = () => stage.http.call("GET", "/api/whoami", { key });
  expect((await who()).status).toBe(200);
  expect((await stage.http.call("GET", "/api/workflows", { key })).status).toBe(200);

  await open("Change…");
  await dialog.getByRole("checkbox", { name: "keys:write" }).uncheck();
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(row).not.toContainText("keys:write");

  await open("Delete…");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("No service accounts yet").waitFor();
  await expect.poll(async () => (await who()).status).toBe(401);
  expect(complaints).toEqual([]);
  await context.close();
});
