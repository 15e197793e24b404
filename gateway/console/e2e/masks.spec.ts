import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import sharp from "sharp";
import { accessibilityProblems, canvasStands } from "../../../test-support/browser";
import type { Account } from "../../../test-support/client";
import { edge, NODE, nodeAt, nodes } from "./support/canvas";
import { EVERY_LOOK } from "./support/looks";
import { setStage } from "./support/stage";

/** `npm run drill console`: masks are shown over their pictures. */
const stage = setStage();
const SCREENSHOTS = join(__dirname, "..", "..", "..", ".nodeloom", "screenshots");
const GREEN = { r: 20, g: 160, b: 60 };

let account: Account;
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "enterprise" });
});

/** A green photo, its left half as a mask, that mask inverted, and the result. */
const graphWith = (mediaId: string) => ({
  nodes: [
    nodeAt("photo", "media-upload", { x: 0, y: 0 }, { mediaId }),
    nodeAt(
      "draw",
      "media",
      { x: 400, y: 0 },
      { operation: "mask-draw", shapes: [{ tool: "rectangle", x: 0, y: 0, width: 0.5, height: 1 }] },
    ),
    nodeAt("invert", "media", { x: 800, y: 0 }, { operation: "mask-invert" }),
    nodeAt("end", "response-output", { x: 1_200, y: 0 }),
  ],
  edges: [edge("photo.media", "draw.image"), edge("draw.mask", "invert.mask"), edge("invert.mask", "end.mask")],
});

const open = async () => {
  const photo = await sharp({ create: { width: 400, height: 400, channels: 3, background: GREEN } })
    .png()
    .toBuffer();
  const uploadReply = await fetch(`${stage.platform.baseUrl}/api/media`, {
    method: "POST",
    headers: { "x-api-key": account.key!, "content-type": "image/png" },
    body: new Uint8Array(photo),
  });
  const { id } = (await uploadReply.json()) as { id: string };
  const saved = await stage.http.call("POST", "/api/workflows", { key: account.key!, body: { name: "Masks", ...graphWith(id) } });
  const slug = String(saved.body.slug);
  const { body, headers, text } = await stage.http.call("POST", `/api/workflows/${slug}/run`, { key: account.key!, body: { inputs: {} } });
  const executionId = String(body.executionId ?? headers.get("x-execution-id"));
  if (executionId === "null") throw new Error(text);
  const visitor = await stage.signedIn(account);
  await visitor.page.goto(`/workflows/${slug}`);
  await nodes(visitor.page, 4);
  await canvasStands(visitor.page);
  return { ...visitor, executionId };
};

/** Colors in the middle of the left and the right half of a mask, as the page shows it. */
const halvesOf = async (page: Page, selector: string): Promise<{ left: number[]; right: number[] }> => {
  const view = page.locator(selector).first();
  const { width, height } = (await view.boundingBox())!;
  const { data, info } = await sharp(await view.screenshot({ animations: "disabled" }))
    .resize(Math.round(width), Math.round(height), { fit: "fill" })
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const side = Math.min(info.width, info.height);
  const at = (x: number): number[] => {
    const start = (Math.floor(info.height / 2) * info.width + Math.round(x)) * 3;
    return [...data.subarray(start, start + 3)];
  };
  return { left: at(info.width / 2 - side / 4), right: at(info.width / 2 + side / 4) };
};

const isGreen = ([red = 0, green = 0, blue = 0]: number[]): boolean =>
  Math.abs(red - GREEN.r) + Math.abs(green - GREEN.g) + Math.abs(blue - GREEN.b) < 30;
const isTinted = ([red = 0, green = 0]: number[]): boolean => red > 120 && red > green;

test(
  "a mask is tinted over its picture on the canvas and in the viewer, also after further operations",
  EVERY_LOOK,
  async ({}, { project }) => {
    mkdirSync(SCREENSHOTS, { recursive: true });
    const { page, complaints, context, executionId } = await open();
    if (project.name.endsWith("1440")) {
      for (const [id, tinted, plain] of [
        ["draw", "left", "right"],
        ["invert", "right", "left"],
      ] as const) {
        const selector = `${NODE}[data-id="${id}"] .node-stage .mask-view[data-over="true"]`;
        await page.locator(`${selector} img:not([hidden])`).waitFor({ timeout: 20_000 });
        await expect
          .poll(async () => {
            const halves = await halvesOf(page, selector);
            return [isTinted(halves[tinted]), isGreen(halves[plain])];
          })
          .toEqual([true, true]);
      }
      await page.screenshot({ path: join(SCREENSHOTS, `masks-canvas-${project.name}.png`), animations: "disabled" });
      await page.locator(`${NODE}[data-id="draw"]`).click({ position: { x: 60, y: 20 } });
      await page.keyboard.press("v");
      await page.locator('.viewer-surface .mask-view[data-over="true"] img:not([hidden])').waitFor({ timeout: 20_000 });
      await expect.poll(async () => isTinted((await halvesOf(page, ".viewer-surface .mask-view")).left)).toBe(true);
      await page.keyboard.press("Escape");
    }
    // A result doesn't say which picture its mask belongs to: the selected part is a checkered silhouette.
    await page.goto(`/executions/${executionId}`);
    await page.locator('.mask-view[data-over="false"]').first().waitFor();
    await page.waitForLoadState("networkidle");
    await page.screenshot({ path: join(SCREENSHOTS, `masks-result-${project.name}.png`), animations: "disabled", fullPage: true });
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
    expect(complaints).toEqual([]);
    await context.close();
  },
);
