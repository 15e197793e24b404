import { expect, test, type Page } from "@playwright/test";
import type { Account } from "../../../test-support/client";
import { edge, NODE, nodeAt, nodes, saved } from "./support/canvas";
import { setStage } from "./support/stage";

/** The run button: one click at the price on it runs only changed nodes. */
const stage = setStage();
let account: Account;
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "enterprise" });
});

const picture = (id: string, y: number, prompt: string) =>
  nodeAt(id, "generate-image", { x: 0, y }, { model: "sandbox-image-fast", inputs: { prompt, seed: 1 } });
const GRAPH = {
  nodes: [
    picture("boat", 0, "a boat"),
    picture("kite", 340, "a kite"),
    nodeAt("caption", "text-box", { x: 0, y: 680 }, { text: "by the sea" }),
    nodeAt("end", "response-output", { x: 400, y: 0 }),
  ],
  edges: [edge("boat.image", "end.images"), edge("kite.image", "end.images"), edge("caption.text", "end.text")],
};

const runNow = (page: Page) => page.getByTestId("run-now");
const costs = async (slug: string): Promise<number[]> => {
  const { body } = await stage.http.call("GET", `/api/executions?workflowSlug=${slug}`, { key: account.key });
  return (body as { rows: { creditsCost: number }[] }).rows.map(({ creditsCost }) => creditsCost);
};
const completed = async (page: Page, runs: number, slug: string): Promise<void> => {
  await expect.poll(async () => (await costs(slug)).length, { timeout: 60_000 }).toBe(runs);
  await page.locator("section[aria-label=Run] header").getByText("Completed", { exact: true }).waitFor();
};
const rewrite = async (page: Page, id: string, name: string, text: string): Promise<void> => {
  await page.locator(`${NODE}[data-id="${id}"] .node-head`).click();
  await page.getByRole("tab", { name: "Node" }).click();
  await page.getByRole("complementary", { name: "Side panel" }).getByRole("textbox", { name, exact: true }).fill(text);
  await saved(page);
};

test("Run pays only for changes, reports when there are none, and does the same after a reload", async () => {
  const { body } = await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: "One run", ...GRAPH } });
  const slug = String(body.slug);
  const { page } = await stage.signedIn(account);
  await page.goto(`/workflows/${slug}`);
  await nodes(page, GRAPH.nodes.length);
  const [whole, half] = [/Run· ?0\.92 credits/, /Run· ?0\.46 credits/];
  await runNow(page).filter({ hasText: whole }).click();
  await completed(page, 1, slug);
  // Without a change to the graph, no call is made.
  await runNow(page).filter({ hasText: "free" }).click();
  await page.getByText("Nothing has changed since the last run.").waitFor();
  expect(await costs(slug)).toHaveLength(1);
  await rewrite(page, "boat", "Prompt", "a red boat");
  await page.locator(`${NODE}[data-id="boat"] .node-floor-old`).waitFor();
  await page.reload();
  await nodes(page, GRAPH.nodes.length);
  await runNow(page).filter({ hasText: half }).click();
  await completed(page, 2, slug);
  const [first, second] = (await costs(slug)).toSorted((a, b) => b - a);
  expect(second! * 2).toBeCloseTo(first!);
  // A change of a text that no model reads also counts.
  await rewrite(page, "caption", "Text", "by the lake");
  await runNow(page).filter({ hasText: "free" }).click();
  await completed(page, 3, slug);
  await page.getByRole("button", { name: "More run options" }).click();
  await page.getByRole("menuitem", { name: "Run all nodes again" }).click();
  await completed(page, 4, slug);
  expect((await costs(slug)).toSorted((a, b) => b - a)).toEqual([first, first, second, 0]);
});

test("Run reuses an earlier run of the draft if that costs less than reusing the last one, at the price on the button", async () => {
  const fields = [{ name: "motif", type: "text", label: "Motif", default: "a boat" }];
  const graph = {
    nodes: [
      nodeAt("in", "request-input", { x: 0, y: 0 }, { fields }),
      nodeAt("still", "generate-image", { x: 400, y: 0 }, { model: "sandbox-image-fast" }),
    ],
    edges: [edge("in.motif", "still.prompt")],
  };
  const { body } = await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: "Nearest", ...graph } });
  const slug = String(body.slug);
  const { page } = await stage.signedIn(account);
  await page.goto(`/workflows/${slug}`);
  await nodes(page, graph.nodes.length);
  await runNow(page)
    .filter({ hasText: /Run· ?0\.46 credits/ })
    .click();
  await completed(page, 1, slug);
  const other = await stage.http.call("POST", `/api/workflows/${slug}/run`, { key: account.key, body: { inputs: { motif: "a whale" } } });
  expect(other.status).toBe(200);
  await page.goto(`/workflows/${slug}`);
  await nodes(page, graph.nodes.length);
  await runNow(page).filter({ hasText: "free" }).click();
  await completed(page, 3, slug);
  const paidCosts = (await costs(slug)).toSorted((a, b) => b - a);
  expect([paidCosts[0], paidCosts[1]! > 0, paidCosts[2]]).toEqual([paidCosts[1], true, 0]);
});

