import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type Page } from "@playwright/test";
import sharp from "sharp";
import { accessibilityProblems, canvasStands } from "../../../test-support/browser";
import type { Account } from "../../../test-support/client";
import { pictureAt, samplesOf, tone, withFfmpeg } from "../../../test-support/clips";
import { fetchFfmpeg, FETCH_MS } from "../../../test-support/ffmpeg";
import { similarity } from "../../../test-support/similarity";
import { edge, middleOf, NODE, nodeAt, nodes, saved } from "./support/canvas";
import { handOf } from "./support/hand";
import { EVERY_LOOK } from "./support/looks";
import { setStage } from "./support/stage";

/** `npm run drill console`: videos and sounds trimmed and captioned on a timeline. */
const stage = setStage();
const SCREENSHOTS = join(__dirname, "..", "..", "..", ".nodeloom", "screenshots");
const FPS = 25;
const FRAME = 1 / FPS;
const SECONDS = 4;
const SIZE = { width: 640, height: 360 };
const LEAST_LEVEL = 20;

/** A video whose brightness says which frame it is. */
const countingVideo = (): Buffer =>
  withFfmpeg(
    [
      ...["-f", "lavfi", "-i", `nullsrc=s=${SIZE.width}x${SIZE.height}:r=${FPS}:d=${SECONDS},geq=lum='${LEAST_LEVEL}+2*N':cb=128:cr=128`],
      ...["-f", "lavfi", "-i", `sine=frequency=440:duration=${SECONDS}:sample_rate=48000`],
      ...["-c:v", "libx264", "-preset", "ultrafast", "-crf", "10", "-pix_fmt", "yuv420p", "-g", "50", "-c:a", "aac"],
    ],
    "out.mp4",
  );

/** Number of a frame from its brightness on a screen. */
const frameOf = (level: number): number => ((level * 219) / 255 + 16 - LEAST_LEVEL) / 2;

let account: Account;
const files: Record<"video" | "audio", string> = { video: "", audio: "" };
let videoBytes: Buffer;
test.beforeAll(async () => {
  test.setTimeout(FETCH_MS);
  await fetchFfmpeg();
  account = await stage.http.account({ tier: "enterprise" });
  videoBytes = countingVideo();
  files.video = await upload(videoBytes, "video/mp4");
  files.audio = await upload(tone(440, SECONDS), "audio/wav");
});

const upload = async (bytes: Buffer, type: string): Promise<string> => {
  const uploadReply = await fetch(`${stage.platform.baseUrl}/api/media`, {
    method: "POST",
    headers: { "x-api-key": account.key!, "content-type": type },
    body: new Uint8Array(bytes),
  });
  return ((await uploadReply.json()) as { id: string }).id;
};

/** A file, one operation on it, and the result. */
const graphOf = (data: { operation: string }) => {
  const family = data.operation.startsWith("audio") ? "audio" : "video";
  return {
    nodes: [
      nodeAt("clip", "media-upload", { x: 0, y: 0 }, { mediaId: files[family] }),
      nodeAt("edit", "media", { x: 400, y: 0 }, data),
      nodeAt("end", "response-output", { x: 800, y: 0 }),
    ],
    edges: [edge("clip.media", `edit.${family}`), edge(`edit.${family}`, "end.file")],
  };
};

const open = async (data: { operation: string } & Record<string, unknown>) => {
  const { body, text } = await stage.http.call("POST", "/api/workflows", { key: account.key!, body: { name: "Clip", ...graphOf(data) } });
  if (body.slug === undefined) throw new Error(text);
  const slug = String(body.slug);
  const visitor = await stage.signedIn(account);
  await visitor.page.goto(`/workflows/${slug}`);
  await nodes(visitor.page, 3);
  await canvasStands(visitor.page);
  await visitor.page.locator(`${NODE}[data-id="edit"]`).click({ position: { x: 60, y: 20 } });
  await visitor.page.keyboard.press("t");
  await visitor.page.getByRole("slider", { name: "Playhead" }).waitFor();
  return { ...visitor, slug, hand: handOf(visitor.page) };
};

