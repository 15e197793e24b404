import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import sharp from "sharp";
import { accessibilityProblems, canvasStands } from "../../../test-support/browser";
import type { Account } from "../../../test-support/client";
import { similarity } from "../../../test-support/similarity";
import { edge, middleOf, NODE, nodeAt, nodes, saved } from "./support/canvas";
import { handOf } from "./support/hand";
import { EVERY_LOOK } from "./support/looks";
import { picturesOf } from "./support/picture";
import { setStage } from "./support/stage";

/** `npm run drill console`: settings of image operations, set on the picture itself. */
const stage = setStage();
const SCREENSHOTS = join(__dirname, "..", "..", "..", ".nodeloom", "screenshots");
const GEOMETRY = 0.98;
const TEXT = 0.95;
const OWN = { width: 640, height: 400 };

let account: Account;
let photo: string;
let photoBytes: Buffer;
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "enterprise" });
  photoBytes = picturesOf(OWN.width, OWN.height)(1);
  photo = await upload(photoBytes);
});

const upload = async (bytes: Buffer): Promise<string> => {
  const uploadReply = await fetch(`${stage.platform.baseUrl}/api/media`, {
    method: "POST",
    headers: { "x-api-key": account.key!, "content-type": "image/png" },
    body: new Uint8Array(bytes),
  });
  return ((await uploadReply.json()) as { id: string }).id;
};

/** A photo, one operation on it, and the result. */
const graphOf = (
  data: object,
  source: object = nodeAt("photo", "media-upload", { x: 0, y: 0 }, { mediaId: photo }),
  from = "photo.media",
) => ({
  nodes: [source, nodeAt("edit", "media", { x: 400, y: 0 }, data), nodeAt("end", "response-output", { x: 800, y: 0 })],
  edges: [edge(from, "edit.image"), edge("edit.image", "end.image")],
});

/** A disc on a transparent background, twice as wide as high. */
const layerOf = (): Promise<Buffer> => {
  const [width, height] = [240, 120];
  const pixels = Array.from({ length: width * height }, (_, at) => {
    const [x, y] = [at % width, Math.floor(at / width)];
    return [230, 120 + y, 40, Math.hypot((x - width / 2) / 2, y - height / 2) < 55 ? 255 : 0];
  });
  return sharp(Buffer.from(pixels.flat()), { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
};

/** The photo is also laid over itself, where the operation takes two pictures. */
const withOverlay = (graph: ReturnType<typeof graphOf>) =>
  JSON.stringify(graph).includes("image-composite") ? { ...graph, edges: [...graph.edges, edge("photo.media", "edit.overlay")] } : graph;

const open = async (graph: { nodes: object[]; edges: unknown[] }) => {
  const { body } = await stage.http.call("POST", "/api/workflows", { key: account.key!, body: { name: "Touch", ...graph } });
  const slug = String(body.slug);
  const visitor = await stage.signedIn(account);
  await visitor.page.goto(`/workflows/${slug}`);
  await nodes(visitor.page, graph.nodes.length);
  await canvasStands(visitor.page);
  await visitor.page.locator(`${NODE}[data-id="edit"]`).click({ position: { x: 60, y: 20 } });
  await visitor.page.keyboard.press("t");
  await visitor.page.getByRole("dialog").waitFor();
  return { ...visitor, slug, hand: handOf(visitor.page) };
};

const dataOf = async (slug: string): Promise<Record<string, unknown>> => {
  const { body } = await stage.http.call("GET", `/api/workflows/${slug}`, { key: account.key! });
  return (body.nodes as { id: string; data: Record<string, unknown> }[]).find(({ id }) => id === "edit")!.data;
};

/** The picture that a run of the workflow makes. */
const pictureOf = async (slug: string): Promise<Buffer> => {
  const { body, status, text } = await stage.http.call("POST", `/api/workflows/${slug}/run`, { key: account.key!, body: { inputs: {} } });
  if (status !== 200) throw new Error(text);
  const { url } = (body.outputs ?? body.result ?? body) as { url?: string };
  const pictureUrl = url ?? /"url":"([^"]+)"/.exec(text)![1]!;
  return Buffer.from(await (await fetch(pictureUrl.replaceAll("\\u0026", "&"))).arrayBuffer());
};

