import { expect, test, type Page } from "@playwright/test";
import { accessibilityProblems, canvasStands } from "../../../test-support/browser";
import { eventually, type Account } from "../../../test-support/client";
import { edge, NODE, nodeAt, nodes, saved } from "./support/canvas";
import { setStage } from "./support/stage";

/** `npm run drill console`: settings compared side by side, pins, parts converted to workflows, and the inputs of a run's nodes. */
const stage = setStage();
let account: Account;
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "enterprise" });
});

interface SavedWorkflow {
  name: string;
  nodes: { id: string; type: string; data: Record<string, unknown>; view?: object }[];
  edges: { source: string; sourceHandle: string; target: string; targetHandle: string }[];
}
const read = async (slug: string): Promise<SavedWorkflow> =>
  (await stage.http.call("GET", `/api/workflows/${slug}`, { key: account.key })).body as unknown as SavedWorkflow;

const DRAWN = {
  nodes: [
    nodeAt("in", "request-input", { x: 0, y: 0 }, { fields: [{ name: "topic", type: "text", label: "Topic", default: "a boat" }] }),
    nodeAt("words", "text-box", { x: 340, y: 0 }, { text: "{{topic}} in ink", label: "Words" }),
    nodeAt("stills", "generate-image", { x: 680, y: 0 }, { model: "sandbox-image", label: "Stills" }),
    nodeAt("clip", "generate-video", { x: 1_020, y: 0 }, { model: "sandbox-video", label: "Clip", inputs: { seconds: 1 } }),
    nodeAt("end", "response-output", { x: 1_360, y: 0 }),
  ],
  edges: [
    edge("in.topic", "words.topic"),
    edge("words.text", "stills.prompt"),
    edge("words.text", "clip.prompt"),
    edge("stills.image", "clip.image"),
    edge("clip.video", "end.videos"),
  ],
};

const onCanvas = (name: string, graph: { nodes: object[]; edges: unknown[] }, act: (page: Page, slug: string) => Promise<void>): void =>
  test(name, async () => {
    const { body } = await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: "Drawn", ...graph } });
    const slug = String(body.slug);
    const { page, context, complaints } = await stage.signedIn(account);
    await page.goto(`/workflows/${slug}`);
    await nodes(page, graph.nodes.length);
    await canvasStands(page);
    await act(page, slug);
    expect(complaints).toEqual([]);
    await context.close();
  });

const head = (page: Page, id: string) => page.locator(`${NODE}[data-id="${id}"] .node-head`);

onCanvas(
  "two settings are compared in a table with prices shown first; the pick is applied, and later runs reuse it",
  DRAWN,
  async (page, slug) => {
    await head(page, "stills").click();
    await page.keyboard.press("e");
    const dialog = page.getByRole("dialog", { name: "Variations of “Stills”" });
    await dialog.getByLabel("Vary").selectOption("model");
    await dialog.getByRole("checkbox", { name: /^Sandbox Image ·/ }).check();
    await dialog.getByRole("checkbox", { name: /^Sandbox Image Fast/ }).check();
    await dialog.getByLabel("and", { exact: true }).selectOption("seed");
    await dialog.getByLabel("Number of seeds").selectOption("2");
    const tried = dialog.getByRole("list", { name: "Setting" });
    await tried.getByText(/cr$/).nth(3).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    const button = dialog.getByTestId("sweep");
    await button.getByText(/^Run 4 · \d/).waitFor();
    const price = Number(/[\d.]+ credits/.exec((await button.textContent()) ?? "")?.[0].split(" ")[0]);
    await button.click();
    const table = dialog.getByRole("region", { name: "Variations" });
    await table
      .getByRole("button", { name: /^View / })
      .nth(3)
      .waitFor();
    await table.locator("img").nth(3).waitFor();
    expect(await table.getByRole("row").count()).toBe(3);
    // The clip, which costs more than all pictures, wasn't created.
    const [batch] = (await stage.http.call("GET", "/api/batches?limit=1", { key: account.key })).body.rows as {
      batchId: string;
      creditsCost: number;
      until: string;
    }[];
    expect(batch).toMatchObject({ until: "stills" });
    expect(batch!.creditsCost).toBeLessThanOrEqual(price);
    await table
      .getByRole("group", { name: /^Rating of/ })
      .nth(2)
      .getByRole("button", { name: "4 of 5" })
      .click();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Best first" }).click();
    await dialog
      .getByRole("list", { name: "Variations" })
      .getByRole("button", { name: /^Use this: Sandbox Image Fast/ })
      .first()
      .click();
    await page.getByText(/“Stills” now has these settings/).waitFor();
    await saved(page);
    expect((await read(slug)).nodes.find(({ id }) => id === "stills")!.data).toMatchObject({
      model: "sandbox-image-fast",
      inputs: { seed: expect.any(Number) },
    });
    // A chosen result isn't charged again.
    const again = page.getByRole("form", { name: "Run again" });
    await again.getByText(/1 of 2 reused/).waitFor();
    await again.getByRole("button", { name: /^Run again · / }).click();
    await page.locator(`${NODE}[data-id="clip"]`).getByRole("img", { name: "completed" }).waitFor();
    // The node shows the result again, with its rating.
    await head(page, "stills").click();
    await page.keyboard.press("e");
    await dialog.getByRole("region", { name: "Previous variations" }).getByRole("button").first().click();
    await dialog.locator('[aria-pressed="true"][aria-label="4 of 5"]').waitFor();
  },
);

