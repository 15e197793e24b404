import { expect, test, type Page } from "@playwright/test";
import type { Account } from "../../../test-support/client";
import { canvasStands } from "../../../test-support/browser";
import { middleOf, NODE, saved } from "./support/canvas";
import { FRAMES, medianFrame } from "./support/frames";
import { setStage } from "./support/stage";

/** `npm run drill console`: use of the canvas, with few nodes and with the maximum number. */
/** Maximum number of nodes of a workflow. */
const NODES = 500;
/** Limits on a quiet machine: time until nodes are visible, and median frame time while one of them is dragged. */
const BOUNDS_MS = [
  { count: 100, opened: 500, frame: 17 },
  { count: 300, opened: 800, frame: 17 },
  { count: NODES, opened: 1_200, frame: 20 },
] as const;
const EVENT_TO_PIXEL_MS = 150;
const COLUMNS = 25;
/** Extra work per frame that the frame measurement must detect. */
const BUSY_MS = 40;

const stage = setStage();
let account: Account;
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "enterprise" });
});

const create = async (name: string, graph: object): Promise<string> =>
  String((await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name, ...graph } })).body.slug);
const onCanvas = (name: string, graph: object, act: (page: Page, slug: string) => Promise<void>): void =>
  test(name, async () => {
    const slug = await create(name, graph);
    const { page, context, complaints } = await stage.signedIn(account);
    await context.addInitScript("globalThis.nodeloomRenders = new Map()");
    await act(page, slug);
    expect(complaints).toEqual([]);
    await context.close();
  });

const selected = (page: Page): Promise<string[]> =>
  page.evaluate(
    `[...document.querySelectorAll("nav[aria-label=Nodes] button[aria-pressed=true]")].map((one) => one.textContent.split(",")[0])`,
  );

const text = (id: string, x: number, y: number): object => ({ id, type: "text-box", position: { x, y }, data: { text: id, label: id } });
/** A stored viewport prevents the initial move of the view, which would happen under the pointer. */
const FOUR = {
  nodes: [text("a", 0, 0), text("b", 400, 0), text("c", 0, 300), text("d", 400, 300)],
  edges: [],
  viewport: { x: 150, y: 150, zoom: 0.9 },
};

onCanvas("a line drawn around nodes selects them, and no others", FOUR, async (page, slug) => {
  await page.goto(`/workflows/${slug}`);
  await page.locator(NODE).first().waitFor();
  await page.keyboard.press("l");
  await canvasStands(page);
  const [a, c] = [await middleOf(page, '[data-id="a"]'), await middleOf(page, '[data-id="c"]')];
  const around = [
    { x: a.x - 60, y: a.y - 40 },
    { x: a.x + 60, y: a.y - 40 },
    { x: c.x + 60, y: c.y + 40 },
    { x: c.x - 60, y: c.y + 40 },
  ];
  await page.mouse.move(around[0]!.x, around[0]!.y);
  await page.mouse.down();
  for (const { x, y } of around) await page.mouse.move(x, y, { steps: 4 });
  await page.mouse.up();
  expect(await selected(page)).toEqual(["a", "c"]);
  await page.keyboard.press("Escape");
  expect(await selected(page)).toEqual([]);
});

const CLOSE = {
  nodes: [text("a", 0, 0), { id: "b", type: "text-box", position: { x: 500, y: 0 }, data: { text: "{{x}} {{y}}", label: "b" } }],
  edges: ["x", "y"].map((port) => ({ id: `to-${port}`, source: "a", sourceHandle: "text", target: "b", targetHandle: port })),
  viewport: { x: 150, y: 150, zoom: 0.9 },
};

onCanvas("of close links the one under the pointer is selected", CLOSE, async (page, slug) => {
  await page.goto(`/workflows/${slug}`);
  await page.locator(".react-flow__edge-path").nth(1).waitFor({ state: "attached" });
  await canvasStands(page);
  for (const id of ["to-x", "to-y", "to-x"]) {
    const { x, y, under } = (await page.evaluate(`(() => {
      const path = document.querySelector('.react-flow__edge[data-id="${id}"] .react-flow__edge-path');
      const on = path.getPointAtLength(path.getTotalLength() * 0.3);
      const { x, y } = new DOMPoint(on.x, on.y).matrixTransform(path.getScreenCTM());
      const edges = document.elementsFromPoint(x, y).flatMap((one) => one.closest(".react-flow__edge") ?? []);
      return { x, y, under: new Set(edges).size };
    })()`)) as { x: number; y: number; under: number };
    expect(under).toBe(2);
    await page.mouse.click(x, y);
    await page.locator(`.react-flow__edge.selected[data-id="${id}"]`).waitFor({ state: "attached" });
    expect(await page.locator(".react-flow__edge.selected").count()).toBe(1);
    await page.keyboard.press("Escape");
  }
});

