import { mongo } from "mongoose";
import { expect, test, type Page } from "@playwright/test";
import { canvasStands } from "../../../test-support/browser";
import { eventually, type Account } from "../../../test-support/client";
import { buildThree, edge, middleOf, NODE, nodeAt, nodes, saved, type Point } from "./support/canvas";
import { setStage } from "./support/stage";
import { taskOn } from "./support/task";

/** `npm run drill console`: everyday tasks and their effort. docs/guide/console-comparison.md compares them with another editor. */
const MS = 1_000;
const DAY_MS = 24 * 60 * 60 * MS;
const RUNS = 120;
const RUNS_A_DAY = 4;
const stage = setStage();
let account: Account;
const slugs: Record<string, string> = {};

const node = (id: string, type: string, x: number, data: object = {}): object => nodeAt(id, type, { x, y: 0 }, { label: id, ...data });
const THREE = {
  nodes: [
    node("in", "request-input", 0, { fields: [{ name: "topic", type: "text", label: "Topic", default: "boats" }] }),
    node("words", "text-box", 400, { text: "all about {{topic}}" }),
    node("end", "response-output", 800),
  ],
  edges: [edge("in.topic", "words.topic"), edge("words.text", "end.text")],
};
const FAILING = {
  nodes: [
    node("in", "request-input", 0, { fields: [{ name: "prompt", type: "text", label: "Prompt", default: "a boat" }] }),
    node("picture", "generate-image", 400, { model: "sandbox-image", inputs: { sandbox: { fail: "job" } } }),
    node("end", "response-output", 800),
  ],
  edges: [edge("in.prompt", "picture.prompt"), edge("picture.image", "end.images")],
};
const MANY = { nodes: Array.from({ length: 40 }, (_, at) => node(`step ${at}`, "text-box", at * 320, { text: "x" })), edges: [] };

/** Inserts copies of a run, some per day, the newest now. */
const plantRuns = async (executionId: string): Promise<void> => {
  const { env } = stage.platform;
  const client = await mongo.MongoClient.connect(env.MONGODB_URI!);
  const executions = client.db(`${env.MONGODB_DATABASE_PREFIX}executions`).collection<{ _id: string }>("executions");
  const row = await executions.findOne({ _id: executionId });
  await executions.insertMany(
    Array.from({ length: RUNS }, (_, at) => {
      const createdAt = new Date(Date.now() - (at * DAY_MS) / RUNS_A_DAY);
      return { ...row, _id: `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`, createdAt, finishedAt: createdAt };
    }),
  );
  await client.close();
};

test.beforeAll(async () => {
  const { http } = stage;
  account = await http.account({ tier: "pro" });
  const graphs = { three: THREE, between: THREE, failing: FAILING, many: MANY, other: { nodes: [], edges: [] } };
  for (const [name, graph] of Object.entries(graphs))
    slugs[name] = String((await http.call("POST", "/api/workflows", { key: account.key, body: { name, ...graph } })).body.slug);
  const ran = await http.call("POST", `/api/workflows/${slugs.three}/run`, { key: account.key, body: { inputs: {} } });
  await plantRuns(ran.headers.get("x-execution-id")!);
  await http.call("POST", `/api/workflows/${slugs.failing}/run`, { key: account.key, body: { inputs: { prompt: "two boats" } } });
});

const day = (daysAgo: number): string => {
  const at = new Date(Date.now() - daysAgo * DAY_MS);
  return [at.getFullYear(), String(at.getMonth() + 1).padStart(2, "0"), String(at.getDate()).padStart(2, "0")].join("-");
};

const task = taskOn(stage, () => account);

const onDashboard = async (page: Page): Promise<void> => {
  await page.goto("/");
  await page.locator('main li a[href^="/workflows/"]').first().waitFor();
};
const onCanvas =
  (name: string, count: number, selected?: string) =>
  async (page: Page): Promise<void> => {
    await page.goto(`/workflows/${slugs[name]}${selected === undefined ? "" : `?node=${selected}`}`);
    if (count > 0) await nodes(page, count);
    await canvasStands(page);
  };

task("create a flow of three steps", { clicks: 0, keys: 40 }, onDashboard, async (hand, page) => {
  await buildThree(hand, page, "Boats");
  await saved(page);
  expect(await page.locator(".react-flow__edge").count()).toBe(2);
  // The last added node is in view, wherever it was placed.
  const [board, last] = [(await page.locator(".board").boundingBox())!, (await page.locator(NODE).last().boundingBox())!];
  expect(last.x + last.width).toBeLessThan(board.x + board.width);
});

task("find a node", { clicks: 0, keys: 9 }, onCanvas("many", 2), async ({ press, type }, page) => {
  await press("Control+f");
  await page.getByRole("combobox").waitFor();
  await type("step 33");
  await press("Enter");
  await page.locator('[data-id="step 33"]').waitFor();
  await page.getByRole("textbox", { name: "Text", exact: true }).waitFor();
});

