import { expect, test, type Page } from "@playwright/test";
import type { Account } from "../../../test-support/client";
import { canvasStands } from "../../../test-support/browser";
import { edge, NODE, nodeAt, nodes, saved } from "./support/canvas";
import { picturesOf } from "./support/picture";
import { setStage } from "./support/stage";

/** `npm run drill console`: first steps of people who know ComfyUI or n8n. */
const stage = setStage();
let account: Account;
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "enterprise" });
});

const create = async (name: string, graph: object): Promise<string> =>
  String((await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name, ...graph } })).body.slug);
const run = (slug: string) => stage.http.call("POST", `/api/workflows/${slug}/run`, { key: account.key, body: { inputs: {} } });

const open = async (page: Page, slug: string, count: number): Promise<void> => {
  await page.goto(`/workflows/${slug}`);
  if (count === 0) await page.getByRole("button", { name: "Add your first node" }).waitFor();
  else await nodes(page, count);
};
const onCanvas = (name: string, graph: { nodes: object[]; edges: unknown[] }, act: (page: Page, slug: string) => Promise<void>): void =>
  test(name, async () => {
    const slug = await create(name.slice(0, 60), graph);
    const { page, context, complaints } = await stage.signedIn(account);
    await open(page, slug, graph.nodes.length);
    await act(page, slug);
    expect(complaints).toEqual([]);
    await context.close();
  });
const head = (page: Page, id: string) => page.locator(`${NODE}[data-id="${id}"] .node-head`);
const EMPTY = { nodes: [], edges: [] };
const STILLS = nodeAt("stills", "generate-image", { x: 340, y: 0 }, { model: "sandbox-image", label: "Stills" });
const LIST = nodeAt("list", "list", { x: 0, y: 0 }, { items: ["a boat", "a kite"] });

onCanvas(
  "a new image node creates pictures from text; one linked to a photo takes it, and neither shows a problem",
  EMPTY,
  async (page) => {
    await page.keyboard.press("/");
    await page.keyboard.type("image");
    await page.keyboard.press("Enter");
    await page.getByText("Enter a prompt, or link a text").waitFor();
    const upload = await fetch(`${stage.platform.baseUrl}/api/media`, {
      method: "POST",
      headers: { "x-api-key": account.key!, "content-type": "image/png" },
      body: new Uint8Array(picturesOf(64, 64)(1)),
    });
    const { id } = (await upload.json()) as { id: string };
    const slug = await create("Photo", {
      nodes: [
        nodeAt("photo", "media-upload", { x: 0, y: 0 }, { mediaId: id }),
        nodeAt("night", "generate-image", { x: 340, y: 0 }, { model: "sandbox-image", inputs: { prompt: "at night" } }),
        nodeAt("end", "response-output", { x: 680, y: 0 }),
      ],
      edges: [edge("photo.media", "night.image"), edge("night.image", "end.images")],
    });
    await open(page, slug, 3);
    await page.locator(`${NODE}[data-id="photo"] img`).waitFor();
    await page.getByRole("tab", { name: "Problems" }).click();
    await page.getByText("No problems: this workflow can run.").waitFor();
  },
);

