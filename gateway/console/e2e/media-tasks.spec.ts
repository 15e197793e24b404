import { expect, test, type Page } from "@playwright/test";
import { mongo } from "mongoose";
import { canvasStands } from "../../../test-support/browser";
import { eventually, type Account } from "../../../test-support/client";
import { edge, NODE, nodeAt, nodes, saved } from "./support/canvas";
import type { Hand } from "./support/hand";
import { setStage } from "./support/stage";
import { taskOn } from "./support/task";

/** `npm run drill console`: everyday tasks with media and their effort, as listed in docs/guide/console-comparison.md. */
const DAY_MS = 24 * 60 * 60 * 1_000;
const WEEK_DAYS = 7;
const stage = setStage();
let account: Account;
const slugs: Record<string, string> = {};
const task = taskOn(stage, () => account);

const stills = (data: object = {}): object =>
  nodeAt("stills", "generate-image", { x: 400, y: 0 }, { model: "sandbox-image", label: "Stills", ...data });
const LIST = nodeAt("list", "list", { x: 0, y: 0 }, { items: ["a boat", "a kite", "a fox"] });
const END = nodeAt("end", "response-output", { x: 800, y: 0 });
const LINKS = [edge("list.items", "stills.prompt"), edge("stills.image", "end.images")];
const THREE = { nodes: [LIST, stills(), END], edges: LINKS };
const ONE = { nodes: [stills({ inputs: { prompt: "a boat" } }), END], edges: [edge("stills.image", "end.images")] };
/** The clip of this graph fails after its pictures succeed. */
const FAILING = {
  nodes: [
    LIST,
    stills(),
    nodeAt("clip", "generate-video", { x: 800, y: 0 }, { model: "sandbox-video", inputs: { seconds: 1, sandbox: { fail: "job" } } }),
  ],
  edges: [edge("list.items", "stills.prompt"), edge("list.items", "clip.prompt"), edge("stills.image", "clip.image")],
};

const run = (slug: string) => stage.http.call("POST", `/api/workflows/${slug}/run`, { key: account.key, body: { inputs: {} } });

/** Makes a workflow and its run a week old. */
const age = async (slug: string, executionId: string): Promise<void> => {
  const { env } = stage.platform;
  const client = await mongo.MongoClient.connect(env.MONGODB_URI!);
  const collection = (service: string) => client.db(`${env.MONGODB_DATABASE_PREFIX}${service}`).collection<{ _id: string }>(service);
  const executions = collection("executions");
  const at = new Date(Date.now() - WEEK_DAYS * DAY_MS);
  // Runs from before a workflow was created belong to an earlier workflow of that slug.
  await collection("workflows").updateOne({ _id: slug }, { $set: { createdAt: at } });
  await executions.updateOne({ _id: executionId }, { $set: { createdAt: at, finishedAt: at } });
  await client.close();
};

test.beforeAll(async () => {
  const { http } = stage;
  account = await http.account({ tier: "enterprise" });
  for (const [name, graph] of Object.entries({ three: THREE, one: ONE, failing: FAILING, empty: { nodes: [], edges: [] } }))
    slugs[name] = String((await http.call("POST", "/api/workflows", { key: account.key, body: { name, ...graph } })).body.slug);
  await age(slugs.one!, (await run(slugs.one!)).headers.get("x-execution-id")!);
  await run(slugs.three!);
  await run(slugs.three!);
  await run(slugs.failing!);
});

const onCanvas =
  (name: string, count: number) =>
  async (page: Page): Promise<void> => {
    await page.goto(`/workflows/${slugs[name]}`);
    if (count > 0) await nodes(page, count);
    else await page.getByRole("button", { name: "Add your first node" }).waitFor();
    await canvasStands(page);
  };
const onMade =
  (name: string, count: number) =>
  async (page: Page): Promise<void> => {
    await onCanvas(name, count)(page);
    await page.locator(`${NODE}[data-id="stills"] .node-stage img`).first().waitFor();
  };
const head = (page: Page, id: string) => page.locator(`${NODE}[data-id="${id}"] .node-head`);
const viewer = (page: Page) => page.getByRole("dialog", { name: /Viewing/ });
/** Selects a node and opens its results. */
const look = async ({ click, press }: Hand, page: Page): Promise<void> => {
  await click(head(page, "stills"));
  await press("v");
  await viewer(page).waitFor();
};

task("see all results of a fan-out at once", { clicks: 2, keys: 1 }, onMade("three", 3), async (hand, page) => {
  await look(hand, page);
  await hand.click(viewer(page).getByRole("button", { name: "Contact sheet" }));
  await viewer(page).getByRole("region", { name: "Contact sheet" }).locator("img").nth(2).waitFor();
});

task("compare two runs", { clicks: 2, keys: 1 }, onMade("three", 3), async (hand, page) => {
  await look(hand, page);
  await viewer(page).getByText("run 1 of 2").waitFor();
  await hand.click(viewer(page).getByRole("button", { name: "Compare with slider" }));
  await viewer(page).getByRole("slider").waitFor();
  expect(await viewer(page).locator("img[alt^='A:'], img[alt^='B:']").count()).toBe(2);
});