const dataOf = async (slug: string): Promise<Record<string, unknown>> => {
  const { body } = await stage.http.call("GET", `/api/workflows/${slug}`, { key: account.key! });
  return (body.nodes as { id: string; data: Record<string, unknown> }[]).find(({ id }) => id === "edit")!.data;
};

/** The file that a run of the workflow makes. */
const resultOf = async (slug: string): Promise<Buffer> => {
  const { status, text } = await stage.http.call("POST", `/api/workflows/${slug}/run`, { key: account.key!, body: { inputs: {} } });
  if (status !== 200) throw new Error(text);
  const [, url = ""] = /"url":"([^"]+)"/.exec(text) ?? [];
  return Buffer.from(await (await fetch(url.replaceAll("\\u0026", "&"))).arrayBuffer());
};

const slider = (page: Page, name: string) => page.getByRole("slider", { name, exact: true });
const field = (page: Page, name: string) => page.getByRole("dialog").getByRole("textbox", { name, exact: true });
const valueOf = async (page: Page, name: string): Promise<number> => Number(await slider(page, name).getAttribute("aria-valuenow"));
const button = (page: Page, name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true });

/** Screen pixels per second of the timeline. */
const pixelsPerSecond = async (page: Page): Promise<number> => (await page.locator("[data-track]").boundingBox())!.width / SECONDS;

/** Level in the middle of the shown frame, after a seek has ended. */
const shownLevel = async (page: Page): Promise<number> => {
  const video = "document.querySelector('dialog video')";
  await expect.poll(() => page.evaluate(`!${video}.seeking && ${video}.readyState >= 2`)).toBe(true);
  return Number(
    await page.evaluate(`(() => {
      const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
      const context = canvas.getContext("2d");
      context.drawImage(document.querySelector("dialog video"), 0, 0, 1, 1);
      return context.getImageData(0, 0, 1, 1).data[0];
    })()`),
  );
};

/** Grey levels of frames, by one of their lines of pixels. */
const levelsOf = (video: Buffer, filter: string): Buffer =>
  withFfmpeg(["-i", "in", "-map", "0:v:0", "-vf", `${filter},format=gray`, "-f", "rawvideo"], "out", { in: video });
const framesIn = (video: Buffer): number => levelsOf(video, "scale=1:1").length;

const save = async (page: Page): Promise<void> => {
  await button(page, "Save").click();
  await saved(page);
};