const COMFY = {
  "3": { class_type: "KSampler", inputs: { seed: 42, positive: ["6", 0], latent_image: ["5", 0] } },
  "5": { class_type: "EmptyLatentImage", inputs: { width: 512, height: 512, batch_size: 1 } },
  "6": { class_type: "CLIPTextEncode", inputs: { text: "a lighthouse" } },
  "9": { class_type: "SaveImage", inputs: { images: ["3", 0] } },
};
onCanvas("a graph of ComfyUI gets a model that takes its prompt, and runs", EMPTY, async (page) => {
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(JSON.stringify(COMFY))})`);
  await page.keyboard.press("Control+V");
  await nodes(page, 4);
  await saved(page);
  await page.keyboard.press("Control+Enter");
  await page.getByTestId("run").click();
  await page.locator("section[aria-label=Run] header").getByText("Completed", { exact: true }).waitFor();
});

onCanvas(
  "a run of a workflow without Results shows its pictures in Runs, and on the workflow's card",
  { nodes: [LIST, STILLS], edges: [edge("list.items", "stills.prompt")] },
  async (page, slug) => {
    await run(slug);
    await page.goto("/executions");
    const row = page.locator("main tbody tr").filter({ hasText: "without Results" }).first();
    await row.locator("img").nth(1).waitFor();
    await page.goto("/");
    await page.locator("main li").filter({ hasText: "without Results" }).locator("img").first().waitFor();
  },
);

test("a workflow node shows its state, price and result, live and after a reload", async () => {
  const inner = await create("Inner", {
    nodes: [
      nodeAt("in", "request-input", { x: 0, y: 0 }, { fields: [{ name: "subject", type: "text", default: "a fox" }] }),
      STILLS,
      nodeAt("end", "response-output", { x: 680, y: 0 }),
    ],
    edges: [edge("in.subject", "stills.prompt"), edge("stills.image", "end.images")],
  });
  const slug = await create("Outer", {
    nodes: [LIST, nodeAt("part", "workflow", { x: 340, y: 0 }, { slug: inner, label: "Part" })],
    edges: [edge("list.items", "part.subject")],
  });
  const { page, context, complaints } = await stage.signedIn(account);
  await open(page, slug, 2);
  const part = page.locator(`${NODE}[data-id="part"]`);
  await page.keyboard.press("Control+Enter");
  await page.getByTestId("run").click();
  await part.getByRole("img", { name: "completed" }).waitFor();
  expect(await part.locator(".node-strip img").count()).toBe(2);
  await part.getByText("2/2").waitFor();
  // Waits for the node's name in the list of the run's nodes, which closes when the run completes.
  const panel = page.locator("section[aria-label=Run]");
  await panel.locator("header").getByText("Completed", { exact: true }).waitFor();
  await panel.getByText("Nodes", { exact: true }).click();
  await page.getByRole("list", { name: "Nodes of this run" }).getByText("Part › Stills").waitFor();
  await page.reload();
  await part.locator(".node-strip img").nth(1).waitFor();
  await canvasStands(page);
  // One click shows its result.
  await head(page, "part").click();
  await page.getByRole("button", { name: "Show the last run" }).click();
  await page.getByRole("heading", { name: "In this run" }).waitFor();
  await page.keyboard.press("v");
  const viewer = page.getByRole("dialog", { name: /Viewing/ });
  await viewer
    .getByText(/1 of 2/)
    .first()
    .waitFor();
  await viewer.getByRole("button", { name: "Contact sheet" }).click();
  await viewer.getByRole("region", { name: "Contact sheet" }).locator("img").nth(1).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

onCanvas("a loop is set up in its form, and a run shows each of its turns", EMPTY, async (page, slug) => {
  const inner = await create("Redraw", {
    nodes: [
      nodeAt("in", "request-input", { x: 0, y: 0 }, { fields: [{ name: "before", type: "image_upload", label: "Before" }] }),
      nodeAt("stills", "generate-image", { x: 340, y: 0 }, { model: "sandbox-image", label: "Stills", prompt: "a loom" }),
      nodeAt("end", "response-output", { x: 680, y: 0 }),
    ],
    edges: [edge("in.before", "stills.image"), edge("stills.image", "end.picture")],
  });
  await page.keyboard.press("/");
  await page.keyboard.type("repeat until");
  await page.keyboard.press("Enter");
  const loop = page.locator(NODE).filter({ hasText: "Choose a workflow" });
  await loop.locator(".node-head").click();
  await page.getByLabel("Workflow", { exact: true }).selectOption(inner);
  await page.getByLabel("Turns").fill("3");
  await page.getByLabel("Until").fill("turns == `2`");
  await page.getByLabel("Output picture becomes").selectOption("before");
  await page.locator(`${NODE} [data-handleid="turns"]`).waitFor();
  await saved(page);
  const { body } = await stage.http.call("GET", `/api/workflows/${slug}`, { key: account.key });
  expect((body.nodes as { data: object }[])[0]!.data).toMatchObject({
    ...{ slug: inner, count: 3, until: "turns == `2`", feedback: { picture: "before" } },
    ports: { inputs: [{ name: "before", type: "image" }], outputs: [{ name: "picture" }, { name: "turns", type: "number" }] },
  });
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Enter");
  await page.getByTestId("run").click();
  const panel = page.locator("section[aria-label=Run]");
  await panel.locator("header").getByText("Completed", { exact: true }).waitFor();
  await panel.getByText("Nodes", { exact: true }).click();
  const list = page.getByRole("list", { name: "Nodes of this run" });
  await list.getByText("Loop › Turn 2 › Stills").waitFor();
  expect(await list.getByRole("listitem").count()).toBe(3);
});

onCanvas("nodes on a frame are copied with it", { nodes: [LIST, STILLS], edges: [edge("list.items", "stills.prompt")] }, async (page) => {
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Control+G");
  await nodes(page, 3);
  await page.keyboard.press("Control+C");
  await page.keyboard.press("Control+V");
  await nodes(page, 6);
});

test("a hook's inputs are shown with an example call; a schedule's times are shown as text", async () => {
  const slug = await create("Called", {
    nodes: [nodeAt("in", "request-input", { x: 0, y: 0 }, { fields: [{ name: "subject", type: "text", default: "a fox" }] })],
    edges: [],
  });
  const { page, context, complaints } = await stage.signedIn(account, { width: 390, height: 844 });
  await page.goto(`/workflows/${slug}/triggers`);
  // On a phone the toolbar leads to other pages.
  await page.getByRole("button", { name: /menu/i }).first().waitFor();
  await page.getByRole("button", { name: "New hook" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Inputs of the workflow: subject.").waitFor();
  await dialog.getByLabel("Credit limit per run").fill("5");
  await dialog.getByRole("button", { name: "Create hook" }).click();
  await page.getByText(/^curl -X POST/).waitFor();
  await page.getByRole("button", { name: "I saved it" }).click();
  await page.getByRole("button", { name: "New schedule" }).click();
  await dialog.getByRole("button", { name: "Create schedule" }).click();
  await page.getByRole("cell", { name: /^Every day at 9/ }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test("one page lists the schedules and hooks of all workflows, and switches a schedule off", async () => {
  const graph = {
    nodes: [nodeAt("in", "request-input", { x: 0, y: 0 }, { fields: [{ name: "subject", type: "text", default: "a fox" }] })],
    edges: [],
  };
  const [first, second] = [await create("Morning pictures", graph), await create("Evening pictures", graph)];
  const { key } = account;
  for (const slug of [first, second])
    await stage.http.call("POST", `/api/workflows/${slug}/schedules`, { key, body: { cron: "0 9 * * *" } });
  await stage.http.call("POST", `/api/workflows/${second}/hooks`, { key, body: { expression: "", maxCredits: 5 } });
  const { page, context, complaints } = await stage.signedIn(account);
  await page.goto("/");
  await page.getByRole("link", { name: "Schedules and hooks" }).click();
  await page.getByRole("switch", { name: "Active: Every day at 9, Morning pictures" }).click();
  const row = page.getByRole("region", { name: "Schedules" }).getByRole("row", { name: /Morning pictures/ });
  await row.getByText("Paused", { exact: true }).waitFor();
  await expect(page.getByRole("switch", { name: "Active: Every day at 9, Evening pictures" })).toBeChecked();
  const hook = page.getByRole("region", { name: "Hooks" }).getByRole("row", { name: /Evening pictures/ });
  await hook.getByText("No run yet").waitFor();
  await hook.getByRole("link", { name: "Evening pictures" }).click();
  await page.waitForURL(`**/workflows/${second}/triggers`);
  expect(complaints).toEqual([]);
  await context.close();
});

const SIDEWAYS = `[...document.querySelectorAll("main [role=region]")].filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.ariaLabel)`;
test("no list scrolls sideways, in a small window and on a phone", async () => {
  const slug = await create("Failing, with a name that is longer than its column has room for", {
    nodes: [
      nodeAt("list", "list", { x: 0, y: 0 }, { items: ["a", "b", "c", "d"] }),
      nodeAt("stills", "generate-image", { x: 340, y: 0 }, { model: "sandbox-image", inputs: { sandbox: { fail: "job" } } }),
    ],
    edges: [edge("list.items", "stills.prompt")],
  });
  await run(slug);
  const wideElements: string[] = [];
  for (const width of [1024, 390])
    for (const [who, paths] of [
      [
        account,
        [
          "/executions",
          "/batches",
          "/usage",
          "/budgets",
          "/keys",
          "/webhooks",
          "/triggers",
          "/secrets",
          "/agents",
          "/plans",
          `/workflows/${slug}/triggers`,
        ],
      ],
      [stage.platform.admin, ["users", "models", "tiers", "templates", "runs", "audit"].map((section) => `/admin/${section}`)],
    ] as const) {
      const { page, context } = await stage.signedIn(who, { width, height: 800 });
      for (const path of paths) {
        await page.goto(path);
        await page.waitForLoadState("networkidle");
        wideElements.push(...((await page.evaluate(SIDEWAYS)) as string[]).map((label) => `${label} at ${width}`));
      }
      await context.close();
    }
  expect(wideElements).toEqual([]);
});

onCanvas(
  "consecutive runs are listed beside the canvas, and a click shows each",
  { nodes: [LIST, STILLS], edges: [edge("list.items", "stills.prompt")] },
  async (page) => {
    await page.keyboard.press("Control+Enter");
    for (let count = 1; count <= 2; count += 1) {
      await page.getByTestId("run").click();
      await page.locator("section[aria-label=Run] header").getByText("Completed", { exact: true }).waitFor();
    }
    const recent = page.getByRole("region", { name: "Recent runs" });
    await recent.getByRole("button").nth(1).locator("img").nth(1).waitFor();
    const runLink = page.getByRole("link", { name: "Open run" });
    const newest = await runLink.getAttribute("href");
    await recent.getByRole("button").nth(1).click();
    await page.waitForFunction(`document.querySelector("a[aria-label=\\"Open run\\"]")?.getAttribute("href") !== "${newest}"`);
  },
);

onCanvas("a workflow is exported from its canvas", { nodes: [LIST], edges: [] }, async (page, slug) => {
  const saving = page.waitForEvent("download");
  await page.locator(".react-flow__pane").click({ button: "right", position: { x: 60, y: 60 } });
  await page.getByRole("menuitem", { name: "Export as JSON" }).click();
  expect((await saving).suggestedFilename()).toBe(`${slug}.json`);
});
