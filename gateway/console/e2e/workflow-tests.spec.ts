import { expect, test } from "@playwright/test";
import { setStage } from "./support/stage";

/** `npm run drill console`: tests of a workflow in the dialog of versions. */

const stage = setStage();

test("the tests of the draft run, and each shows the expected and the actual result", async () => {
  const account = await stage.http.account({ tier: "pro" });
  const nodes = [
    { id: "t", type: "text-box", position: { x: 0, y: 0 }, data: { text: "hello" } },
    { id: "out", type: "response-output", position: { x: 400, y: 0 }, data: {} },
  ];
  const edges = [{ id: "e", source: "t", sourceHandle: "text", target: "out", targetHandle: "text" }];
  const tests = [
    { name: "greets", inputs: {}, expect: [{ equals: "hello" }] },
    { name: "leaves", inputs: {}, expect: [{ contains: "goodbye" }] },
  ];
  const body = { name: "Tested", nodes, edges, tests };
  const slug = String((await stage.http.call("POST", "/api/workflows", { key: account.key, body })).body.slug);
  await stage.http.call("POST", `/api/workflows/${slug}/versions`, { key: account.key, body: {} });
  const { page, context, complaints } = await stage.signedIn(account);
  await page.goto(`/workflows/${slug}`);
  await page.getByRole("button", { name: "Version 1" }).click();
  const section = page.getByRole("region", { name: "Tests" });
  await section.getByRole("button", { name: "Test draft" }).click();
  await expect(section.getByText("Draft: 1 of 2 passed")).toBeVisible({ timeout: 30_000 });
  await expect(section.getByText("contains: expected goodbye, got hello")).toBeVisible();
  expect(complaints).toEqual([]);
  await context.close();
});