test("a video is trimmed with the mouse and by keyboard, saved as one step, and runs to that length and first frame", async () => {
  const { page, slug, hand, complaints, context } = await open({ operation: "video-trim" });
  await expect(page.getByTestId("clip-range")).toHaveText("0.00 s to 4.00 s: 4.00 s");
  const second = await pixelsPerSecond(page);
  const start = await middleOf(page, ".clip-grip-start");
  await hand.drag(start, { x: start.x + 1.2 * second, y: start.y });
  const end = await middleOf(page, ".clip-grip-end");
  await hand.drag(end, { x: end.x - 1 * second, y: end.y });
  expect(Math.abs((await valueOf(page, "Start")) - 1.2)).toBeLessThan(0.02);
  expect(Math.abs((await valueOf(page, "End")) - 3)).toBeLessThan(0.02);
  // The form agrees with the timeline, in both directions.
  await expect(field(page, "Start (seconds)")).toHaveValue(String(await valueOf(page, "Start")));
  await field(page, "Start (seconds)").fill("1.2");
  await expect(slider(page, "Start")).toHaveAttribute("aria-valuenow", "1.2");
  await field(page, "End (seconds)").fill("3");
  // The keyboard moves by a tenth of a second, or by a whole one.
  await slider(page, "Start").focus();
  await hand.press("ArrowRight", "Shift+ArrowLeft", "ArrowRight", "ArrowRight");
  await expect(field(page, "Start (seconds)")).toHaveValue("0.5");
  const previewFrame = frameOf(await shownLevel(page));
  await slider(page, "End").focus();
  await hand.press("ArrowLeft");
  await expect(field(page, "End (seconds)")).toHaveValue("2.9");
  // The last frame that is kept is shown.
  expect(Math.abs(frameOf(await shownLevel(page)) - 2.9 * FPS)).toBeLessThanOrEqual(1.5);
  // Escape during a drag takes back only that drag.
  const edgeAt = await middleOf(page, ".clip-grip-end");
  await page.mouse.move(edgeAt.x, edgeAt.y);
  await page.mouse.down();
  await page.mouse.move(edgeAt.x - second, edgeAt.y);
  await expect(field(page, "End (seconds)")).not.toHaveValue("2.9");
  await hand.press("Escape");
  await page.mouse.up();
  await expect(field(page, "End (seconds)")).toHaveValue("2.9");
  await slider(page, "End").focus();
  await hand.press("Enter");
  await saved(page);
  expect(await dataOf(slug)).toEqual({ operation: "video-trim", start: 0.5, end: 2.9 });
  const result = await resultOf(slug);
  expect(Math.abs(framesIn(result) - 2.4 * FPS)).toBeLessThanOrEqual(1);
  const { channels } = await sharp(pictureAt(result, 0)).stats();
  const first = frameOf(channels[0]!.mean);
  expect(
    { preview: Math.abs(previewFrame - 0.5 * FPS) <= 1, first: Math.abs(first - previewFrame) <= 1 },
    JSON.stringify({ previewFrame, first }),
  ).toEqual({
    preview: true,
    first: true,
  });
  // All of it is one step of undo.
  await hand.press("Control+z");
  await saved(page);
  await expect.poll(() => dataOf(slug)).toEqual({ operation: "video-trim" });
  expect(complaints).toEqual([]);
  await context.close();
});

test("playback loops inside the selection, with the frames of the file on the timeline", async () => {
  const { page, hand, context } = await open({ operation: "video-trim", start: 1, seconds: 0.6 });
  await expect.poll(async () => Number(await page.getByTestId("clip-frames").getAttribute("data-drawn"))).toBeGreaterThanOrEqual(4);
  await page.evaluate(`(() => {
    const video = document.querySelector("dialog video");
    globalThis.playedTimes = [];
    const note = () => { globalThis.playedTimes.push(video.currentTime); requestAnimationFrame(note); };
    note();
  })()`);
  await slider(page, "Start").focus();
  await hand.press("Space");
  const turns = "globalThis.playedTimes.filter((time, at, all) => time < (all[at - 1] ?? 0) - 0.2).length";
  await expect.poll(() => page.evaluate(turns), { timeout: 30_000 }).toBeGreaterThanOrEqual(2);
  await button(page, "Pause").click();
  const times = (await page.evaluate("globalThis.playedTimes")) as number[];
  expect([Math.min(...times) >= 1 - FRAME, Math.max(...times) <= 1.6 + 4 * FRAME]).toEqual([true, true]);
  // A trim by length stays one.
  await slider(page, "End").focus();
  await hand.press("ArrowRight");
  await expect(field(page, "Length (seconds)")).toHaveValue("0.7");
  await context.close();
});

test("a sound is trimmed on its waveform, to that length", async () => {
  const { page, slug, hand, complaints, context } = await open({ operation: "audio-trim", format: "wav", end: 3 });
  await page.locator("[data-testid=clip-wave] path").waitFor();
  await slider(page, "Start").focus();
  await hand.press("Shift+ArrowRight", "ArrowRight", "ArrowRight");
  await save(page);
  expect(await dataOf(slug)).toEqual({ operation: "audio-trim", format: "wav", start: 1.2, end: 3 });
  expect(Math.abs(samplesOf(await resultOf(slug)).length / 48_000 - 1.8)).toBeLessThan(FRAME);
  expect(complaints).toEqual([]);
  await context.close();
});

