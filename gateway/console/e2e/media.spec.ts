import { expect, test, type Page } from "@playwright/test";
import { accessibilityProblems, canvasStands } from "../../../test-support/browser";
import { eventually, type Account } from "../../../test-support/client";
import { edge, middleOf, NODE, nodeAt, nodes, saved } from "./support/canvas";
import { handOf } from "./support/hand";
import { setStage } from "./support/stage";

/** `npm run drill console`: results of pipelines, on the canvas and enlarged; files; answers in text and JSON. */
const stage = setStage();
let account: Account;
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "enterprise" });
});

const list = (items: readonly string[]): object => nodeAt("list", "list", { x: 0, y: 0 }, { items });
const stills = (inputs: object = {}): object =>
  nodeAt("stills", "generate-image", { x: 400, y: 0 }, { model: "sandbox-image", label: "Stills", inputs });
const end = nodeAt("end", "response-output", { x: 800, y: 0 });
const THREE = {
  nodes: [list(["a boat", "a kite", "a fox"]), stills(), end],
  edges: [edge("list.items", "stills.prompt"), edge("stills.image", "end.images")],
};

interface SavedGraph {
  nodes: { id: string; type: string; position: { x: number; y: number }; data: Record<string, unknown>; view?: object }[];
  edges: { source: string; target: string; sourceHandle: string; targetHandle: string }[];
}
const read = async (slug: string): Promise<SavedGraph> =>
  (await stage.http.call("GET", `/api/workflows/${slug}`, { key: account.key })).body as unknown as SavedGraph;
const create = async (graph: object): Promise<string> =>
  String((await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: "Media", ...graph } })).body.slug);
const run = (slug: string) => stage.http.call("POST", `/api/workflows/${slug}/run`, { key: account.key, body: { inputs: {} } });

const onCanvas = (
  name: string,
  graph: { nodes: object[]; edges: unknown[] },
  act: (page: Page, slug: string) => Promise<void>,
  before: (slug: string) => Promise<unknown> = () => Promise.resolve(),
): void =>
  test(name, async () => {
    const slug = await create(graph);
    await before(slug);
    const { page, context, complaints } = await stage.signedIn(account);
    await page.goto(`/workflows/${slug}`);
    if (graph.nodes.length > 0) {
      await nodes(page, graph.nodes.length);
      await canvasStands(page);
    }
    await act(page, slug);
    expect(complaints).toEqual([]);
    await context.close();
  });

const node = (id: string): string => `${NODE}[data-id="${id}"]`;
const items = (page: Page, id: string) => page.locator(`${node(id)} .node-strip-item`);
const port = (id: string, name: string, side: "source" | "target"): string =>
  `${node(id)} .react-flow__handle.${side}[data-handleid="${name}"]`;

onCanvas("every item of a fan-out is on its node, and stays there after a reload", THREE, async (page, slug) => {
  await page.keyboard.press("Control+Enter");
  await page.getByTestId("run").click();
  await items(page, "stills").nth(2).waitFor();
  await page
    .locator(`${node("stills")} .node-strip-item img`)
    .nth(2)
    .waitFor();
  await page.goto(`/workflows/${slug}`);
  await items(page, "stills").nth(2).waitFor();
  await page
    .getByText(/1 of 3 .*from .*(ago|now)/)
    .first()
    .waitFor();
  await items(page, "stills").nth(1).click();
  await page
    .getByText(/2 of 3 /)
    .first()
    .waitFor();
  // After a change of the prompt, the results belong to the previous one.
  await page.locator(node("list")).click({ position: { x: 60, y: 20 } });
  await page.getByRole("textbox", { name: "Item 1" }).fill("a whale");
  await page.getByText("before your last change").first().waitFor();
});

onCanvas(
  "items created before another one failed are shown",
  {
    ...THREE,
    nodes: [
      list(["a boat", "a kite"]),
      stills(),
      nodeAt("clip", "generate-video", { x: 800, y: 0 }, { model: "sandbox-video", inputs: { seconds: 1, sandbox: { fail: "job" } } }),
    ],
    edges: [edge("list.items", "stills.prompt"), edge("list.items", "clip.prompt"), edge("stills.image", "clip.image")],
  },
  async (page, slug) => {
    const ran = await run(slug);
    expect(ran.status).toBe(500);
    await page.reload();
    await items(page, "stills").nth(1).waitFor();
    await page.goto(`/executions/${ran.headers.get("x-execution-id")}`);
    const partialResults = page.locator("section", { hasText: "Results before the failure" }).last();
    await partialResults.locator("img").nth(1).waitFor();
  },
);