onCanvas("a part becomes a separate workflow, runs as before, opens from its node, and undo reverts it", DRAWN, async (page, slug) => {
  await head(page, "words").click();
  await head(page, "stills").click({ modifiers: ["Shift"] });
  await page.keyboard.press("Control+Shift+G");
  const dialog = page.getByRole("dialog", { name: "Convert to workflow" });
  await dialog.getByLabel("Name").fill("Drawing");
  expect(await accessibilityProblems(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Convert" }).click();
  await page.locator(`${NODE} .node-title`, { hasText: "Drawing" }).waitFor();
  await saved(page);
  const outer = await read(slug);
  expect(outer.nodes.map(({ type }) => type)).toEqual(["request-input", "generate-video", "response-output", "workflow"]);
  const part = outer.nodes.at(-1)!;
  expect(outer.edges.map(({ source, target }) => `${source} ${target}`)).toEqual([
    `in ${part.id}`,
    `${part.id} clip`,
    `${part.id} clip`,
    "clip end",
  ]);
  const ran = await stage.http.call("POST", `/api/workflows/${slug}/run?version=draft`, { key: account.key, body: { inputs: {} } });
  expect(ran.status).toBe(200);
  expect((ran.body.result as { videos: unknown[] }).videos).toHaveLength(1);
  await page.locator(`${NODE}[data-id="${part.id}"] .node-line, ${NODE}[data-id="${part.id}"] .node-head .node-icon`).first().dblclick();
  await page.getByRole("heading", { name: "Drawing", level: 1 }).waitFor();
  await nodes(page, 4);
  const inner = await read(String(part.data.slug));
  expect(inner.nodes.map(({ type }) => type)).toEqual(["text-box", "generate-image", "request-input", "response-output"]);
  await page.goBack();
  await nodes(page, 4);
});

onCanvas("undo restores a part that one node replaced", DRAWN, async (page, slug) => {
  const before = await read(slug);
  await head(page, "words").click();
  await page.keyboard.press("Control+Shift+G");
  await page.getByRole("button", { name: "Convert" }).click();
  await page.locator(`${NODE} .node-title`, { hasText: "Part of Drawn" }).waitFor();
  await page.getByRole("button", { name: /^Undo: Convert to workflow/ }).click();
  await eventually(async () => JSON.stringify((await read(slug)).nodes) === JSON.stringify(before.nodes));
  // A selection that encloses another node would form a cycle.
  await head(page, "words").click();
  await head(page, "clip").click({ modifiers: ["Shift"] });
  await page.keyboard.press("Control+Shift+G");
  await page.getByText(/“Stills” is between/).waitFor();
});

onCanvas("the next run keeps a pinned result, and creates and charges the rest", DRAWN, async (page, slug) => {
  await page.keyboard.press("Control+Enter");
  await page.getByTestId("run").click();
  await page.locator(`${NODE}[data-id="clip"]`).getByRole("img", { name: "completed" }).waitFor();
  await page.locator("section[aria-label=Run] header").getByText("Completed", { exact: true }).waitFor();
  await head(page, "stills").click();
  await page.keyboard.press("k");
  await page.locator(`${NODE}[data-id="stills"]`).getByRole("img", { name: "pinned" }).waitFor();
  await saved(page);
  expect((await read(slug)).nodes.find(({ id }) => id === "stills")!.view).toEqual({ pinned: true });
  await page.keyboard.press("Control+Enter");
  await page.getByText(/Keeps the results of “Stills”.*1 of 2 reused/).waitFor();
  const started = page.waitForResponse(
    (response) => response.url().includes("/rerun") && !response.url().includes("quote") && response.request().method() === "POST",
  );
  await page.getByTestId("run").click();
  const executionId = (await started).headers()["x-execution-id"];
  interface Ran {
    status: string;
    nodes: { id: string; creditsCost: number; reusedFrom?: string }[];
  }
  const ran = async (): Promise<Ran> =>
    (await stage.http.call("GET", `/api/executions/${executionId}`, { key: account.key })).body as unknown as Ran;
  await eventually(async () => (await ran()).status === "completed");
  const of = new Map((await ran()).nodes.map((one) => [one.id, one]));
  expect(of.get("stills")).toMatchObject({ creditsCost: 0, reusedFrom: expect.any(String) });
  expect(of.get("clip")!.creditsCost).toBeGreaterThan(0);
  expect(of.get("clip")!.reusedFrom).toBeUndefined();
});

onCanvas("each node of a run shows its inputs, beside the canvas and on the run's page", DRAWN, async (page) => {
  await page.keyboard.press("Control+Enter");
  await page.getByLabel("Topic").fill("a kite");
  await page.getByTestId("run").click();
  await page.locator("section[aria-label=Run] header").getByText("Completed", { exact: true }).waitFor();
  await head(page, "clip").click();
  await page.getByText("Inputs and settings").click();
  const panel = page.getByRole("complementary", { name: "Side panel" });
  await panel.getByText("from Words, Stills").waitFor();
  await panel.getByText("a kite in ink").waitFor();
  await page.getByRole("tab", { name: "Run" }).click();
  await page.getByRole("link", { name: "Open run" }).click();
  const clip = page.locator("main li", { hasText: "generate-video · clip" });
  await clip.getByText("Inputs and settings").click();
  await clip.getByText("a kite in ink").waitFor();
  await clip.getByText("seconds").waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
});
