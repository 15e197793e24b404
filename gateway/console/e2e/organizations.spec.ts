import { expect, test, type Page } from "@playwright/test";
import { setStage } from "./support/stage";

/** `npm run drill console`: two people and an organization, by the texts on the screen. */

const stage = setStage();

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

test("a user creates an organization, another joins by its link, and their rights follow their role", async () => {
  const ada = await stage.http.account({ tier: "pro", capabilities: null });
  const grace = await stage.http.account({ tier: "pro", capabilities: null });
  const { page } = await stage.signedIn(ada);
  await page.goto("/organizations");
  await button(page, "Create organization").click();
  await page.getByLabel("Name").fill("Loom Works");
  await button(page, "Create").click();
  await page.getByRole("tab", { name: "Invitations" }).click();
  await button(page, "Invite member").click();
  await button(page, "Create link").click();
  const link = (await page.getByRole("region", { name: "Link" }).innerText()).trim();
  await button(page, "Done").click();

  const other = await stage.signedIn(grace);
  await other.page.goto(link);
  await button(other.page, "Join organization").click();
  await other.page.getByRole("button", { name: "Account: Loom Works" }).waitFor();
  await button(other.page, "New workflow").click();
  await other.page.getByLabel("Name").fill("Shared by both");
  await button(other.page, "Create").click();
  await other.page.waitForURL(/\/workflows\//);

  await page.goto("/");
  await page
    .getByRole("link", { name: /Shared by both/ })
    .first()
    .waitFor();
  await page.goto("/organizations");
  await page.getByRole("link", { name: "Loom Works" }).click();
  await page.getByLabel(`Role of ${grace.email}`).selectOption("viewer");
  await page.getByText(`${grace.email} now has the role viewer.`).waitFor();
  await page.getByRole("tab", { name: "Audit log" }).click();
  await page.getByText("member.change").waitFor();

  // A viewer sees the organization's data, and her own account keeps its own.
  await other.page.goto("/");
  await other.page
    .getByRole("link", { name: /Shared by both/ })
    .first()
    .waitFor();
  await other.page.getByRole("button", { name: "Account: Loom Works" }).click();
  await other.page.getByRole("menuitem", { name: "Personal account" }).click();
  await other.page.getByRole("button", { name: "Account: Personal account" }).waitFor();
  await other.page.getByText("Start from a template").waitFor();
  expect(await other.page.getByRole("link", { name: /Shared by both/ }).count()).toBe(0);

  // An owner schedules the deletion with the organization's name and her password. Every member sees this, and she cancels it.
  await page.getByRole("tab", { name: "Settings" }).click();
  await button(page, "Delete…").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Password").fill(ada.password);
  await dialog.getByLabel("Type Loom Works to continue").fill("Loom");
  expect(await button(page, "Delete organization").isDisabled()).toBe(true);
  await dialog.getByLabel("Type Loom Works to continue").fill("Loom Works");
  await button(page, "Delete organization").click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("Loom Works will be deleted").waitFor();
  await other.page.goto("/organizations");
  await other.page.getByText("to be deleted").waitFor();
  await button(page, "Keep organization").click();
  await page.getByText("Loom Works will be deleted").waitFor({ state: "detached" });
});

test("a removed member works for their own account again, without an error", async () => {
  const [ada, grace] = [
    await stage.http.account({ tier: "pro", capabilities: null }),
    await stage.http.account({ tier: "pro", capabilities: null }),
  ];
  const { page } = await stage.signedIn(ada);
  await page.goto("/organizations");
  await button(page, "Create organization").click();
  await page.getByLabel("Name").fill("Short-lived");
  await button(page, "Create").click();
  await page.getByRole("tab", { name: "Invitations" }).click();
  await button(page, "Invite member").click();
  await button(page, "Create link").click();
  const link = (await page.getByRole("region", { name: "Link" }).innerText()).trim();
  const other = await stage.signedIn(grace);
  await other.page.goto(link);
  await button(other.page, "Join organization").click();
  await other.page.getByRole("button", { name: "Account: Short-lived" }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: `Remove ${grace.email}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await other.page.reload();
  await other.page.getByText("Start from a template").waitFor();
  expect(await other.page.getByRole("button", { name: /Account: Short-lived/ }).count()).toBe(0);
});