onCanvas(
  "a run in progress is followed again after a reload, and its results appear on the canvas",
  { ...THREE, nodes: [list(["a boat", "a kite", "a fox"]), stills({ sandbox: { latencyMs: 4_000 } }), end] },
  async (page) => {
    await page.keyboard.press("Control+Enter");
    await page.getByTestId("run").click();
    await page
      .locator(`${node("stills")} [aria-label=running]`)
      .first()
      .waitFor();
    // A node that only processes values is done when the next node starts.
    await page.locator(`${node("list")} [aria-label=completed]`).waitFor();
    await page.reload();
    await page
      .locator(`${node("stills")} [aria-label=running]`)
      .first()
      .waitFor();
    await page
      .locator(`${node("stills")} .node-strip-item img`)
      .nth(2)
      .waitFor();
  },
);

onCanvas(
  "the viewer is never empty: a picture's thumbnail is shown until it has loaded, and a failure says so",
  { nodes: [nodeAt("still", "generate-image", { x: 0, y: 0 }, { model: "sandbox-image-fast", inputs: { prompt: "a boat" } })], edges: [] },
  async (page) => {
    await page.locator(`${node("still")} .node-stage img`).waitFor();
    let isBroken = false;
    const requests: (() => Promise<void>)[] = [];
    const isWhole = ({ pathname, searchParams }: URL): boolean => pathname.startsWith("/media/") && !searchParams.has("w");
    await page.route(isWhole, (route) => {
      const answer = (): Promise<void> => (isBroken ? route.abort() : route.continue());
      requests.push(answer);
    });
    const stage = page.locator("dialog .viewer-surface");
    const widths = (): Promise<number[]> =>
      stage.locator("img").evaluateAll((all) => all.map((one) => (one as unknown as { naturalWidth: number }).naturalWidth));
    const open = async (): Promise<void> => {
      await page.locator(`${node("still")} .node-stage`).dblclick();
      await stage.getByRole("img", { name: "Loading…" }).waitFor();
      await expect.poll(async () => Math.max(...(await widths())), { message: "a thumbnail is shown" }).toBeGreaterThan(0);
      await expect.poll(() => requests.length).toBeGreaterThan(0);
    };
    const answerAll = async (): Promise<void> => {
      for (const answer of requests.splice(0)) await answer();
    };
    await open();
    await answerAll();
    await stage.getByRole("img", { name: "Loading…" }).waitFor({ state: "detached" });
    await expect.poll(widths).toEqual([expect.any(Number)]);
    expect((await widths())[0]).toBeGreaterThan(0);
    await page.keyboard.press("Escape");
    await page.reload();
    await page.locator(`${node("still")} .node-stage img`).waitFor();
    isBroken = true;
    await open();
    await answerAll();
    await page.getByText("The picture couldn't be loaded.").waitFor();
    isBroken = false;
    await page.getByRole("button", { name: "Load again" }).click();
    await expect.poll(() => requests.length).toBeGreaterThan(0);
    await answerAll();
    await expect.poll(async () => Math.max(...(await widths()))).toBeGreaterThan(0);
  },
  run,
);

onCanvas("a node shows its results larger, its neighbours make room, and undo reverts it", THREE, async (page, slug) => {
  await page.keyboard.press("Control+Enter");
  await page.getByTestId("run").click();
  await page
    .locator(`${node("end")} img`)
    .first()
    .waitFor();
  await page.locator(node("stills")).hover();
  await page.locator(node("stills")).getByRole("button", { name: "Preview size: large", exact: true }).click();
  await saved(page);
  const [, larger, after] = (await read(slug)).nodes;
  expect(larger!.view).toEqual({ width: 560, media: 420 });
  expect(after!.position.x).toBe(800 + 560 - 248);
  await page.getByRole("button", { name: /^Undo: Preview size/ }).click();
  await eventually(async () => (await read(slug)).nodes[1]!.view === undefined);
});

