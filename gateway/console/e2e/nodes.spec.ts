import { expect, test, type Page } from "@playwright/test";
import { accessibilityProblems, canvasStands } from "../../../test-support/browser";
import { eventually, type Account } from "../../../test-support/client";
import { edge, middleOf, NODE, nodeAt, nodes, saved } from "./support/canvas";
import { handOf } from "./support/hand";
import { picturesOf } from "./support/picture";
import { setStage } from "./support/stage";

/** `npm run drill console`: nodes edited on the canvas: text, name, bypass, collapse, size, frame. */
const stage = setStage();
let account: Account;
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "enterprise" });
});

interface SavedGraph {
  nodes: { id: string; data: Record<string, unknown>; view?: Record<string, unknown> }[];
}

const GRAPH = {
  nodes: [
    nodeAt("words", "text-box", { x: 0, y: 0 }, { text: "a boat" }),
    nodeAt("writer", "llm-assistant", { x: 340, y: 0 }, { model: "sandbox-chat", prompt: "Tell of {{it}}." }),
    nodeAt("end", "response-output", { x: 680, y: 0 }),
  ],
  edges: [edge("words.text", "writer.it"), edge("writer.text", "end.text")],
};

const onCanvas = (
  name: string,
  graph: { nodes: object[]; edges: unknown[] },
  act: (page: Page, readSaved: () => Promise<SavedGraph>) => Promise<void>,
): void =>
  test(name, async () => {
    const { body } = await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: "Nodes", ...graph } });
    const slug = String(body.slug);
    const { page, context, complaints } = await stage.signedIn(account);
    await page.goto(`/workflows/${slug}`);
    if (graph.nodes.length > 0) await nodes(page, graph.nodes.length);
    else await page.getByRole("button", { name: "Add your first node" }).waitFor();
    if (graph.nodes.length > 0) await canvasStands(page);
    await act(
      page,
      async () => (await stage.http.call("GET", `/api/workflows/${slug}`, { key: account.key })).body as unknown as SavedGraph,
    );
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

const node = (id: string): string => `${NODE}[data-id="${id}"]`;
const dataOf = async (readSaved: () => Promise<SavedGraph>, id: string): Promise<Record<string, unknown>> =>
  (await readSaved()).nodes.find((one) => one.id === id)?.data ?? {};
const holds = (page: Page, expression: string): Promise<unknown> => eventually(async () => (await page.evaluate(expression)) === true);
const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name, exact: typeof name === "string" });

onCanvas("a prompt is edited on its node, and each of its placeholders becomes a port at once", GRAPH, async (page, readSaved) => {
  await page.locator(`${node("writer")} .node-well`).dblclick();
  await page.keyboard.press("End");
  await page.keyboard.type(" In the style of {{who}}.");
  await page.locator(`${node("writer")} [data-handleid="who"]`).waitFor();
  await page.keyboard.press("Escape");
  await eventually(async () => (await dataOf(readSaved, "writer")).prompt === "Tell of {{it}}. In the style of {{who}}.");
  // Letters typed in a node aren't shortcuts.
  expect((await readSaved()).nodes).toHaveLength(GRAPH.nodes.length);
  await page.keyboard.press("Control+z");
  await eventually(async () => (await dataOf(readSaved, "writer")).prompt === "Tell of {{it}}.");
});

onCanvas("a double click renames a node; Escape keeps its name", GRAPH, async (page, readSaved) => {
  const title = page.locator(`${node("writer")} .node-title`);
  await title.dblclick();
  await page.keyboard.type("Narrator");
  await page.keyboard.press("Enter");
  await eventually(async () => (await dataOf(readSaved, "writer")).label === "Narrator");
  await page.keyboard.press("F2");
  await page.keyboard.type("Somebody else");
  await page.keyboard.press("Escape");
  expect(await title.textContent()).toBe("Narrator");
});

