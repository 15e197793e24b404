import { expect, test } from "@playwright/test";
import { accessibilityProblems } from "../../../test-support/browser";
import { EVERY_LOOK } from "./support/looks";
import { setStage } from "./support/stage";

/** `npm run drill console`: tests of a workflow: written in the console, from a run, and run on the draft. */

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

const pictureGraph = (model: string) => ({
  nodes: [
    { id: "in", type: "request-input", position: { x: 0, y: 0 }, data: { fields: [{ name: "topic", type: "text", label: "Topic" }] } },
    { id: "still", type: "generate-image", position: { x: 400, y: 0 }, data: { model, width: 512, height: 512 } },
    { id: "out", type: "response-output", position: { x: 800, y: 0 }, data: {} },
  ],
  edges: [
    { id: "a", source: "in", sourceHandle: "topic", target: "still", targetHandle: "prompt" },
    { id: "b", source: "still", sourceHandle: "image", target: "out", targetHandle: "picture" },
    { id: "c", source: "in", sourceHandle: "topic", target: "out", targetHandle: "caption" },
  ],
});

test("a finished run becomes a test, which fails when the workflow breaks", EVERY_LOOK, async ({}, { project: { name: look } }) => {
  const account = await stage.http.account({ tier: "pro" });
  const body = { name: "Poster", ...pictureGraph("sandbox-image") };
  const slug = String((await stage.http.call("POST", "/api/workflows", { key: account.key, body })).body.slug);
  const ran = await stage.http.call("POST", `/api/workflows/${slug}/run`, {
    key: account.key,
    body: { inputs: { topic: "a lighthouse" } },
  });
  expect(ran.status).toBe(200);
  const { rows } = (await stage.http.call("GET", `/api/executions?workflowSlug=${slug}`, { key: account.key })).body;
  const [{ executionId }] = rows as [{ executionId: string }];
  const { page, context, complaints } = await stage.signedIn(account);
  const shoot = (what: string) => page.screenshot({ path: `.nodeloom/e2e/tests-${look}-${what}.png` });

  await page.goto(`/executions/${executionId}`);
  await page.getByRole("link", { name: "Save as test" }).click();
  const form = page.getByRole("dialog", { name: "New test" });
  await expect(form.getByLabel("Name", { exact: true })).toHaveValue("a lighthouse");
  await expect(form.getByLabel("Topic")).toHaveValue("a lighthouse");
  await expect(form.getByRole("listitem", { name: "Expectation 1" }).getByLabel("Place in the result")).toHaveValue("picture");
  await shoot("form");
  expect(await accessibilityProblems(page)).toEqual([]);
  await form.getByRole("button", { name: "caption equals a lighthouse" }).click();
  await form.getByRole("button", { name: "Add expectation" }).click();
  const third = form.getByRole("listitem", { name: "Expectation 3" });
  await third.getByLabel("Check").selectOption({ label: "Text matches a pattern" });
  await third.getByLabel("Place in the result").fill("caption");
  await third.getByLabel("Pattern (RE2)").fill("(light");
  await form.getByRole("button", { name: "Save", exact: true }).click();
  await expect(third.getByRole("alert")).toBeVisible();
  await expect(third.getByLabel("Pattern (RE2)")).toBeFocused();
  await shoot("problem");
  expect(await accessibilityProblems(page)).toEqual([]);
  await third.getByLabel("Pattern (RE2)").fill("^a light");
  await form.getByRole("button", { name: "Save", exact: true }).click();

  const list = page.getByRole("dialog", { name: "Tests" });
  await list.getByRole("button", { name: /^Run tests · / }).click();
  await expect(list.getByText("Draft: 1 of 1 passed")).toBeVisible({ timeout: 60_000 });
  await expect(list.getByText("equals caption: expected a lighthouse, got a lighthouse")).toBeVisible();
  await shoot("passed");
  expect(await accessibilityProblems(page)).toEqual([]);

  const broken = pictureGraph("sandbox-image");
  broken.edges[2]!.source = "still";
  broken.edges[2]!.sourceHandle = "image";
  expect((await stage.http.call("PUT", `/api/workflows/${slug}`, { key: account.key, body: broken })).status).toBe(200);
  await page.reload();
  await page.goto(`/workflows/${slug}`);
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("menuitem", { name: "Tests…" }).click();
  await list.getByRole("button", { name: /^Run tests · / }).click();
  await expect(list.getByText("Draft: 0 of 1 passed")).toBeVisible({ timeout: 60_000 });
  await expect(list.getByText(/^equals caption: expected a lighthouse, got /)).toBeVisible();
  await shoot("failed");
  expect(await accessibilityProblems(page)).toEqual([]);

  await list.getByRole("button", { name: "Duplicate a lighthouse" }).click();
  await page.getByRole("dialog", { name: "New test" }).getByLabel("Name", { exact: true }).fill("dusk");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Keep editing" }).click();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(list.getByRole("listitem").filter({ hasText: "dusk" })).toBeVisible();
  await list.getByRole("button", { name: "Delete a lighthouse" }).click();
  await expect(list.getByRole("button", { name: "Edit a lighthouse" })).toHaveCount(0);
  const { tests } = (await stage.http.call("GET", `/api/workflows/${slug}`, { key: account.key })).body as { tests: { name: string }[] };
  expect(tests.map(({ name }) => name)).toEqual(["dusk"]);
  expect(complaints).toEqual([]);
  await context.close();
});