onCanvas(
  "results are viewed large: through items and runs, compared, on a sheet, with their settings",
  THREE,
  async (page) => {
    await items(page, "stills").nth(2).waitFor();
    await page.locator(node("stills")).click({ position: { x: 60, y: 20 } });
    await page.keyboard.press("v");
    const viewer = page.getByRole("dialog", { name: /Viewing/ });
    await viewer.getByText("run 1 of 2").waitFor();
    await viewer.getByText("1 of 3").first().waitFor();
    expect(await viewer.getByRole("complementary", { name: "Settings" }).textContent()).toContain("a boat");
    for (const place of ["2 of 3", "3 of 3", "run 2 of 2"]) {
      await page.keyboard.press("ArrowRight");
      await viewer.getByText(place).first().waitFor();
    }
    await page.keyboard.press("ArrowUp");
    await viewer.getByText("run 1 of 2").waitFor();
    await viewer.getByRole("button", { name: "Copy prompt and seed" }).click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toContain("a boat");
    const saving = page.waitForEvent("download");
    await viewer.getByRole("button", { name: "Download all as ZIP" }).click();
    expect((await saving).suggestedFilename()).toMatch(/^Stills.*\.zip$/);
    await viewer.getByRole("button", { name: "Compare with slider" }).click();
    await viewer.getByRole("slider").fill("20");
    expect(await viewer.locator("img[alt^='A:'], img[alt^='B:']").count()).toBe(2);
    const divider = await middleOf(page, ".viewer-line");
    await handOf(page).drag(divider, { x: divider.x + 120, y: divider.y });
    expect(Number(await viewer.getByRole("slider").inputValue())).toBeGreaterThan(25);
    await viewer.getByRole("button", { name: "Difference" }).click();
    expect(await viewer.locator("img[alt^='A:'], img[alt^='B:']").count()).toBe(2);
    expect(await accessibilityProblems(page)).toEqual([]);
    await viewer.getByRole("button", { name: "Contact sheet" }).click();
    expect(await viewer.getByRole("region", { name: "Contact sheet" }).locator("img").count()).toBe(6);
    await viewer.getByRole("button", { name: "View a kite" }).first().click();
    await viewer.getByText("2 of 3").first().waitFor();
    await viewer.getByRole("button", { name: "Use as input" }).click();
    await page.locator(`${NODE} .node-title`, { hasText: /^a kite$/ }).waitFor();
  },
  async (slug) => {
    await run(slug);
    await run(slug);
  },
);

const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC";
/** Gives a file to the page by drop or paste. */
const give = (page: Page, how: "drop" | "paste", name: string): Promise<unknown> =>
  page.evaluate(`(() => {
    const bytes = Uint8Array.from(atob("${PICTURE}"), (one) => one.charCodeAt(0));
    const data = new DataTransfer();
    data.items.add(new File([bytes], "${name}", { type: "image/png" }));
    const { left, top, width, height } = document.querySelector(".board").getBoundingClientRect();
    const place = { clientX: left + width / 2, clientY: top + height / 2, bubbles: true, cancelable: true };
    if ("${how}" === "paste") document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    else document.querySelector(".react-flow__pane").dispatchEvent(new DragEvent("drop", { dataTransfer: data, ...place }));
  })()`);

onCanvas("a dropped or pasted photo becomes a node that shows it by its name", { nodes: [], edges: [] }, async (page, slug) => {
  await page.getByRole("button", { name: "Add your first node" }).waitFor();
  await give(page, "drop", "harbour.png");
  await nodes(page, 1);
  await page.locator(`${NODE} img`).first().waitFor();
  expect(await page.locator(".node-title").textContent()).toBe("harbour");
  await give(page, "paste", "image.png");
  await nodes(page, 2);
  await saved(page);
  const [dropped, pasted] = (await read(slug)).nodes;
  expect([dropped!.type, pasted!.type]).toEqual(["media-upload", "media-upload"]);
  expect(dropped!.position).not.toEqual(pasted!.position);
  // The node's form shows the picture and the name, never the id.
  await page
    .locator(NODE)
    .first()
    .click({ position: { x: 60, y: 20 } });
  const file = page.getByRole("group", { name: "File" });
  await file.getByText("harbour.png").waitFor();
  expect(await page.locator("aside[aria-label='Side panel']").innerText()).not.toContain(String(dropped!.data.mediaId));
  // Adds several files from the library at once.
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Your files" }).click();
  const library = page.getByRole("complementary", { name: "Your files" });
  await library.getByRole("button", { name: /harbour.png, image/ }).click();
  expect(await accessibilityProblems(page)).toEqual([]);
  await library.getByRole("button", { name: "Add to canvas" }).click();
  await nodes(page, 3);
});