task("insert a node between two", { clicks: 1, keys: 5 }, onCanvas("between", 3), async ({ click, press, type, button }, page) => {
  const link = await middleOf(page, '[aria-label="Edge from words to end"] .edge-path');
  await page.mouse.move(link.x, link.y - 80);
  await page.mouse.move(link.x, link.y, { steps: 5 });
  await click(button("Insert a node"));
  await type("text");
  await press("Enter");
  await nodes(page, 4);
  await saved(page);
  const { body } = await stage.http.call("GET", `/api/workflows/${slugs.between}`, { key: account.key });
  const graph = body as unknown as { nodes: { id: string; position: Point }[]; edges: { source: string; target: string }[] };
  expect(graph.edges.map(({ source, target }) => `${source} ${target}`).sort()).toEqual(["in words", "text end", "words text"]);
  // The nodes are in a row from left to right, because later nodes moved out of the way.
  const across = graph.nodes.toSorted((a, b) => a.position.x - b.position.x);
  expect(across.map(({ id }) => id)).toEqual(["in", "words", "text", "end"]);
  expect(new Set(across.map(({ position }) => position.y))).toEqual(new Set([0]));
});

const MOVES = 10;
task(
  "undo ten steps",
  { clicks: 0, keys: 10 },
  async (page) => {
    await onCanvas("three", 3, "in")(page);
    for (let at = 0; at < MOVES; at += 1) {
      const { x, y } = await middleOf(page, '[data-id="in"]');
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x, y + 20, { steps: 3 });
      await page.mouse.up();
    }
    await saved(page);
  },
  async ({ press }, page) => {
    await press(...Array.from({ length: MOVES }, () => "Control+z"));
    await saved(page);
    const { body } = await stage.http.call("GET", `/api/workflows/${slugs.three}`, { key: account.key });
    expect((body.nodes as { id: string; position: object }[]).find(({ id }) => id === "in")!.position).toEqual({ x: 0, y: 0 });
  },
);

task("copy a part into another flow", { clicks: 3, keys: 2 }, onCanvas("three", 3), async ({ press, click, drag }, page) => {
  const [from, to] = [await middleOf(page, '[data-id="in"]'), await middleOf(page, '[data-id="words"]')];
  await drag({ x: from.x - 130, y: from.y - 110 }, { x: to.x + 20, y: to.y + 20 });
  await press("Control+c");
  await click(page.getByRole("link", { name: "Workflows" }).first());
  await click(page.getByRole("link", { name: "other", exact: true }));
  await page.getByRole("button", { name: "Add your first node" }).waitFor();
  await press("Control+v");
  await nodes(page, 2);
  await saved(page);
});

const onRuns = async (page: Page): Promise<void> => {
  await page.goto("/executions");
  await page.locator("main tbody tr").first().waitFor();
};
task("see why a run failed", { clicks: 2, keys: 0 }, onDashboard, async ({ click }, page) => {
  await click(page.getByRole("link", { name: "Runs" }).first());
  await click(page.locator("main tbody tr").filter({ hasText: "Failed" }).getByRole("link").first());
  await page.getByText("EXECUTION_FAILED").or(page.locator("main [role=alert], main .text-bad")).first().waitFor();
});

task("run it again", { clicks: 3, keys: 0 }, onRuns, async ({ click }, page) => {
  await click(page.locator("main tbody tr").filter({ hasText: "Failed" }).getByRole("link").first());
  await click(page.getByRole("link", { name: "Run again…" }));
  await page.getByRole("textbox", { name: "Prompt" }).waitFor();
  await eventually(async () => (await page.getByRole("textbox", { name: "Prompt" }).inputValue()) === "two boats");
  const started = page.waitForResponse((response) => response.url().includes("/run?") && response.request().method() === "POST");
  await click(page.getByTestId("run"));
  expect((await started).status()).toBe(202);
});

task("share it", { clicks: 3, keys: 0 }, onCanvas("three", 3), async ({ click }, page) => {
  await click(page.getByRole("button", { name: "Settings and sharing" }));
  await click(page.getByLabel("Public playground"));
  await click(page.getByRole("button", { name: "Copy address" }));
  await saved(page);
  expect(await page.evaluate("navigator.clipboard.readText()")).toContain(`/p/${slugs.three}`);
});

task("publish it", { clicks: 0, keys: 2 }, onCanvas("three", 3), async ({ press }, page) => {
  await press("Shift+V");
  await page.getByRole("dialog", { name: "Versions" }).getByLabel("Note").waitFor();
  await press("Enter");
  await page.getByRole("dialog", { name: "Versions" }).getByText("production", { exact: true }).waitFor();
});

task("find a run of last week", { clicks: 3, keys: 20 }, onRuns, async ({ click, fill }, page) => {
  const [startDate] = [day(7)];
  await fill(page.getByLabel("From date"), startDate);
  await fill(page.getByLabel("To date"), startDate);
  await eventually(async () => (await page.locator("main tbody tr").count()) <= RUNS_A_DAY + 1);
  await click(page.locator("main tbody tr").getByRole("link").first());
  await page.getByRole("heading", { name: "Receipt" }).waitFor();
});