/** Times at which white letters appear in a video and disappear. @param part of the height, such as `0.75` to `1` */
const lettersIn = (video: Buffer): { start: number; end: number }[] => {
  const height = SIZE.height / 4;
  const levels = levelsOf(video, `crop=${SIZE.width}:${height}:0:${SIZE.height - height}`);
  const bytes = SIZE.width * height;
  const isLettered = Array.from({ length: levels.length / bytes }, (_, at) => levels.subarray(at * bytes, (at + 1) * bytes).includes(255));
  const starts = isLettered.flatMap((is, at) => (is && !isLettered[at - 1] ? [at] : []));
  return starts.map((at) => {
    const after = isLettered.findIndex((is, later) => later > at && !is);
    return { start: at * FRAME, end: (after < 0 ? isLettered.length : after) * FRAME };
  });
};

test("captions are added at the playhead, dragged, typed, deleted, and appear in the result within a frame of their times", async () => {
  const { page, slug, hand, complaints, context } = await open({ operation: "video-captions", text: "" });
  await slider(page, "Playhead").focus();
  await hand.press("ArrowRight", "ArrowRight", "ArrowRight");
  await button(page, "Add caption at 0.30 s").click();
  await field(page, "Caption").fill("The keeper walks down");
  await slider(page, "End of the caption").focus();
  await hand.press("Shift+ArrowLeft", "ArrowLeft");
  await expect(field(page, "End (seconds)")).toHaveValue("1.2");
  await slider(page, "Playhead").focus();
  await hand.press("Home", "Shift+ArrowRight", "Shift+ArrowRight");
  await button(page, "Add caption at 2.00 s").click();
  await field(page, "Caption").fill("to the sea\nas he does every morning");
  // The edge is dragged; the other caption is its limit.
  const second = await pixelsPerSecond(page);
  const grip = await middleOf(page, ".clip-lane .clip-grip-start");
  await hand.drag(grip, { x: grip.x - 0.5 * second, y: grip.y });
  expect(Math.abs((await valueOf(page, "Start of the caption")) - 1.5)).toBeLessThan(0.02);
  await hand.drag(await middleOf(page, ".clip-lane .clip-grip-start"), { x: 0, y: grip.y });
  await expect(field(page, "Start (seconds)")).toHaveValue("1.2");
  await field(page, "Start (seconds)").fill("1.5");
  await field(page, "End (seconds)").fill("3.1");
  // A third one is added and deleted.
  await slider(page, "Playhead").focus();
  await hand.press("End", "ArrowLeft", "ArrowLeft");
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /^Add caption/ })
    .click();
  await button(page, "Delete caption").click();
  const cues = [
    { text: "The keeper walks down", start: 0.3, end: 1.2 },
    { text: "to the sea\nas he does every morning", start: 1.5, end: 3.1 },
  ];
  await save(page);
  expect(await dataOf(slug)).toEqual({ operation: "video-captions", words: cues, grouping: "none" });
  const found = lettersIn(await resultOf(slug));
  const off = found.flatMap(({ start, end }, at) => [start - cues[at]!.start, end - cues[at]!.end]);
  expect({ count: found.length, isNear: off.every((one) => Math.abs(one) <= FRAME + 0.001) }, JSON.stringify(off)).toEqual({
    count: 2,
    isNear: true,
  });
  await hand.press("Control+z");
  await saved(page);
  await expect.poll(() => dataOf(slug)).toEqual({ operation: "video-captions", text: "" });
  expect(complaints).toEqual([]);
  await context.close();
});

/** Box of the pixels that differ, and the two pictures in it. */
const changedBox = async (picture: Buffer, before: number): Promise<{ left: number; top: number; width: number; height: number }> => {
  const { data, info } = await sharp(picture).toColourspace("b-w").raw().toBuffer({ resolveWithObject: true });
  const changed = Array.from(data.keys()).filter((at) => Math.abs(data[at]! - before) > 24);
  const columns = changed.map((at) => at % info.width);
  const rows = changed.map((at) => Math.floor(at / info.width));
  const least = (all: readonly number[]): number => all.reduce((one, other) => Math.min(one, other), Infinity);
  const most = (all: readonly number[]): number => all.reduce((one, other) => Math.max(one, other), -Infinity);
  return { left: least(columns), top: least(rows), width: most(columns) - least(columns), height: most(rows) - least(rows) };
};