onCanvas("a bypassed node passes its input on, and its run costs nothing", GRAPH, async (page, readSaved) => {
  await page.locator(`${node("writer")} .node-head`).click();
  await page.keyboard.press("b");
  await page.locator(`${node("writer")} .node-flag`).waitFor();
  await eventually(async () => (await dataOf(readSaved, "writer")).bypass === true);
  await page.keyboard.press("Control+Enter");
  await page.getByText("This run is free.").waitFor();
  await page.getByTestId("run").click();
  await page.locator("section[aria-label=Run] header").getByText("Completed", { exact: true }).waitFor();
  await page.locator("section[aria-label=Run]").getByText("a boat", { exact: true }).first().waitFor();
  await page.locator(`${node("writer")} .node-head`).click();
  await button(page, /^Restore/).click();
  await eventually(async () => (await dataOf(readSaved, "writer")).bypass === undefined);
});

onCanvas("nodes collapse to their heads and stay collapsed after a reload; a corner enlarges them", GRAPH, async (page, readSaved) => {
  const before = (await page.locator(node("writer")).boundingBox())!;
  await page.locator(node("writer")).hover();
  await page.locator(`${node("writer")} .node-fold`).click();
  await eventually(async () => ((await page.locator(node("writer")).boundingBox())?.height ?? before.height) < before.height / 2);
  await saved(page);
  await page.reload();
  await nodes(page, GRAPH.nodes.length);
  expect((await readSaved()).nodes[1]!.view).toEqual({ collapsed: true });
  await page.locator(`${node("writer")} .node-fold`).click();
  await eventually(async () => (await readSaved()).nodes[1]!.view === undefined);
  await page.locator(`${node("words")} .node-head`).click();
  await canvasStands(page);
  const corner = await middleOf(page, `${node("words")} .node-corner`);
  await handOf(page).drag(corner, { x: corner.x + 80, y: corner.y + 90 });
  await eventually(async () => {
    const { width = 0, text = 0 } = (await readSaved()).nodes[0]!.view ?? {};
    return Number(width) > 300 && Number(text) > 120;
  });
});

onCanvas("a frame gets a name and a colour, hides its nodes when it collapses, and moves them", GRAPH, async (page, readSaved) => {
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Control+g");
  await page.getByLabel("Name").waitFor();
  await page.keyboard.type("Telling");
  await page.keyboard.press("Enter");
  await page.locator(".frame-title", { hasText: "Telling" }).click();
  await button(page, "teal").click();
  await eventually(async () => (await dataOf(readSaved, "frame")).color === "teal");
  await button(page, "Collapse frame").click();
  await page.locator(".frame-folded", { hasText: "3 nodes" }).waitFor();
  expect(await page.locator(NODE).count()).toBe(1);
  const place = (await readSaved()).nodes.map(({ id }) => id);
  const from = await middleOf(page, ".frame-title span");
  await handOf(page).drag(from, { x: from.x + 60, y: from.y + 120 });
  await saved(page);
  await button(page, "Expand frame").click();
  await nodes(page, GRAPH.nodes.length + 1);
  expect((await readSaved()).nodes.map(({ id }) => id)).toEqual(place);
  const [frame, words] = [(await page.locator(".frame").boundingBox())!, (await page.locator(node("words")).boundingBox())!];
  expect(words.x).toBeGreaterThan(frame.x);
  expect(words.y).toBeGreaterThan(frame.y);
  expect(words.y + words.height).toBeLessThan(frame.y + frame.height);
});

onCanvas("a node shows no problem before it was edited or run", { nodes: [], edges: [] }, async (page) => {
  await page.keyboard.press("/");
  await page.keyboard.type("image");
  await page.keyboard.press("Enter");
  await nodes(page, 1);
  await page.locator(`${NODE} .node-footer`).waitFor();
  await saved(page);
  const problemsButton = page.locator("header").getByRole("button", { name: /problem|warning/ });
  expect(await page.getByLabel(/has a (problem|warning)/).count()).toBe(0);
  expect(await problemsButton.count()).toBe(0);
  await page.keyboard.press("Control+Enter");
  await page.getByLabel("has a problem").waitFor();
  await problemsButton.waitFor();
});

