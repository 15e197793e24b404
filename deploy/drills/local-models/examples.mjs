import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../support/platform.mjs";
import { DETAILED, movingAt, PAGE, THINGS } from "./pictures.mjs";

/**
 * `npm run drill -- local-models --examples`: creates the examples in the console, a small file or text for each local and sandbox model.
 */

const FOLDER = join(ROOT, "gateway", "console", "src", "features", "models", "examples");
const WIDTH = 480;
const WEBP_QUALITY = 72;
const SCALE = 4;
const MAX_TEXT = 300;
const CLIP_SECONDS = 6;

const SENTENCE = "Good morning. This voice runs on your own machine, and needs no key.";
const SCENE = "A paper boat on a quiet lake at dusk";

/**
 * @typedef {object} Tools
 * @property {(model: string, inputs: object) => Promise<any>} once runs a model and returns the response body
 * @property {(png: Buffer) => Promise<string>} upload @property {(svg: Buffer) => Promise<Buffer>} png
 * @property {(url: string) => Promise<Buffer>} fetched @property {any} sharp
 * @property {() => string} ffmpeg @property {(line: string) => void} say
 */

/** @param {Tools} tools */
export const makeExamples = async ({ once, upload, png, fetched, sharp, ffmpeg, say }) => {
  const files = join(FOLDER, "files");
  const work = mkdtempSync(join(tmpdir(), "examples-"));
  rmSync(files, { recursive: true, force: true });
  mkdirSync(files, { recursive: true });
  /** @type {Record<string, { asked: string, file?: string, text?: string }>} */
  const results = {};

  /** @param {string} model @param {string} prompt @param {any} picture a picture of sharp */
  const keepPicture = async (model, prompt, picture) => {
    const file = `${model}.webp`;
    await picture.resize({ width: WIDTH, withoutEnlargement: true }).webp({ quality: WEBP_QUALITY }).toFile(join(files, file));
    results[model] = { asked: prompt, file };
  };
  /** @param {string} model @param {string} prompt @param {string} url @param {string} ending @param {string[]} as ffmpeg's output options */
  const keepFilm = async (model, prompt, url, ending, as) => {
    const [input, file] = [join(work, "input"), `${model}.${ending}`];
    writeFileSync(input, await fetched(url));
    const args = ["-loglevel", "error", "-y", "-i", input, "-t", String(CLIP_SECONDS), "-map_metadata", "-1", ...as, join(files, file)];
    const { status, stderr } = spawnSync(ffmpeg(), args);
    if (status !== 0) throw new Error(`${model}: ${String(stderr)}`);
    results[model] = { asked: prompt, file };
  };
  const keepSound = (/** @type {string} */ model, /** @type {string} */ prompt, /** @type {string} */ url) =>
    keepFilm(model, prompt, url, "mp3", ["-ac", "1", "-b:a", "48k"]);
  const keepVideo = (/** @type {string} */ model, /** @type {string} */ prompt, /** @type {string} */ url) =>
    keepFilm(model, prompt, url, "mp4", [
      ...["-an", "-vf", `scale=${WIDTH}:-2`, "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "30", "-movflags", "+faststart"],
    ]);
  const keepText = (/** @type {string} */ model, /** @type {string} */ prompt, /** @type {string} */ text) => {
    results[model] = { asked: prompt, text: text.trim().slice(0, MAX_TEXT) };
  };

  for (const model of ["sandbox-image", "sandbox-image-fast"]) {
    const { result } = await once(model, { prompt: SCENE });
    await keepPicture(model, SCENE, sharp(await fetched(result.images[0].url)));
  }
  for (const model of ["sandbox-video", "sandbox-video-pro"])
    await keepVideo(model, SCENE, (await once(model, { prompt: SCENE, seconds: 2 })).result.videos[0].url);
  for (const model of ["sandbox-music", "sandbox-speech"])
    await keepSound(model, SCENE, (await once(model, { prompt: SCENE })).result.audios[0].url);
  keepText("sandbox-chat", SCENE, (await once("sandbox-chat", { prompt: SCENE })).result.text);

  const { audios } = (await once("local-speech", { prompt: SENTENCE })).result;
  await keepSound("local-speech", SENTENCE, audios[0].url);
  keepText("local-transcribe", "What local-speech said", (await once("local-transcribe", { audio: audios[0].url })).result.text);
  const sea = "Write two sentences about the sea.";
  keepText("local-chat", sea, (await once("local-chat", { prompt: sea, maxTokens: 80 })).result.text);
  const summer = { prompt: "a happy summer day", seconds: CLIP_SECONDS };
  await keepSound("local-music", summer.prompt, (await once("local-music", summer)).result.audios[0].url);
  keepText("local-ocr", "A page of four lines", (await once("local-ocr", { image: await upload(await png(PAGE)) })).result.text);

  const mug = THINGS.find(({ name }) => name === "mug");
  if (!mug) throw new Error("there is no mug among the things");
  const cut = await once("local-cutout", { image: await upload(await png(mug.picture)) });
  await keepPicture("local-cutout", "A picture of a mug", sharp(await fetched(cut.result.images[0].url)));

  const [width, height] = [512 / SCALE, 384 / SCALE];
  const small = await sharp(await png(DETAILED))
    .resize(width, height, { kernel: "cubic" })
    .png()
    .toBuffer();
  const large = await fetched((await once("local-upscale", { image: await upload(small) })).result.images[0].url);
  // The left half is the input, the right half the output.
  const leftHalf = await sharp(small)
    .resize(512, 384, { kernel: "nearest" })
    .extract({ left: 0, top: 0, width: 256, height: 384 })
    .png()
    .toBuffer();
  const halves = await sharp(large)
    .removeAlpha()
    .composite([{ input: leftHalf, left: 0, top: 0 }])
    .png()
    .toBuffer();
  await keepPicture("local-upscale", "Left: what it was given", sharp(halves));

  const [image, endImage] = [await upload(await png(movingAt(0))), await upload(await png(movingAt(1)))];
  await keepVideo(
    "local-tween",
    "Its first and its last picture",
    (await once("local-tween", { image, endImage, seconds: 2 })).result.videos[0].url,
  );

  rmSync(work, { recursive: true, force: true });
  const sorted = Object.fromEntries(Object.entries(results).sort(([one], [other]) => (one < other ? -1 : 1)));
  const { format, resolveConfig } = await import("prettier");
  const path = join(FOLDER, "made.ts");
  const source = `/** Written by npm run drill -- local-models --examples. */\nexport const MADE = ${JSON.stringify(sorted)};\n`;
  writeFileSync(path, await format(source, { ...(await resolveConfig(path)), filepath: path }));
  const bytes = Object.values(results).reduce(
    (sum, { file }) => sum + (file === undefined ? 0 : readFileSync(join(files, file)).length),
    0,
  );
  say(`${Object.keys(results).length} examples, ${Math.round(bytes / 1_000)} kB of files`);
};
