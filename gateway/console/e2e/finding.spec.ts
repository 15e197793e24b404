import { expect, test, type Page } from "@playwright/test";
import { accessibilityProblems } from "../../../test-support/browser";
import { eventually, type Account } from "../../../test-support/client";
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

test("Ctrl+K finds workflows, runs, pages, files and actions from any page, and on the canvas too", async () => {
  await stage.http.call("POST", `/api/workflows/${slug}/run`, { key: account.key, body: { inputs: {} } });
  const { page, close } = await open();
  const search = page.getByRole("dialog", { name: "Search" });
  const found = (name: RegExp) => page.getByRole("dialog").getByRole("option", { name });
  const seek = async (words: string): Promise<void> => {
    await page.keyboard.press("Control+k");
    await search.getByRole("combobox").fill(words);
  };
  await page.goto("/models");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await seek("lights coast");
  await found(/^Lights of the coast.*Workflow$/).waitFor();
  await found(/^Lights of the coast.*Completed.*Run$/).waitFor();
  await search.getByRole("combobox").fill("lighthouse");
  // The service finds it by the prompt.
  await found(/File$/).first().waitFor();
  await search.getByRole("combobox").fill("no such thing");
  await search.getByText("Nothing matches.").waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await search.getByRole("combobox").fill("usage");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Usage" }).waitFor();
  await seek("new workflow");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Add your first node" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("lights");
  await found(/^Lights of the coast.*Workflow$/).click();
  await nodes(page, GRAPH.nodes.length);
  await close();
});

test("the first view shows all nodes, also those that grow when their results load", async () => {
  const { http } = stage;
  const column = {
    nodes: [0, 1].map((row) =>
      nodeAt(`still${row}`, "generate-image", { x: 0, y: row * 620 }, { model: "sandbox-image", inputs: { prompt: "a kite" } }),
    ),
    edges: [],
  };
  const { body } = await http.call("POST", "/api/workflows", { key: account.key, body: { name: "Column", ...column } });
  expect((await http.call("POST", `/api/workflows/${String(body.slug)}/run`, { key: account.key, body: { inputs: {} } })).status).toBe(200);
  const { page, close } = await open();
  await page.goto(`/workflows/${String(body.slug)}`);
  await page.locator(`${NODE} img`).nth(1).waitFor({ state: "attached" });
  const isCut = `(() => {
    const board = document.querySelector(".react-flow").getBoundingClientRect();
    return [...document.querySelectorAll("${NODE}")].some((node) => node.getBoundingClientRect().bottom > board.bottom);
  })()`;
  await eventually(async () => (await page.evaluate(isCut)) === false);
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