onCanvas(
  "a storyboard is built from nothing, without any JSON, in at most 40 clicks and keys besides texts",
  { nodes: [], edges: [] },
  async (page, slug) => {
    const hand = handOf(page);
    const { press, type, click, fill, effort } = hand;
    const add = async (key: string, words: string, count: number): Promise<void> => {
      await press(key);
      await type(words);
      await press("Enter");
      await nodes(page, count);
    };
    await page.getByRole("button", { name: "Add your first node" }).waitFor();
    await add("/", "assistant", 1);
    await fill(page.getByLabel("Prompt", { exact: true }), "Three scenes of a film about a lighthouse");
    await page.getByLabel("Response format").selectOption("list");
    await page.getByLabel("Item type").selectOption("fields");
    effort.clicks += 2;
    await fill(page.getByRole("textbox", { name: "Name of field 1" }), "still");
    await click(page.locator(port("assistant", "json", "source")));
    await type("json");
    await press("Enter");
    await nodes(page, 2);
    await fill(page.getByRole("textbox", { name: "Expression" }), "[*].still");
    await page.getByRole("textbox", { name: "Expression" }).blur();
    await add("a", "image", 3);
    await add("a", "results", 4);
    await saved(page);
    await press("Control+Enter");
    const run = page.getByTestId("run").getByText(/Run · /);
    await run.waitFor();
    const runText = await run.innerText();
    await press("Control+Enter");
    await items(page, "image").nth(2).waitFor();
    await page
      .locator(`${node("image")} .node-strip-item img`)
      .nth(2)
      .waitFor();
    process.stdout.write(`a storyboard: ${effort.clicks} clicks, ${effort.presses} keys\n`);
    expect(effort.clicks + effort.presses).toBeLessThanOrEqual(40);
    // The price is for three items, not for fifty.
    const quote = await stage.http.call("POST", `/api/workflows/${slug}/quote?version=draft`, { key: account.key, body: { inputs: {} } });
    const { nodes: priced, maxCreditCost } = quote.body as unknown as { nodes: { id: string; items: number }[]; maxCreditCost: number };
    expect(priced.find(({ id }) => id === "image")!.items).toBe(3);
    expect(Number(/([\d.,]+) credits?$/.exec(runText)?.[1])).toBeCloseTo(maxCreditCost, 0);
    // After a click on an input value, the result is a table.
    await page.locator(node("json")).click({ position: { x: 60, y: 20 } });
    await page
      .getByRole("region", { name: "Values to select" })
      .getByRole("button", { name: /still:/ })
      .click();
    expect(await page.getByRole("textbox", { name: "Expression" }).inputValue()).toBe("[*].still");
    await page.goto(`/workflows/${slug}?node=assistant`);
    await page.locator(`${node("assistant")} .node-floor-text`).waitFor();
  },
);

onCanvas("pasted or duplicated nodes cover no others", THREE, async (page, slug) => {
  await page.locator(node("list")).click({ position: { x: 60, y: 20 } });
  await page.keyboard.press("Control+c");
  await page.getByText(/^Copied “/).waitFor();
  await page.keyboard.press("Control+v");
  await nodes(page, 4);
  await page.keyboard.press("Control+d");
  await nodes(page, 5);
  await saved(page);
  const places = (await read(slug)).nodes.map(({ position: { x, y } }) => `${x} ${y}`);
  expect(new Set(places).size).toBe(5);
  const over = await page.evaluate(`(() => {
    const boxes = [...document.querySelectorAll("${NODE}")].map((one) => one.getBoundingClientRect());
    return boxes.some((a, at) => boxes.some((b, other) => other > at && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom));
  })()`);
  expect(over).toBe(false);
});

onCanvas(
  "a link is moved by its target port",
  {
    nodes: [...THREE.nodes, nodeAt("other", "generate-image", { x: 400, y: 500 }, { model: "sandbox-image", inputs: {} })],
    edges: THREE.edges,
  },
  async (page, slug) => {
    const { drag } = handOf(page);
    await drag(await middleOf(page, port("stills", "prompt", "target")), await middleOf(page, port("other", "prompt", "target")));
    await saved(page);
    await eventually(async () => (await read(slug)).edges.some(({ source, target }) => source === "list" && target === "other"));
    expect((await read(slug)).edges.some(({ source, target }) => source === "list" && target === "stills")).toBe(false);
  },
);

