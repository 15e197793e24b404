import { expect, test, type Page } from "@playwright/test";
import { accessibilityProblems, canvasStands } from "../../../test-support/browser";
import type { Account } from "../../../test-support/client";
import { edge, NODE, nodeAt, nodes, saved } from "./support/canvas";
import { setStage } from "./support/stage";

/** `npm run drill console`: another model for a node, compared on the workflow's inputs before it is taken. */

const stage = setStage();
let account: Account;
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "enterprise" });
});

const graphWith = (model: string) => ({
  nodes: [
    nodeAt("in", "request-input", { x: 0, y: 0 }, { fields: [{ name: "topic", type: "text", label: "Topic", default: "a boat" }] }),
    nodeAt("stills", "generate-image", { x: 400, y: 0 }, { model, label: "Stills" }),
    nodeAt("end", "response-output", { x: 800, y: 0 }),
  ],
  edges: [edge("in.topic", "stills.prompt"), edge("stills.image", "end.images")],
});

const make = async (body: object): Promise<string> =>
  String((await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: "Swapped", ...body } })).body.slug);
const runWith = (slug: string, topic: string) =>
  stage.http.call("POST", `/api/workflows/${slug}/run`, { key: account.key, body: { inputs: { topic } } });
const modelIn = async (slug: string): Promise<unknown> => {
  const { body } = await stage.http.call("GET", `/api/workflows/${slug}`, { key: account.key });
  return (body.nodes as { id: string; data: { model?: string } }[]).find(({ id }) => id === "stills")?.data.model;
};
const openOn = async (slug: string) => {
  const visitor = await stage.signedIn(account);
  await visitor.page.goto(`/workflows/${slug}`);
  await nodes(visitor.page, 3);
  await canvasStands(visitor.page);
  return visitor;
};
const select = (page: Page) => page.locator(`${NODE}[data-id="stills"] .node-head`).click();

test("another model runs on the last inputs for the price said before; closing changes nothing, and taking it is one undoable edit", async () => {
  const slug = await make(graphWith("sandbox-image"));
  for (const topic of ["a boat", "a kite", "a kite"]) await runWith(slug, topic);
  const { page, context, complaints } = await openOn(slug);
  await select(page);
  await page.keyboard.press("Shift+M");
  const dialog = page.getByRole("dialog", { name: "Another model for “Stills”" });
  await expect(dialog.getByRole("button", { name: "Sandbox Image", exact: true })).toHaveCount(0);
  expect(await accessibilityProblems(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Sandbox Image Fast" }).click();
  const compare = dialog.getByRole("button", { name: /^Compare · 2 pairs, [\d.]+ credits$/ });
  await compare.waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  const price = Number(/([\d.]+) credits/.exec((await compare.textContent()) ?? "")![1]);
  await compare.click();
  const verdict = dialog.getByText(/^In 2 pairs, Sandbox Image Fast completes 2 of 2 runs \(Sandbox Image: 2\), it costs \d+% less/);
  await verdict.waitFor({ timeout: 60_000 });
  await expect(verdict).toContainText("too few pairs");
  const [batch] = (await stage.http.call("GET", `/api/workflows/${slug}/tests/runs`, { key: account.key })).body.rows as {
    creditsCost: number;
    against: { creditsCost: number };
  }[];
  expect(batch!.against.creditsCost).toBe(0);
  expect(batch!.creditsCost).toBeCloseTo(price, 2);
  const pair = dialog.getByRole("article", { name: "a kite" });
  await expect(pair.getByRole("img")).toHaveCount(2);
  await expect(pair.getByText(/^[\d.]+ (ms|s)$/)).toHaveCount(2);
  expect(await accessibilityProblems(page)).toEqual([]);
  await pair.getByRole("button", { name: "Compare a kite" }).click();
  await page.getByRole("slider").first().waitFor();
  await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "Keep Sandbox Image", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await modelIn(slug)).toBe("sandbox-image");
  await page.keyboard.press("Shift+M");
  await dialog
    .getByRole("region", { name: "Previous comparisons" })
    .getByRole("button", { name: /^Sandbox Image Fast, / })
    .click();
  await dialog.getByRole("button", { name: "Use Sandbox Image Fast" }).click();
  await page.getByText("“Stills” now uses Sandbox Image Fast. You can undo this.").waitFor();
  await saved(page);
  expect(await modelIn(slug)).toBe("sandbox-image-fast");
  await page.keyboard.press("ControlOrMeta+z");
  await saved(page);
  await expect.poll(() => modelIn(slug)).toBe("sandbox-image");
  expect(complaints).toEqual([]);
  await context.close();
});

test("the tests of the workflow judge both models", async () => {
  const tests = [
    { name: "dusk", inputs: { topic: "dusk" }, expect: [{ path: "images", file: { kind: "image" } }] },
    { name: "dear", inputs: { topic: "dawn" }, expect: [], maxCredits: 1 },
  ];
  const slug = await make({ ...graphWith("sandbox-image"), tests });
  const { page, context, complaints } = await openOn(slug);
  await select(page);
  await page.keyboard.press("Shift+M");
  const dialog = page.getByRole("dialog", { name: "Another model for “Stills”" });
  await dialog.getByRole("button", { name: "Sandbox Image Fast" }).click();
  await dialog.getByRole("button", { name: /^Compare · 2 pairs, / }).click();
  await dialog.getByText(/^In 2 pairs, Sandbox Image Fast passes 2 of 2 tests \(Sandbox Image: 1\), /).waitFor({ timeout: 60_000 });
  await expect(dialog.getByRole("article", { name: "dear" }).getByText(/^maxCredits: expected 1, got \d/)).toBeVisible();
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});

test("a retired model offers its successor, and earlier results stand on its side", async () => {
  const { body: file } = await stage.http.asAdmin("GET", "/api/admin/models/sandbox-image-fast");
  const { kind, dialect, outputs } = file.provider as Record<string, unknown>;
  const provider = { kind, dialect, outputs, app: "gone", baseUrl: "https://models.example.com" };
  const names = { internalName: "leaving-image", displayName: "Leaving Image", successor: "sandbox-image-fast" };
  const leaving = { ...file, ...names, provider, sandbox: false, tasks: [], retired: true };
  expect((await stage.http.asAdmin("POST", "/api/admin/models", leaving)).status).toBe(201);
  const slug = await make(graphWith("sandbox-image"));
  await runWith(slug, "a heron");
  const retired = await stage.http.call("PUT", `/api/workflows/${slug}`, { key: account.key, body: graphWith("leaving-image") });
  expect(retired.status).toBe(200);
  const { page, context, complaints } = await openOn(slug);
  await select(page);
  await page.getByRole("complementary").getByRole("button", { name: "Compare with Sandbox Image Fast" }).click();
  const dialog = page.getByRole("dialog", { name: "Another model for “Stills”" });
  await dialog.getByText("The current model is retired and can't run.").waitFor();
  await dialog.getByRole("button", { name: /^Compare · 1 pair, / }).click();
  await dialog
    .getByText(/^In 1 pair, Sandbox Image Fast completes 1 of 1 run \(leaving-image: 1\), it costs /)
    .waitFor({ timeout: 60_000 });
  await expect(dialog.getByRole("article", { name: "a heron" }).getByRole("img")).toHaveCount(2);
  expect(await accessibilityProblems(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Use Sandbox Image Fast" }).click();
  await saved(page);
  expect(await modelIn(slug)).toBe("sandbox-image-fast");
  await expect(page.getByRole("button", { name: "Compare with Sandbox Image Fast" })).toHaveCount(0);
  expect(complaints).toEqual([]);
  await context.close();
});