/** What the page shows inside a part of the preview, in the size of the result. */
const shownIn = async (page: Page, selector: string, size: { width: number; height: number }): Promise<Buffer> => {
  const clip = (await page.locator(selector).boundingBox())!;
  const show = (visibility: string) =>
    page.evaluate(
      `for (const one of document.querySelectorAll(".touch-box, .touch-shade, .touch-own")) one.style.visibility = "${visibility}"`,
    );
  await show("hidden");
  const shot = await page.screenshot({ clip, animations: "disabled" });
  await show("");
  return sharp(shot)
    .resize({ ...size, fit: "fill" })
    .png()
    .toBuffer();
};

const handle = (name: string): string => `.touch-handle-${name}`;
const field = (page: Page, name: string) => page.getByRole("dialog").getByRole("textbox", { name, exact: true });
const size = (page: Page) => page.getByTestId("touch-size");
const scaleOf = async (page: Page): Promise<number> => Number(await page.locator("[data-scale]").getAttribute("data-scale"));

test("a crop is dragged with the mouse, moved by keyboard, saved as one step, and runs to exactly that size", async () => {
  const { page, slug, hand, complaints, context } = await open(graphOf({ operation: "image-crop", aspect: "1:1" }));
  await expect(size(page)).toHaveText("400 × 400 pixels");
  await page.getByRole("button", { name: "Free", exact: true }).click();
  const scale = await scaleOf(page);
  const corner = await middleOf(page, handle("se"));
  await hand.drag(corner, { x: corner.x + 100 * scale, y: corner.y - 120 * scale });
  await expect(field(page, "Width")).toHaveValue("500");
  await expect(field(page, "Height")).toHaveValue("280");
  // The keyboard moves the edge that has the focus: by one pixel, or by ten.
  await page.getByRole("button", { name: "Right edge" }).focus();
  await hand.press("ArrowLeft", "Shift+ArrowLeft");
  await expect(field(page, "Width")).toHaveValue("489");
  await page.getByRole("button", { name: "Move crop area" }).focus();
  await hand.press("Shift+ArrowLeft");
  await expect(field(page, "Left edge")).toHaveValue("110");
  // Escape during a drag takes back only that drag.
  const edgeAt = await middleOf(page, handle("s"));
  await page.mouse.move(edgeAt.x, edgeAt.y);
  await page.mouse.down();
  await page.mouse.move(edgeAt.x, edgeAt.y - 60 * scale);
  await expect(field(page, "Height")).toHaveValue("220");
  await hand.press("Escape");
  await page.mouse.up();
  await expect(field(page, "Height")).toHaveValue("280");
  const preview = await shownIn(page, ".touch-box", { width: 489, height: 280 });
  await page.getByRole("button", { name: "Move crop area" }).focus();
  await hand.press("Enter");
  await saved(page);
  expect(await dataOf(slug)).toEqual({ operation: "image-crop", width: 489, height: 280, x: 110, y: 0 });
  const result = await pictureOf(slug);
  expect(await sharp(result).metadata()).toMatchObject({ width: 489, height: 280 });
  expect(await similarity(preview, result)).toBeGreaterThanOrEqual(GEOMETRY);
  // All of it is one step of undo.
  await hand.press("Control+z");
  await saved(page);
  await expect.poll(() => dataOf(slug)).toEqual({ operation: "image-crop", aspect: "1:1" });
  expect(complaints).toEqual([]);
  await context.close();
});

