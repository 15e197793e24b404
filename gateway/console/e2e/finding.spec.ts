import { expect, test, type Page } from "@playwright/test";
import { accessibilityProblems } from "../../../gateway/test/e2e/support/browser";
import { eventually, type Account } from "../../../gateway/test/e2e/support/client";
import { edge, NODE, nodeAt, nodes } from "./support/canvas";
import { setStage } from "./support/stage";

/** `npm run drill console`: search by text, graphs of other editors, and results in the list of runs. */
const stage = setStage();
let account: Account;
let slug: string;
const GRAPH = {
  nodes: [
    nodeAt("list", "list", { x: 0, y: 0 }, { items: ["a lighthouse", "a kite"] }),
    nodeAt("stills", "generate-image", { x: 340, y: 0 }, { model: "sandbox-image", label: "Stills", inputs: { seed: 4711 } }),
    nodeAt("end", "response-output", { x: 680, y: 0 }),
  ],
  edges: [edge("list.items", "stills.prompt"), edge("stills.image", "end.images")],
};
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "enterprise" });
  const { key } = account;
  slug = String((await stage.http.call("POST", "/api/workflows", { key, body: { name: "Lights of the coast", ...GRAPH } })).body.slug);
});

const open = async (): Promise<{ page: Page; close: () => Promise<void> }> => {
  const { page, context, complaints } = await stage.signedIn(account);
  const close = async (): Promise<void> => {
    expect(complaints).toEqual([]);
    await context.close();
  };
  return { page, close };
};

test("a node is found by its texts, its model and its settings, from both searches", async () => {
  const { page, close } = await open();
  await page.goto(`/workflows/${slug}`);
  await nodes(page, GRAPH.nodes.length);
  for (const [keys, words, id] of [
    ["Control+f", "lighthouse", "list"],
    ["Control+f", "sandbox image", "stills"],
    ["Control+k", "4711", "stills"],
  ] as const) {
    await page.keyboard.press(keys);
    await page.getByRole("combobox").waitFor();
    await page.keyboard.type(words);
    expect(await page.getByRole("option").count()).toBe(1);
    await page.keyboard.press("Enter");
    await page.locator(`${NODE}.selected[data-id="${id}"]`).waitFor();
    await page.keyboard.press("Escape");
  }
  await close();
});

const COMFY = {
  "3": { class_type: "KSampler", inputs: { seed: 1, positive: ["6", 0], latent_image: ["5", 0] } },
  "5": { class_type: "EmptyLatentImage", inputs: { width: 512 } },
  "6": { class_type: "CLIPTextEncode", inputs: { text: "a lighthouse" } },
  "9": { class_type: "SaveImage", inputs: { images: ["3", 0] } },
  "10": { class_type: "FaceDetailer", inputs: {} },
};
const N8N = { name: "mine", nodes: [{ type: "n8n-nodes-base.httpRequest", parameters: {}, position: [0, 0] }], connections: {} };

test("a pasted graph of ComfyUI runs here as far as possible; a graph of n8n is recognised", async () => {
  const { page, close } = await open();
  const { body } = await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: "Pasted", nodes: [], edges: [] } });
  await page.goto(`/workflows/${String(body.slug)}`);
  await page.getByRole("button", { name: "Add your first node" }).waitFor();
  const paste = async (value: object): Promise<void> => {
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(JSON.stringify(value))})`);
    await page.keyboard.press("Control+v");
  };
  await paste(N8N);
  await page.getByText(/This is an n8n workflow \(httpRequest\)/).waitFor();
  expect(await page.locator(NODE).count()).toBe(0);
  await paste(COMFY);
  await page.getByText("Imported from ComfyUI: 5 nodes became 3 here.").first().waitFor();
  // The import report is also a node.
  await nodes(page, 4);
  expect(await page.locator(".react-flow__edge").count()).toBe(2);
  await page.keyboard.press("Control+Enter");
  await page.getByTestId("run").click();
  await page.locator(`${NODE} img`).first().waitFor();
  // One click shows nodes that are out of view.
  await page.locator(".react-flow__pane").hover({ position: { x: 40, y: 40 } });
  await page.mouse.wheel(9_000, 0);
  await page.getByRole("button", { name: "Show nodes" }).click();
  await page.getByRole("button", { name: "Show nodes" }).waitFor({ state: "detached" });
  // Nodes pasted out of view are shown.
  await page.mouse.wheel(0, 9_000);
  await page.getByRole("button", { name: "Show nodes" }).waitFor();
  await paste(COMFY);
  await nodes(page, 8);
  await page.getByRole("button", { name: "Show nodes" }).waitFor({ state: "detached" });
  await close();
});

test("the list of runs shows results under workflow names; a run shows each node's result", async () => {
  const ran = await stage.http.call("POST", `/api/workflows/${slug}/run`, { key: account.key, body: { inputs: {} } });
  expect(ran.status).toBe(200);
  const { page, close } = await open();
  await page.goto("/executions");
  const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "Lights of the coast" }) });
  await row.first().waitFor();
  await eventually(async () => (await row.first().locator("img").count()) === 2);
  expect(await accessibilityProblems(page)).toEqual([]);
  await row.first().getByRole("link").first().click();
  await page.getByRole("heading", { name: "Lights of the coast", level: 1 }).waitFor();
  await page.getByText("Outputs (2 items)").first().click();
  await page.getByRole("heading", { name: /^Item 2/, level: 3 }).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await close();
});

test("results are found by their day on their own page, with a link to the run", async () => {
  const ran = await stage.http.call("POST", `/api/workflows/${slug}/run`, { key: account.key, body: { inputs: {} } });
  expect(ran.status).toBe(200);
  const { page, close } = await open();
  await page.goto("/");
  await page.getByRole("link", { name: "Files", exact: true }).click();
  await page.getByRole("heading", { name: "Files", level: 1 }).waitFor();
  const day = page.getByRole("region", { name: new Date().toLocaleDateString("en", { dateStyle: "full" }) });
  await day.getByRole("listitem").nth(1).waitFor();
  await page.getByRole("button", { name: "Audio" }).click();
  await page.getByText("No matching files").waitFor();
  await page.getByRole("button", { name: "Images" }).click();
  await day
    .getByRole("button", { name: /image\/png$/ })
    .first()
    .click();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole("button", { name: "Open run" }).click();
  await page.getByRole("heading", { name: "Lights of the coast", level: 1 }).waitFor();
  await close();
});