onCanvas(
  "a link goes around a node in its way",
  { nodes: [list(["a"]), stills(), nodeAt("end", "response-output", { x: 1_000, y: 0 })], edges: [edge("list.items", "end.text")] },
  async (page) => {
    const through = await page.evaluate(`(() => {
    const path = document.querySelector(".react-flow__edge-path");
    const box = document.querySelector('${node("stills")}').getBoundingClientRect();
    const matrix = path.getScreenCTM();
    for (let at = 0; at <= path.getTotalLength(); at += 4) {
      const { x, y } = path.getPointAtLength(at).matrixTransform(matrix);
      if (x > box.left && x < box.right && y > box.top && y < box.bottom) return true;
    }
    return false;
  })()`);
    expect(through).toBe(false);
  },
);

test("zoomed out, pictures are visible and names are readable", async () => {
  const slug = await create(THREE);
  await run(slug);
  const { page, context } = await stage.signedIn(account);
  await page.goto(`/workflows/${slug}`);
  await page.locator(`${node("stills")} .node-stage img`).waitFor();
  await canvasStands(page);
  for (let at = 0; at < 4; at += 1) await page.keyboard.press("-");
  await canvasStands(page);
  expect(await page.locator(`${node("stills")} .node-stage img`).isVisible()).toBe(true);
  const letters = Number(
    await page.evaluate(
      `(() => { const one = document.querySelector('${node("list")} .node-title'); const { transform } = getComputedStyle(document.querySelector(".react-flow__viewport")); return parseFloat(getComputedStyle(one).fontSize) * new DOMMatrix(transform).a; })()`,
    ),
  );
  expect(letters).toBeGreaterThanOrEqual(9);
  await context.close();
});

test("on a phone a tap on a node opens its settings", async () => {
  const slug = await create(THREE);
  const { page, context } = await stage.signedIn(account, { width: 390, height: 844 });
  await page.goto(`/workflows/${slug}`);
  await nodes(page, 3);
  await canvasStands(page);
  await page.locator(node("stills")).click();
  await page.getByRole("complementary", { name: "Side panel" }).getByRole("heading", { name: "Stills" }).waitFor();
  await context.close();
});

test("signing in from a playground returns to it, with the inputs kept", async () => {
  const fields = [{ name: "prompt", type: "text", label: "Prompt" }];
  const body = {
    name: "Public",
    publicPlayground: true,
    nodes: [nodeAt("in", "request-input", { x: 0, y: 0 }, { fields }), nodeAt("end", "response-output", { x: 400, y: 0 })],
    edges: [edge("in.prompt", "end.text")],
  };
  const slug = String((await stage.http.call("POST", "/api/workflows", { key: account.key, body })).body.slug);
  const other = await stage.http.account({ tier: "pro" });
  const { page, context } = await stage.visit();
  await page.goto(`/p/${slug}`);
  await page.getByLabel("Prompt").fill("a harbour at night");
  await page.getByRole("button", { name: "Sign in or create account" }).click();
  await page.getByLabel("Email").fill(other.email);
  await page.getByLabel("Password").fill(other.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { name: "Public" }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/p/${slug}`);
  expect(await page.getByLabel("Prompt").inputValue()).toBe("a harbour at night");
  await context.close();
});

onCanvas("the shown call includes the run's cost limit, and Tidy up shows the moved nodes", THREE, async (page) => {
  await page.keyboard.press("Control+Enter");
  await page
    .getByTestId("run")
    .getByText(/Run · /)
    .waitFor();
  await page.getByRole("button", { name: "Use as API" }).click();
  expect(await page.getByRole("dialog", { name: "Use as API" }).textContent()).toContain('"maxCredits"');
  await page.keyboard.press("Escape");
  await page.locator(node("list")).click({ position: { x: 60, y: 20 } });
  await page.keyboard.press("Escape");
  for (let at = 0; at < 5; at += 1) await page.keyboard.press("+");
  await canvasStands(page);
  await page.keyboard.press("Shift+T");
  await canvasStands(page);
  const board = (await page.locator(".board").boundingBox())!;
  for (const one of await page.locator(NODE).all()) {
    const box = (await one.boundingBox())!;
    expect(box.x).toBeGreaterThanOrEqual(board.x);
    expect(box.x + box.width).toBeLessThanOrEqual(board.x + board.width);
  }
});

test("administrators read names, and filter the audit", async () => {
  const { page, context } = await stage.signedIn(stage.platform.admin);
  await page.goto("/admin/audit");
  const emailCell = page.locator("main tbody").getByText(account.email).locator("visible=true").first();
  await emailCell.waitFor();
  await page.getByLabel("Category").selectOption("tier.");
  await page.getByText("No matches among the entries searched.").waitFor();
  await page.goto("/admin/runs");
  await page.locator("main tbody tr").first().getByText(account.email).waitFor();
  await context.close();
});