task("make only what failed again", { clicks: 1, keys: 0 }, onCanvas("failing", 3), async ({ click }, page) => {
  await click(page.getByTestId("run-now"));
  await page
    .getByText(/reused/)
    .first()
    .waitFor();
});

const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC";
task("put a photo on the canvas", { clicks: 1, keys: 0 }, onCanvas("empty", 0), async ({ effort }, page) => {
  effort.clicks += 1;
  await page.evaluate(`(() => {
    const bytes = Uint8Array.from(atob("${PICTURE}"), (one) => one.charCodeAt(0));
    const data = new DataTransfer();
    data.items.add(new File([bytes], "harbour.png", { type: "image/png" }));
    const { left, top, width, height } = document.querySelector(".board").getBoundingClientRect();
    const place = { clientX: left + width / 2, clientY: top + height / 2, bubbles: true, cancelable: true };
    document.querySelector(".react-flow__pane").dispatchEvent(new DragEvent("drop", { dataTransfer: data, ...place }));
  })()`);
  await page.locator(`${NODE} img`).first().waitFor();
});

const day = (daysAgo: number): string => {
  const at = new Date(Date.now() - daysAgo * DAY_MS);
  return [at.getFullYear(), String(at.getMonth() + 1).padStart(2, "0"), String(at.getDate()).padStart(2, "0")].join("-");
};
task(
  "find a picture of last week",
  { clicks: 4, keys: 20 },
  async (page) => {
    await page.goto("/");
    await page.locator('main li a[href^="/workflows/"]').first().waitFor();
  },
  async ({ click, fill }, page) => {
    await click(page.getByRole("link", { name: "Runs" }).first());
    await fill(page.getByLabel("From date"), day(WEEK_DAYS));
    await fill(page.getByLabel("To date"), day(WEEK_DAYS));
    await eventually(async () => (await page.locator("main tbody tr").count()) === 1);
    await click(page.locator("main tbody tr").getByRole("link").first());
    await page.locator("main img").first().waitFor();
  },
);

task("use a result as an input", { clicks: 2, keys: 1 }, onMade("three", 3), async (hand, page) => {
  await look(hand, page);
  await hand.click(viewer(page).getByRole("button", { name: "Use as input" }));
  await page.locator(`${NODE} .node-title`, { hasText: /^a boat$/ }).waitFor();
});

task("download all results", { clicks: 2, keys: 1 }, onMade("three", 3), async (hand, page) => {
  await look(hand, page);
  const saving = page.waitForEvent("download");
  await hand.click(viewer(page).getByRole("button", { name: "Download all as ZIP" }));
  expect((await saving).suggestedFilename()).toMatch(/\.zip$/);
});

task("try four seeds and go on with the best", { clicks: 4, keys: 1 }, onMade("one", 2), async ({ click, press, effort }, page) => {
  await click(head(page, "stills"));
  await press("e");
  const dialog = page.getByRole("dialog", { name: "Variations of “Stills”" });
  await dialog.getByLabel("Vary").selectOption("seed");
  effort.clicks += 1;
  await dialog
    .getByTestId("sweep")
    .getByText(/^Run 4 · /)
    .waitFor();
  await click(dialog.getByTestId("sweep"));
  await dialog
    .getByRole("button", { name: /^Use this: Seed/ })
    .nth(3)
    .waitFor();
  await click(dialog.getByRole("button", { name: /^Use this: Seed/ }).nth(2));
  await saved(page);
  const { body } = await stage.http.call("GET", `/api/workflows/${slugs.one}`, { key: account.key });
  const [node] = body.nodes as { data: { inputs: { seed?: number } } }[];
  expect(node!.data.inputs.seed).toEqual(expect.any(Number));
});

task("make a part a workflow of its own", { clicks: 2, keys: 2 }, onCanvas("three", 3), async ({ press, click }, page) => {
  await click(head(page, "stills"));
  await page.keyboard.down("Shift");
  await click(head(page, "list"));
  await page.keyboard.up("Shift");
  await press("Control+Shift+G");
  await page.getByRole("dialog", { name: "Convert to workflow" }).waitFor();
  await press("Enter");
  await page.locator(`${NODE} .node-title`, { hasText: "Part of three" }).waitFor();
  await saved(page);
  await page.getByRole("button", { name: /^Undo: Convert to workflow/ }).click();
  await saved(page);
});

task("see what a call of a node cost and was asked", { clicks: 1, keys: 1 }, onMade("three", 3), async (hand, page) => {
  await look(hand, page);
  const facts = viewer(page).getByRole("complementary", { name: "Settings" });
  await facts.getByText("a boat").first().waitFor();
  await facts
    .getByText(/credits?$/)
    .first()
    .waitFor();
});