const MANY = {
  nodes: Array.from({ length: 12 }, (_, index) => text(`n${index}`, (index % 4) * 300, Math.floor(index / 4) * 220)),
  edges: [],
};

onCanvas("the map draws a frame below its nodes", MANY, async (page, slug) => {
  await page.goto(`/workflows/${slug}`);
  await page.locator(NODE).nth(11).waitFor();
  await page.keyboard.press("Control+a");
  await page.getByRole("toolbar", { name: "Arrange" }).getByRole("button", { name: "Frame the selection" }).click();
  await page.locator(".frame-title").waitFor();
  await page.locator(".react-flow__minimap-node").nth(12).waitFor({ state: "attached" });
  const areas = (await page.evaluate(
    `[...document.querySelectorAll(".react-flow__minimap-node")].map((node) => node.getAttribute("width") * node.getAttribute("height"))`,
  )) as number[];
  expect(areas.indexOf(Math.max(...areas))).toBe(0);
});

onCanvas("nodes on a frame move with it, and no others do; undo reverts both", FOUR, async (page, slug) => {
  const places = async (): Promise<Record<string, unknown>> => {
    const { body } = await stage.http.call("GET", `/api/workflows/${slug}`, { key: account.key });
    return Object.fromEntries((body.nodes as { id: string; position: unknown }[]).map(({ id, position }) => [id, position]));
  };
  await page.goto(`/workflows/${slug}`);
  await page.locator('[data-id="a"]').click();
  await page.locator('[data-id="b"]').click({ modifiers: ["Shift"] });
  await page.getByRole("toolbar", { name: "Arrange" }).getByRole("button", { name: "Frame the selection" }).click();
  // A new frame asks for its name on the canvas.
  await page.getByRole("textbox", { name: "Name" }).fill("Upper row");
  await page.keyboard.press("Enter");
  await saved(page);
  const before = await places();
  await canvasStands(page);
  const title = await middleOf(page, ".frame-title");
  await page.mouse.move(title.x, title.y);
  await page.mouse.down();
  await page.mouse.move(title.x + 40, title.y - 60, { steps: 5 });
  await page.mouse.up();
  await saved(page);
  const after = await places();
  expect(after.a).not.toEqual(before.a);
  expect(after.b).not.toEqual(before.b);
  expect([after.c, after.d]).toEqual([before.c, before.d]);
  await page.getByRole("button", { name: /^Undo: Move/ }).click();
  await saved(page);
  expect(await places()).toEqual(before);
});

onCanvas("several nodes are aligned, and a box selects the nodes inside", FOUR, async (page, slug) => {
  await page.goto(`/workflows/${slug}`);
  await page.locator(NODE).first().waitFor();
  await canvasStands(page);
  const [a, c] = [await middleOf(page, '[data-id="a"]'), await middleOf(page, '[data-id="c"]')];
  await page.mouse.move(a.x - 160, a.y - 90);
  await page.mouse.down();
  await page.mouse.move(c.x + 20, c.y + 20, { steps: 5 });
  await page.mouse.up();
  expect(await selected(page)).toEqual(["a", "c"]);
  await page.getByRole("toolbar", { name: "Arrange" }).getByRole("button", { name: "Distribute horizontally" }).click();
  await saved(page);
  const { body } = await stage.http.call("GET", `/api/workflows/${slug}`, { key: account.key });
  const xs = (body.nodes as { id: string; position: { x: number } }[]).map(({ position }) => position.x);
  expect(xs[0]).not.toBe(xs[2]);
});

/** A graph of chains, one in each row. */
const chainOf = (count: number) => ({
  nodes: Array.from({ length: count }, (_, index) => text(`n${index}`, (index % COLUMNS) * 320, Math.floor(index / COLUMNS) * 240)).map(
    (node, index) => ({ ...node, data: { label: `n${index}`, text: index === 0 ? "first" : "{{before}}" } }),
  ),
  edges: Array.from({ length: count - 1 }, (_, index) => ({
    id: `e${index}`,
    source: `n${index}`,
    sourceHandle: "text",
    target: `n${index + 1}`,
    targetHandle: "before",
    // A link between rows would be under the pointer, and hovering a link draws it.
  })).filter((_, index) => (index + 1) % COLUMNS !== 0),
});

const drawCounts = async (page: Page): Promise<Record<string, number>> =>
  JSON.parse(await page.evaluate(`JSON.stringify(Object.fromEntries(globalThis.nodeloomRenders))`)) as Record<string, number>;
const forget = (page: Page): Promise<unknown> => page.evaluate("globalThis.nodeloomRenders.clear()");
/** Waits until the page has drawn nothing for a moment. */
const quiet = (page: Page): Promise<unknown> =>
  page.evaluate(`new Promise((done) => {
    let before = -1;
    const look = () => {
      const now = [...globalThis.nodeloomRenders.values()].reduce((sum, one) => sum + one, 0);
      if (now === before) return done();
      before = now;
      setTimeout(look, 1000);
    };
    look();
  })`);