const FAILS = {
  nodes: [
    nodeAt("words", "list", { x: 0, y: 0 }, { items: ["a boat", "a kite"] }),
    nodeAt(
      "clip",
      "generate-video",
      { x: 340, y: 0 },
      { model: "sandbox-video", label: "Clips", inputs: { seconds: 1, sandbox: { fail: "job" } } },
    ),
  ],
  edges: [edge("words.items", "clip.prompt")],
};

onCanvas("a failure shows the node, the item and the reason, and leads to the node", FAILS, async (page) => {
  await page.keyboard.press("Control+Enter");
  await page.getByTestId("run").click();
  const notice = page.locator("section[aria-label=Run] [role=alert]");
  await notice.getByText(/“Clips” failed for (item [12] of 2|all 2 items)/).waitFor();
  await notice.getByRole("button", { name: "Open node" }).click();
  await page.getByRole("heading", { name: "Clips", level: 2 }).waitFor();
});

const TWINS = {
  nodes: [
    nodeAt("words", "text-box", { x: 0, y: 0 }, { text: "a boat" }),
    nodeAt("address", "text-box", { x: 0, y: 240 }, { text: "https://example.com/boat.png" }),
    nodeAt("one", "generate-image", { x: 340, y: 0 }, { model: "sandbox-image" }),
    nodeAt("two", "generate-image", { x: 680, y: 0 }, { model: "sandbox-image" }),
    nodeAt("size", "media", { x: 340, y: 320 }, { operation: "image-resize" }),
  ],
  edges: [edge("words.text", "one.prompt"), edge("one.image", "two.image")],
};
const port = (id: string, name: string, side: "source" | "target" = "target"): string =>
  `${node(id)} .react-flow__handle.${side}[data-handleid="${name}"]`;
const SOURCES = `[...document.querySelectorAll(".react-flow__edge")].map((edge) => edge.dataset.id)`;

onCanvas("every node has a unique title that describes its task", TWINS, async (page) => {
  const titles = await page.locator(`${NODE} .node-title`).allTextContents();
  expect(titles).toEqual(["Text", "Text 2", "Image", "Image 2", "Resize an image"]);
  await page.locator(`${node("two")} .node-head`).click();
  await page.getByRole("heading", { name: "Image 2", level: 2 }).waitFor();
});

onCanvas("main settings and the seed are set on the node, and its model is chosen from cards", TWINS, async (page, readSaved) => {
  const count = page.locator(`${node("one")} .node-setting`, { hasText: "Count" });
  await count.click();
  await page.getByLabel("Count").first().fill("3");
  await page.keyboard.press("Enter");
  await count.getByText("3", { exact: true }).waitFor();
  await page.locator(node("one")).getByRole("button", { name: "Roll the dice" }).click();
  await eventually(async () => {
    const { count: pictures, seed } = ((await dataOf(readSaved, "one")).inputs ?? {}) as { count?: number; seed?: number };
    return pictures === 3 && typeof seed === "number";
  });
  await page.locator(`${node("one")} .node-model`).click();
  const card = page.getByRole("dialog", { name: "Choose a model" }).getByRole("listitem").filter({ hasText: "Sandbox Image Fast" });
  await card.getByText(/credits/).waitFor();
  await card.getByText("Sandbox (no AI)", { exact: true }).waitFor();
  await card.getByRole("button", { name: "Sandbox Image Fast" }).click();
  await eventually(async () => (await dataOf(readSaved, "one")).model === "sandbox-image-fast");
});