test("a press on Run right after pasting counts, although the canvas isn't saved or priced yet", async () => {
  const { body } = await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: "Pasted", nodes: [], edges: [] } });
  const { page } = await stage.signedIn(account);
  await page.goto(`/workflows/${String(body.slug)}`);
  await page.getByRole("button", { name: "Add your first node" }).waitFor();
  await runNow(page).and(page.locator(":enabled")).waitFor();
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(JSON.stringify(GRAPH))})`);
  await page.keyboard.press("Control+v");
  await nodes(page, GRAPH.nodes.length);
  await runNow(page).click();
  await completed(page, 1, String(body.slug));
});

test("the first picture is two clicks from sign-in: a card runs its workflow, once", async () => {
  const user = await stage.http.account({ tier: "pro" });
  const { body } = await stage.http.call("POST", "/api/workflows", { key: user.key, body: { name: "Boats", ...GRAPH } });
  const slug = String(body.slug);
  const { page } = await stage.visit();
  await page.goto("/");
  await page.getByLabel("Email").fill(user.email);
  await page.getByLabel("Password").fill(user.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Run Boats" }).click();
  await page.locator("section[aria-label=Run] img").first().waitFor();
  const runs = async (): Promise<number> => {
    const answer = await stage.http.call("GET", `/api/executions?workflowSlug=${slug}`, { key: user.key });
    return (answer.body as { rows: unknown[] }).rows.length;
  };
  expect(await runs()).toBe(1);
  await page.reload();
  await nodes(page, GRAPH.nodes.length);
  await runNow(page).filter({ hasText: "free" }).waitFor();
  expect(await runs()).toBe(1);
});

test("Run opens the form if a required input is empty", async () => {
  const fields = [{ name: "prompt", type: "textarea", label: "Motif", required: true }];
  const graph = { nodes: [nodeAt("in", "request-input", { x: 0, y: 0 }, { fields })], edges: [] };
  const { body } = await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: "Form first", ...graph } });
  const { page } = await stage.signedIn(account);
  await page.goto(`/workflows/${String(body.slug)}`);
  await nodes(page, 1);
  await runNow(page).click();
  await page.getByLabel("Motif").waitFor();
  expect(await costs(String(body.slug))).toEqual([]);
});

/** Allows notifications on a page and records them. */
const NOTICES = `globalThis.notices = [];
globalThis.Notification = class extends EventTarget {
  static permission = "granted";
  constructor(title, { body }) { super(); globalThis.notices.push(title + ": " + body); }
};`;
/** Makes the page behave as if its tab were in the background. */
const HIDE = `Object.defineProperty(document, "hidden", { configurable: true, get: () => true }); document.dispatchEvent(new Event("visibilitychange"));`;

test("a run that ends while its tab is hidden notifies users who allowed it", async () => {
  const slow = nodeAt(
    "slow",
    "generate-image",
    { x: 0, y: 0 },
    { model: "sandbox-image", inputs: { prompt: "a boat", sandbox: { latencyMs: 3_000 } } },
  );
  const { body } = await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: "Slow", nodes: [slow], edges: [] } });
  const { page } = await stage.signedIn(account);
  await page.addInitScript(NOTICES);
  await page.goto(`/workflows/${String(body.slug)}`);
  await nodes(page, 1);
  await runNow(page).click();
  await page.locator(`${NODE}[data-id="slow"]`).getByRole("img", { name: "running" }).first().waitFor();
  await page.evaluate(HIDE);
  await expect.poll(() => page.evaluate(`globalThis.notices.length`), { timeout: 60_000 }).toBe(1);
  expect(await page.evaluate(`globalThis.notices`)).toEqual([expect.stringMatching(/^Slow: Run completed · .+ credits$/)]);
});