for (const [name, style] of [
  ["one line at the bottom", {}],
  [
    "several lines at the top",
    { text: "The keeper walks down to the sea, as he does every morning of his life", position: "top", size: 0.09 },
  ],
  ["in the middle, in a color", { text: "Où est le phare?", position: "centre", size: 0.12, colour: "#ffee00" }],
] as const)
  test(`a caption is drawn where and how the run draws it: ${name}`, async () => {
    const text = "text" in style ? style.text : "Lighthouse at dawn";
    const words = [{ text, start: 0, end: SECONDS }];
    const { page, slug, context } = await open({ operation: "video-captions", grouping: "none", ...style, text: "", words });
    await expect(page.getByTestId("touch-captions")).toHaveAttribute("data-shown", text);
    const canvas = "document.querySelector('[data-testid=touch-captions]')";
    const isDrawn = `${canvas}.getContext("2d").getImageData(0, 0, ${SIZE.width}, ${SIZE.height}).data.some((level) => level > 0)`;
    await expect.poll(() => page.evaluate(isDrawn)).toBe(true);
    const letters = Buffer.from(String(await page.evaluate(`${canvas}.toDataURL()`)).split(",")[1]!, "base64");
    const result = pictureAt(await resultOf(slug), 0);
    const level = Math.round(((LEAST_LEVEL - 16) * 255) / 219);
    const preview = await sharp({ create: { ...SIZE, channels: 3, background: { r: level, g: level, b: level } } })
      .composite([{ input: letters }])
      .png()
      .toBuffer();
    const [drawn, expected] = await Promise.all([preview, result].map((picture) => changedBox(picture, level)));
    const off = [
      drawn!.left - expected!.left,
      drawn!.top - expected!.top,
      drawn!.left + drawn!.width - expected!.left - expected!.width,
      drawn!.top + drawn!.height - expected!.top - expected!.height,
    ];
    const cut = (picture: Buffer): Promise<Buffer> => sharp(picture).extract(expected!).png().toBuffer();
    const alike = await similarity(await cut(preview), await cut(result));
    expect({ isNear: off.every((one) => Math.abs(one) <= 2), isAlike: alike >= 0.9 }, JSON.stringify({ off, alike })).toEqual({
      isNear: true,
      isAlike: true,
    });
    await context.close();
  });

test("the timeline fits, is accessible and has targets of 44 pixels", EVERY_LOOK, async ({}, { project }) => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const words = [
    { text: "The keeper walks down", start: 0.3, end: 1.2 },
    { text: "to the sea", start: 1.5, end: 3.1 },
  ];
  for (const [name, data] of [
    ["video", { operation: "video-trim", start: 1, end: 3 }],
    ["sound", { operation: "audio-trim", start: 1, end: 3 }],
    ["captions", { operation: "video-captions", grouping: "none", words }],
  ] as const) {
    const { page, context, complaints } = await open(data);
    if (name === "captions") await page.getByRole("button", { name: /^Edit the caption at 0.30 s/ }).click();
    if (name === "sound") await page.locator("[data-testid=clip-wave] path").waitFor();
    else await expect.poll(async () => Number(await page.getByTestId("clip-frames").getAttribute("data-drawn"))).toBeGreaterThanOrEqual(4);
    await page.screenshot({ path: join(SCREENSHOTS, `clip-${name}-${project.name}.png`), animations: "disabled" });
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
    for (const target of await page.locator(".clip-grip, .clip-playhead-grip").all())
      expect(await target.boundingBox()).toMatchObject({ width: 44, height: 44 });
    const { height } = (await button(page, "Play").boundingBox())!;
    expect(height).toBeGreaterThanOrEqual(44);
    expect(complaints).toEqual([]);
    await context.close();
  }
});