onCanvas("a link ends at the marks of its ports", TWINS, async (page) => {
  const [from, to] = [await middleOf(page, port("words", "text", "source")), await middleOf(page, port("one", "prompt"))];
  const ends = (await page.evaluate(`(() => {
    const path = document.querySelector('.react-flow__edge[data-id*="one.prompt"] .edge-path, .react-flow__edge:first-child .edge-path');
    const matrix = path.getScreenCTM();
    return [0, path.getTotalLength()].map((at) => { const { x, y } = path.getPointAtLength(at).matrixTransform(matrix); return { x, y }; });
  })()`)) as { x: number; y: number }[];
  for (const [end, mark] of [
    [ends[0]!, from],
    [ends[1]!, to],
  ] as const)
    expect(Math.hypot(end.x - mark.x, end.y - mark.y)).toBeLessThan(1.5);
});

onCanvas(
  "a link that replaces another one reports it and is undone by a click; a drop on a node's body never replaces one",
  TWINS,
  async (page) => {
    const before = await page.evaluate(SOURCES);
    const from = await middleOf(page, port("address", "text", "source"));
    await handOf(page).drag(from, await middleOf(page, port("one", "prompt")));
    await page.getByText("This replaced the link from “Text”.").waitFor();
    expect(await page.evaluate(SOURCES)).not.toEqual(before);
    await page.getByRole("log", { name: "Messages" }).getByRole("button", { name: "Undo" }).click();
    await holds(page, `JSON.stringify(${SOURCES}) === '${JSON.stringify(before)}'`);
  },
);

onCanvas("text can't be linked to a picture port, but an address can", TWINS, async (page) => {
  const image = await middleOf(page, port("one", "image"));
  await handOf(page).drag(await middleOf(page, port("words", "text", "source")), image);
  await page.getByText(/“image” accepts image, but “text” outputs text/).waitFor();
  expect(await page.evaluate(`${SOURCES}.length`)).toBe(2);
  await handOf(page).drag(await middleOf(page, port("address", "text", "source")), image);
  await holds(page, `${SOURCES}.length === 3`);
});

onCanvas("a button beside a port adds the next node", TWINS, async (page) => {
  const plus = page.locator(`${node("two")}`).getByRole("button", { name: "Add a node after" });
  await plus.click();
  await page.keyboard.type("results");
  await page.keyboard.press("Enter");
  await nodes(page, TWINS.nodes.length + 1);
  await holds(page, `${SOURCES}.length === 3`);
});

test("a picture on a node keeps its proportions, without bars, with squares behind transparent parts", async () => {
  const upload = await fetch(`${stage.platform.baseUrl}/api/media`, {
    method: "POST",
    headers: { "x-api-key": account.key!, "content-type": "image/png" },
    body: new Uint8Array(picturesOf(600, 200)(1)),
  });
  const { id } = (await upload.json()) as { id: string };
  const graph = { nodes: [nodeAt("wide", "media-upload", { x: 0, y: 0 }, { mediaId: id })], edges: [] };
  const { body } = await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: "Wide", ...graph } });
  const { page, context, complaints } = await stage.signedIn(account);
  await page.goto(`/workflows/${String(body.slug)}`);
  const picture = `${node("wide")} .node-stage img`;
  await page.locator(picture).waitFor();
  await holds(
    page,
    `(() => {
    const img = document.querySelector('${picture}');
    return Math.abs(img.clientWidth / img.clientHeight - 3) < 0.05 && getComputedStyle(img).backgroundImage.includes("conic-gradient");
  })()`,
  );
  expect(complaints).toEqual([]);
  await context.close();
});

test("a Free user sees the plan's limits before running, and finds those of other plans", async () => {
  const free = await stage.http.account({ tier: "free" });
  const { page, context, complaints } = await stage.signedIn(free);
  await page.goto("/models/sandbox-image");
  await page.getByText(/^Free: 100 credits per month, 1 run at a time/).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole("link", { name: "See plans" }).first().click();
  await page.getByRole("heading", { name: "Plans", level: 1 }).waitFor();
  await page.getByRole("columnheader", { name: "Free Your plan" }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});
