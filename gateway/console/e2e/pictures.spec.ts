import { expect, test, type Page } from "@playwright/test";
import { readFileSync } from "node:fs";
import type { Account } from "../../../test-support/client";
import { canvasStands } from "../../../test-support/browser";
import { edge, NODE, nodeAt } from "./support/canvas";
import { picturesOf } from "./support/picture";
import { FRAMES, medianFrame } from "./support/frames";
import { setStage } from "./support/stage";

/** `npm run drill console`: a canvas full of pictures, and the time until a run's first picture is visible. */
const PICTURES = 300;
/** The usual size of a model's pictures. */
const SIZE = { width: 1_024, height: 768 };
/** Limits on a quiet machine. */
const BOUNDS = { openedMs: 1_500, frameMs: 20, memoryMb: 400, firstImageMs: 500 } as const;
const AT_ONCE = 6;
const COLUMNS = 25;
/** Number of frames for a stable median. */
const STEPS = 60;
const MB = 1024;

const stage = setStage();
let account: Account;
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "enterprise" });
});

const note = (line: string): void => void process.stdout.write(`${line}\n`);
const create = async (graph: object): Promise<string> =>
  String((await stage.http.call("POST", "/api/workflows", { key: account.key, body: { name: "Pictures", ...graph } })).body.slug);

const pictureOf = picturesOf(SIZE.width, SIZE.height);
const upload = async (number: number): Promise<string> => {
  const headers = { "x-api-key": account.key!, "content-type": "image/png" };
  const body = new Uint8Array(pictureOf(number));
  const answer = await fetch(`${stage.platform.baseUrl}/api/media`, { method: "POST", headers, body });
  if (!answer.ok) throw new Error(`a picture was not taken: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
};

/** Memory of the browser's page in MB. Linux only; undefined elsewhere. */
const memoryOf = async (page: Page): Promise<number | undefined> => {
  const browser = page.context().browser();
  if (!browser || process.platform !== "linux") return undefined;
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  const resident = processInfo
    .filter(({ type }) => type === "renderer")
    .map(({ id }) => Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1] ?? 0));
  return Math.round(Math.max(...resident) / MB);
};

test(`${PICTURES} nodes with ${PICTURES} pictures open, move and zoom`, async () => {
  const ids: string[] = [];
  for (let from = 0; from < PICTURES; from += AT_ONCE)
    ids.push(...(await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => upload(from + at)))));
  const nodes = ids.map((mediaId, index) =>
    nodeAt(`p${index}`, "media-upload", { x: (index % COLUMNS) * 300, y: Math.floor(index / COLUMNS) * 360 }, { mediaId }),
  );
  const [slug, small] = [await create({ nodes, edges: [] }), await create({ nodes: nodes.slice(0, 1), edges: [] })];
  const { page, context, complaints } = await stage.signedIn(account);
  // The canvas's code is loaded already, as for a second workflow.
  await page.goto(`/workflows/${small}`);
  await page.locator(`${NODE} img`).waitFor();
  const opened = Number(
    await page.evaluate(`new Promise((done) => {
      const from = performance.now();
      history.pushState({}, "", "/workflows/${slug}");
      dispatchEvent(new PopStateEvent("popstate"));
      const look = () => document.querySelectorAll("${NODE} img").length >= ${PICTURES} ? done(performance.now() - from) : requestAnimationFrame(look);
      look();
    })`),
  );
  note(`${PICTURES} nodes with pictures opened in ${Math.round(opened)} ms (on a quiet machine: ${BOUNDS.openedMs})`);
  const drawnMs = Number(
    await page.evaluate(`new Promise((done) => {
      const from = performance.now();
      const look = () => [...document.querySelectorAll("${NODE} img")].every((one) => one.complete && one.naturalWidth > 0) ? done(performance.now() - from) : setTimeout(look, 50);
      look();
    })`),
  );
  note(`all of them were drawn ${Math.round(drawnMs)} ms later`);
  await canvasStands(page);
  await page.mouse.move(600, 400);
  for (const [what, keys] of [
    ["moving", undefined],
    ["zooming", "Control"],
  ] as const) {
    await page.evaluate(FRAMES);
    if (keys) await page.keyboard.down(keys);
    for (let step = 0; step < STEPS; step += 1) await page.mouse.wheel(0, step % 2 === 0 ? 24 : -16);
    if (keys) await page.keyboard.up(keys);
    note(`${what}: a frame takes ${(await medianFrame(page)).toFixed(1)} ms (p50; on a quiet machine: ${BOUNDS.frameMs})`);
  }
  const memory = await memoryOf(page);
  if (memory !== undefined) {
    note(`the page holds ${memory} MB (at most ${BOUNDS.memoryMb})`);
    // Memory use doesn't depend on how busy a machine is.
    expect(memory).toBeLessThanOrEqual(BOUNDS.memoryMb);
  }
  expect(complaints).toEqual([]);
  await context.close();
});

test("the first image of three is on the canvas as soon as it is created", async () => {
  const slug = await create({
    nodes: [
      nodeAt("list", "list", { x: 0, y: 0 }, { items: ["a boat", "a kite", "a fox"] }),
      nodeAt("stills", "generate-image", { x: 340, y: 0 }, { model: "sandbox-image" }),
    ],
    edges: [edge("list.items", "stills.prompt")],
  });
  const { page, context, complaints } = await stage.signedIn(account);
  await page.goto(`/workflows/${slug}`);
  await page.locator(NODE).nth(1).waitFor();
  await page.keyboard.press("Control+Enter");
  // Measured in the page: the time at which a node's image is visible, and the end of its call by the service's clock on this machine.
  const shownAt = page.evaluate(`new Promise((done) => {
    const look = () => {
      const image = document.querySelector('[data-id="stills"] img');
      if (image?.complete && image.naturalWidth > 0) return done(Date.now());
      requestAnimationFrame(look);
    };
    look();
  })`);
  await page.getByTestId("run").click();
  const at = Number(await shownAt);
  await page.locator("section[aria-label=Run] header").getByText("Completed", { exact: true }).waitFor();
  const id = (await page.getByRole("link", { name: "Open run" }).getAttribute("href"))!.split("/").at(-1)!;
  const { body } = await stage.http.call("GET", `/api/executions/${id}`, { key: account.key });
  const events = await fetch(`${stage.platform.baseUrl}/api/executions/${id}/events`, { headers: { "x-api-key": account.key! } });
  // The list completes when the run arrives, so the first picture counts.
  const progressEvents = /"type":"node\.progress","at":"([^"]+)","data":\{[^}]*"nodeId":"stills"/g;
  const times = [...(await events.text()).matchAll(progressEvents)].map(([, time]) => Date.parse(time!));
  expect(body.status).toBe("completed");
  note(`the first image was seen ${at - Math.min(...times)} ms after it was made (on a quiet machine: ${BOUNDS.firstImageMs})`);
  expect(times.length).toBeGreaterThan(0);
  expect(complaints).toEqual([]);
  await context.close();
});