test("an aspect that fills the picture is stored as that aspect, and Escape saves nothing", async () => {
  const { page, slug, hand, context } = await open(graphOf({ operation: "image-crop", width: 100, height: 100 }));
  await page.getByRole("button", { name: "16:9" }).click();
  await expect(size(page)).toHaveText("640 × 360 pixels");
  await page.getByRole("button", { name: "Move crop area" }).focus();
  await hand.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await dataOf(slug)).toEqual({ operation: "image-crop", width: 100, height: 100 });
  await hand.press("t");
  await page.getByRole("button", { name: "16:9" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await saved(page);
  await expect.poll(() => dataOf(slug)).toEqual({ operation: "image-crop", aspect: "16:9" });
  await context.close();
});

test("a resize is dragged, keeps the proportions, and looks like the result", async () => {
  const { page, slug, hand, context } = await open(graphOf({ operation: "image-resize", width: 640 }));
  const scale = await scaleOf(page);
  const corner = await middleOf(page, handle("se"));
  await hand.drag(corner, { x: corner.x - 160 * scale, y: corner.y - 100 * scale });
  await expect(size(page)).toHaveText("480 × 300 pixels");
  await expect(field(page, "Width (pixels)")).toHaveValue("480");
  const preview = await shownIn(page, "[data-testid=touch-result]", { width: 480, height: 300 });
  await page.getByRole("button", { name: "Save" }).click();
  await saved(page);
  expect(await dataOf(slug)).toEqual({ operation: "image-resize", width: 480 });
  expect(await similarity(preview, await pictureOf(slug))).toBeGreaterThanOrEqual(GEOMETRY);
  await context.close();
});

test("a layer snaps to the middle, is resized at a corner, blended, and looks like the result", async () => {
  const logo = await upload(await layerOf());
  const graph = graphOf({ operation: "image-composite", position: "top-left", width: 200, opacity: 0.7, blend: "multiply" });
  const overlaid = {
    nodes: [...graph.nodes, nodeAt("logo", "media-upload", { x: 0, y: 320 }, { mediaId: logo })],
    edges: [...graph.edges, edge("logo.media", "edit.overlay")],
  };
  const { page, slug, hand, context } = await open(overlaid);
  await page.getByRole("button", { name: "Move overlay" }).waitFor();
  const scale = await scaleOf(page);
  const from = await middleOf(page, ".touch-move");
  // Three pixels beside the middle of both axes.
  await hand.drag(from, { x: from.x + 223 * scale, y: from.y + 147 * scale });
  await expect(field(page, "Left edge")).toHaveValue("220");
  await expect(field(page, "Top edge")).toHaveValue("150");
  const corner = await middleOf(page, handle("se"));
  await hand.drag(corner, { x: corner.x + 60 * scale, y: corner.y });
  await expect(field(page, "Overlay width (pixels)")).toHaveValue("260");
  const preview = await shownIn(page, "[data-testid=touch-result]", OWN);
  await page.getByRole("button", { name: "Save" }).click();
  await saved(page);
  expect(await dataOf(slug)).toMatchObject({ width: 260, x: 220, y: 150, opacity: 0.7, blend: "multiply" });
  expect(await similarity(preview, await pictureOf(slug))).toBeGreaterThanOrEqual(GEOMETRY);
  await hand.press("t");
  await page.getByRole("button", { name: "Bottom right", exact: true }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await saved(page);
  await expect
    .poll(() => dataOf(slug))
    .toEqual({ operation: "image-composite", position: "bottom-right", width: 260, opacity: 0.7, blend: "multiply" });
  await context.close();
});

/** The part of the photo that a picture changes. */
const changedPart = async (picture: Buffer) => {
  const [before, after] = await Promise.all([photoBytes, picture].map((one) => sharp(one).removeAlpha().raw().toBuffer()));
  const changed = Array.from({ length: OWN.width * OWN.height }, (_, at) => at).filter((at) =>
    [0, 1, 2].some((band) => before![3 * at + band] !== after![3 * at + band]),
  );
  const [columns, rows] = [changed.map((at) => at % OWN.width), changed.map((at) => Math.floor(at / OWN.width))];
  const least = (all: readonly number[]): number => all.reduce((one, other) => Math.min(one, other), Infinity);
  const most = (all: readonly number[]): number => all.reduce((one, other) => Math.max(one, other), -Infinity);
  const [left, top] = [least(columns), least(rows)];
  return { left, top, width: most(columns) - left + 1, height: most(rows) - top + 1 };
};

/** The photo with the box and the letters that the page drew, in the picture's own pixels: a screenshot would be scaled twice. */
const writtenOn = async (
  page: Page,
  box: { left: number; top: number; width: number; height: number },
  background: string,
): Promise<Buffer> => {
  const url = (await page.evaluate("document.querySelector('[data-testid=touch-text] canvas').toDataURL()")) as string;
  const letters = Buffer.from(url.split(",")[1]!, "base64");
  const { width } = await sharp(letters).metadata();
  const padding = (box.width - width) / 2;
  const { left, top, ...size } = box;
  return sharp(photoBytes)
    .composite([
      { input: { create: { ...size, channels: 4, background } }, left, top },
      { input: letters, left: left + padding, top: top + padding },
    ])
    .png()
    .toBuffer();
};

for (const [name, data] of [
  ["one line", { text: "Lighthouse at dawn", size: 0.12 }],
  [
    "several lines, bold",
    { text: "The keeper walks down to the sea, as he does every morning", size: 0.09, bold: true, align: "left", position: "top-left" },
  ],
  [
    "kerning and accents",
    { text: "AVATAR To Où? Ça va, Ñandú", size: 0.1, align: "right", position: "right", colour: "#ffee00", background: "#102030cc" },
  ],
] as const)
  test(`a text looks like the result, in a box of the same size: ${name}`, async () => {
    const { page, slug, context } = await open(graphOf({ operation: "image-text", ...data }));
    await page.getByTestId("touch-text").waitFor();
    const box = JSON.parse((await page.getByTestId("touch-text").getAttribute("data-box"))!) as Awaited<ReturnType<typeof changedPart>>;
    const preview = await writtenOn(page, box, "background" in data ? data.background : "#00000099");
    const result = await pictureOf(slug);
    const part = await changedPart(result);
    const off = [
      part.left - box.left,
      part.top - box.top,
      part.left + part.width - box.left - box.width,
      part.top + part.height - box.top - box.height,
    ];
    const cut = (picture: Buffer): Promise<Buffer> => sharp(picture).extract(part).png().toBuffer();
    const alike = await similarity(await cut(preview), await cut(result));
    expect({ off: off.every((one) => Math.abs(one) <= 1), alike: alike >= TEXT }, JSON.stringify({ off, alike })).toEqual({
      off: true,
      alike: true,
    });
    await context.close();
  });

test("a text is dragged to an anchor, resized at a corner, and moved by keys", async () => {
  const { page, slug, hand, context } = await open(graphOf({ operation: "image-text", text: "Dawn", size: 0.1 }));
  const scale = await scaleOf(page);
  const from = await middleOf(page, ".touch-move");
  await hand.drag(from, { x: from.x + 200 * scale, y: from.y - 240 * scale });
  await expect(page.getByRole("button", { name: "Top right", exact: true })).toHaveAttribute("aria-pressed", "true");
  await page.getByRole("button", { name: "Move text" }).focus();
  await hand.press("ArrowLeft");
  await expect(page.getByRole("button", { name: "Top", exact: true })).toHaveAttribute("aria-pressed", "true");
  const corner = await middleOf(page, handle("se"));
  await hand.drag(corner, { x: corner.x + 60 * scale, y: corner.y + 40 * scale });
  await page.getByRole("button", { name: "Save" }).click();
  await saved(page);
  const data = await dataOf(slug);
  expect(data).toMatchObject({ position: "top", text: "Dawn" });
  expect(data.size).toBeGreaterThan(0.12);
  await context.close();
});

test("before the first run the editor says what to do, and the numbers work; after it, the picture is there", async () => {
  const source = nodeAt("photo", "generate-image", { x: 0, y: 0 }, { model: "sandbox-image", inputs: { prompt: "a boat" } });
  const { page, slug, hand, context } = await open(graphOf({ operation: "image-crop", aspect: "1:1" }, source, "photo.image"));
  await page.getByText("Run the node before this one to see its picture").waitFor();
  await field(page, "Aspect ratio").fill("2:1");
  await hand.press("Enter");
  await saved(page);
  await expect.poll(() => dataOf(slug)).toEqual({ operation: "image-crop", aspect: "2:1" });
  await hand.press("Control+Enter");
  await page.getByTestId("run").click();
  await page.locator(`${NODE}[data-id="edit"] img`).first().waitFor();
  await page.locator(`${NODE}[data-id="edit"]`).click({ position: { x: 60, y: 20 } });
  await page.keyboard.press("t");
  await page.getByRole("button", { name: "Move crop area" }).waitFor();
  await context.close();
});

test("a mask is drawn with brush, eraser and rectangle, undone, saved as settings, and runs to what the picture shows", async () => {
  const graph = graphOf({ operation: "mask-draw" });
  graph.edges[1] = edge("edit.mask", "end.image");
  const { page, slug, hand, complaints, context } = await open(graph);
  const area = (await page.locator(".touch-paint").boundingBox())!;
  const at = (x: number, y: number) => ({ x: area.x + area.width * x, y: area.y + area.height * y });
  const choose = (name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
  await hand.drag(at(0.2, 0.5), at(0.8, 0.5));
  await choose("Eraser");
  await hand.drag(at(0.45, 0.5), at(0.55, 0.5));
  await choose("Rectangle");
  await hand.drag(at(0.1, 0.1), at(0.3, 0.2));
  await hand.drag(at(0.6, 0.7), at(0.9, 0.9));
  await choose("Undo");
  /** Opacity of the tint at a place of the picture. */
  const tintAt = (x: number, y: number) => {
    const canvas = 'document.querySelector("[data-testid=touch-mask]")';
    return page.evaluate(
      `${canvas}.getContext("2d").getImageData(${canvas}.width * ${x}, ${canvas}.height * ${y}, 1, 1).data[3]`,
    ) as Promise<number>;
  };
  const PLACES = [[0.25, 0.5], [0.5, 0.5], [0.2, 0.15], [0.75, 0.8], [0.9, 0.5]] as const; // prettier-ignore
  const tints = await Promise.all(PLACES.map(([x, y]) => tintAt(x, y)));
  expect(tints.map((tint) => tint > 0)).toEqual([true, false, true, false, false]);
  expect(await accessibilityProblems(page)).toEqual([]);
  await choose("Save");
  await saved(page);
  const { shapes } = (await dataOf(slug)) as { shapes: { tool: string; erase?: boolean }[] };
  expect(shapes.map(({ tool, erase }) => [tool, erase === true])).toEqual([
    ["brush", false],
    ["brush", true],
    ["rectangle", false],
  ]);
  const mask = await pictureOf(slug);
  const { data, info } = await sharp(mask).toColourspace("b-w").raw().toBuffer({ resolveWithObject: true });
  expect([info.width, info.height]).toEqual([OWN.width, OWN.height]);
  expect(PLACES.map(([x, y]) => data[Math.floor(y * info.height) * info.width + Math.floor(x * info.width)])).toEqual([255, 0, 255, 0, 0]);
  expect(complaints).toEqual([]);
  await context.close();
});

test("the editor fits, is accessible and has targets of 44 pixels", EVERY_LOOK, async ({}, { project }) => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  for (const [name, data] of [
    ["crop", { operation: "image-crop", width: 320, height: 240 }],
    ["resize", { operation: "image-resize", width: 420 }],
    ["text", { operation: "image-text", text: "Lighthouse at dawn", size: 0.1 }],
    ["compose", { operation: "image-composite", width: 160, position: "bottom-right", margin: 20 }],
  ] as const) {
    const { page, context, complaints } = await open(withOverlay(graphOf(data)));
    await page.locator(".touch-box").waitFor();
    await page.screenshot({ path: join(SCREENSHOTS, `touch-${name}-${project.name}.png`), animations: "disabled" });
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
    for (const target of await page.locator(".touch-handle").all())
      expect(await target.boundingBox()).toMatchObject({ width: 44, height: 44 });
    expect(complaints).toEqual([]);
    await context.close();
  }
});