const note = (line: string): void => void process.stdout.write(`${line}\n`);

/** @returns milliseconds until the nodes of a workflow are on the canvas, after the canvas's code is loaded */
const openingMs = async (page: Page, slug: string, count: number): Promise<number> =>
  Number(
    await page.evaluate(`new Promise((done) => {
      const from = performance.now();
      history.pushState({}, "", "/workflows/${slug}");
      dispatchEvent(new PopStateEvent("popstate"));
      const look = () => document.querySelectorAll("${NODE}").length >= ${count} ? done(performance.now() - from) : requestAnimationFrame(look);
      look();
    })`),
  );

for (const { count, opened, frame } of BOUNDS_MS)
  onCanvas(`${count} nodes: only changed parts are drawn again`, chainOf(count), async (page, slug) => {
    // The canvas's code is loaded already, as for a second workflow.
    await page.goto(`/workflows/${await create("Small", FOUR)}`);
    await page.locator(NODE).first().waitFor();
    note(`${count} nodes opened in ${Math.round(await openingMs(page, slug, count))} ms (on a quiet machine: ${opened})`);
    await quiet(page);

    await page.keyboard.press("Control+f");
    await page.getByRole("combobox").fill("n62");
    await page.keyboard.press("Enter");
    await quiet(page);
    const from = await middleOf(page, '[data-id="n62"]');
    await forget(page);
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.evaluate(FRAMES);
    await page.mouse.move(from.x + 60, from.y + 90, { steps: 30 });
    note(`dragging one of ${count}: a frame takes ${(await medianFrame(page)).toFixed(1)} ms (p50; on a quiet machine: ${frame})`);
    expect(Object.keys(await drawCounts(page)).sort()).toEqual(["edge e61", "edge e62", "node n62"]);
    await page.mouse.up();
    await saved(page);
    expect(Object.keys(await drawCounts(page)).sort()).toEqual(["edge e61", "edge e62", "node n62"]);

    await quiet(page);
    await forget(page);
    await page.mouse.move(from.x, from.y - 150);
    await page.evaluate(FRAMES);
    for (let step = 0; step < 10; step += 1) await page.mouse.wheel(0, 20);
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    note(`moving ${count} across the screen: a frame takes ${(await medianFrame(page)).toFixed(1)} ms (p50; on a quiet machine: ${frame})`);
    expect(await drawCounts(page)).toEqual({});

    // A browser that is busy in every frame must fail the measurement.
    await page.evaluate(
      `(() => { const busy = () => { const from = performance.now(); while (performance.now() - from < ${BUSY_MS}); globalThis.busyLoop = requestAnimationFrame(busy); }; busy(); })()`,
    );
    await page.evaluate(FRAMES);
    await page.mouse.move(from.x, from.y - 100, { steps: 10 });
    expect(await medianFrame(page)).toBeGreaterThanOrEqual(BUSY_MS / 2);
  });

onCanvas("an event of a run draws only its node", chainOf(NODES), async (page, slug) => {
  const id = "3f0e7c52-2f0e-4b76-8a3c-6d1f5f8f3a11";
  const node = (index: number): object => ({
    id: `n${index}`,
    type: "text-box",
    status: "pending",
    startedAt: null,
    durationMs: null,
    creditsCost: 0,
    error: null,
  });
  const execution = {
    executionId: id,
    status: "processing",
    durationMs: 1,
    creditsCost: 0,
    error: null,
    nodes: Array.from({ length: NODES }, (_, index) => node(index)),
  };
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let streams = 0;
  await page.route(`**/api/executions/${id}`, (route) => route.fulfill({ json: execution }));
  await page.route(`**/api/executions/${id}/events`, async (route) => {
    streams += 1;
    // The second connection, after the events, never gets a response.
    if (streams > 1) return;
    await released;
    // First event of a row. An earlier row's event would complete the nodes before it.
    const event = { type: "node.started", at: new Date(0).toISOString(), data: { nodeId: `n${COLUMNS}` } };
    await route.fulfill({ contentType: "text/event-stream", body: `id: 1\nevent: node.started\ndata: ${JSON.stringify(event)}\n\n` });
  });
  await page.goto(`/workflows/${slug}?run=${id}`);
  await page.locator(NODE).first().waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  await quiet(page);
  await forget(page);
  const runningMs = page.evaluate(`new Promise((done) => {
    const look = () => document.querySelector('[data-id="n${COLUMNS}"] [aria-label="running"]') ? requestAnimationFrame(() => done(Date.now())) : requestAnimationFrame(look);
    look();
  })`);
  const from = Date.now();
  release();
  note(`from an event to its pixels: ${Number(await runningMs) - from} ms (on a quiet machine: ${EVENT_TO_PIXEL_MS})`);
  expect(Object.keys(await drawCounts(page))).toEqual([`node n${COLUMNS}`]);
});
