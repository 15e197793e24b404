import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { createApi } from "../support/api.mjs";
import { pause, readLocal, startPlatform } from "../support/platform.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { diffusion, serveTinyModel } from "./diffusion.mjs";
import { embeddings } from "./embeddings.mjs";
import { upscale } from "./enlarging.mjs";
import { makeExamples } from "./examples.mjs";
import { kills } from "./kills.mjs";
import { languages } from "./languages.mjs";
import { movingAt, overlap, PAGE, PAGE_LINES, psnr, THINGS, wordErrors } from "./pictures.mjs";
import { bytesFor, chatWeights, engineLibrary, ffmpeg, peakOf, untilFetched } from "./service.mjs";
import { writeTable } from "./table.mjs";

export const DRILL = {
  sentence: "downloads the machine's own models, measures their results, and kills them under fifty runs",
  minutes: 10,
};

/**
 * Starts the platform with an empty cache and measures the time until the first spoken sentence. Then it fetches the local models, compares
 * each model's output with known results, and kills their processes during fifty runs. Writes time and memory of each model to
 * docs/guide/local-models.md. Names of parts as arguments (`languages`) run only these parts, with the existing cache.
 */

const FETCH_MS = 15 * 60_000;
const SENTENCES = [
  "Hello! This voice runs entirely on your own machine.",
  "Build a pipeline, press run, and listen to the result.",
  "The city council approved a new network of bicycle lanes on Tuesday.",
  "She bought twelve oranges and three lemons at the market.",
  "Please write down the words of this sentence without any mistake.",
];
const MOST_WORD_ERRORS = 0.1;
const LEAST_OVERLAP = 0.9;
const LEAST_PAGE = 0.95;
const SECONDS = 1;
const FRAMES = 12;

/** Typical connection in bits per second. */
const NETWORK = 50_000_000;
const OWN_WEIGHTS = "Own-Weights.Q4_1.gguf";
const OWN_MODEL = "local-own-weights-q4-1";
const VOICES = ["af_heart", "bm_george"];

await runDrill("local-models", async (drill) => {
  const cache = mkdtempSync(join(tmpdir(), "local-models-"));
  drill.atEnd(() => rmSync(cache, { recursive: true, force: true }));
  const chosenNames = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
  const existing = process.env.NODELOOM_CACHE_DIR || join(homedir(), ".cache", "nodeloom");
  // Cache of the platform and of the drill's own reads. A model of images that is there isn't touched.
  process.env.NODELOOM_CACHE_DIR = join(cache, "cache");
  mkdirSync(process.env.NODELOOM_CACHE_DIR);
  const shared = chosenNames.length === 0 ? [] : readdirSync(existing).filter((name) => name !== "pictures");
  for (const name of shared) symlinkSync(join(existing, name), join(process.env.NODELOOM_CACHE_DIR, name));
  const own = join(cache, "own");
  mkdirSync(join(own, "chat"), { recursive: true });
  const options = { LOCAL_VOICES: "on", LOCAL_LANGUAGES: "on", LOCAL_RESTORE: "on", LOCAL_EMBEDDINGS: "on" };
  const tiny = await serveTinyModel(cache);
  drill.atEnd(tiny.close);
  const pictures = { LOCAL_PICTURES: "on", LOCAL_PICTURES_FILES: tiny.list };
  const platform = await startPlatform({ LOCAL_MODELS: "on", ...options, ...pictures, LOCAL_MODELS_DIR: own, CI: "" });
  drill.atEnd(platform.stop);
  const api = createApi(() => readLocal().baseUrl);
  const { apiKey: key } = readLocal().accounts.business;

  /** @param {string} model */
  const untilReady = async (model) => {
    const end = Date.now() + FETCH_MS;
    for (;;) {
      const { status, statusReason } = (await api.call("GET", `/api/models/${model}`, { key })).body;
      if (status === "ready") return;
      if (Date.now() > end) throw new Error(`${model} is ${status}: ${statusReason}`);
      await pause(500);
    }
  };
  /** Time from the start of the built platform to the first sentence. */
  const firstSentence = async () => {
    await untilReady("local-speech");
    const answer = await api.call("POST", "/api/models/local-speech/run", { key, body: { inputs: { prompt: SENTENCES[0] } } });
    if (answer.status !== 200) throw new Error(`local-speech: ${JSON.stringify(answer.body)}`);
    const took = (Date.now() - drill.startedAt) / 1_000;
    const bytes = bytesFor("local-speech");
    drill.say(
      `the first sentence: ${took.toFixed(0)} s from the start with an empty cache; for it ${Math.round(bytes / 1e6)} MB of engines and ` +
        `voice were fetched, which take ${Math.round((bytes * 8) / NETWORK)} s at 50 Mbit/s`,
    );
  };
  if (chosenNames.length === 0) await firstSentence();
  await untilFetched(async () => (await api.call("GET", "/api/local-models", { key })).body, drill.say, FETCH_MS);
  const sharp = engineLibrary("sharp");

  /** @type {import("./table.mjs").Row[]} */
  const rows = [];
  /** @param {string} model @param {object} inputs */
  const once = async (model, inputs) => {
    const { status, body } = await api.call("POST", `/api/models/${model}/run`, { key, body: { inputs } });
    if (status !== 200) throw new Error(`${model}: ${JSON.stringify(body)}`);
    return body;
  };
  /**
   * Runs a model twice and measures the second run, when the model is loaded.
   * @param {string} model @param {string} what @param {object} inputs
   */
  const run = async (model, what, inputs) => {
    await once(model, inputs);
    const { result, ms } = await once(model, inputs);
    const row = { model, what, seconds: ms / 1_000, megabytes: await peakOf(model) };
    rows.push(row);
    drill.say(`${model}: ${row.seconds.toFixed(1)} s, ${row.megabytes ?? "–"} MB`);
    return result;
  };
  /** @param {Buffer} bytes @param {string} [contentType] */
  const upload = async (bytes, contentType = "image/png") => {
    const headers = { "x-api-key": key, "content-type": contentType };
    const response = await fetch(`${readLocal().baseUrl}/api/media`, { method: "POST", headers, body: bytes });
    return /** @type {{ id: string }} */ (await response.json()).id;
  };
  const fetched = async (/** @type {string} */ url) => Buffer.from(await (await fetch(url)).arrayBuffer());
  const png = (/** @type {Buffer} */ svg) => sharp(svg).png().toBuffer();
  const pixels = (/** @type {any} */ picture) => picture.removeAlpha().raw().toBuffer();

  /**
   * Runs a workflow with one text model node.
   * @param {object} data @param {Record<string, unknown>} inputs @returns {Promise<any>} output of its port json
   */
  const jsonOf = async (data, inputs = {}) => {
    const names = Object.keys(inputs);
    const fields = names.map((name) => ({ name, type: `${name}_upload`, label: name }));
    const place = { position: { x: 0, y: 0 } };
    const nodes = [
      ...(names.length > 0 ? [{ ...place, id: "in", type: "request-input", data: { fields } }] : []),
      { ...place, id: "ask", type: "llm-assistant", data },
      { ...place, id: "out", type: "response-output", data: {} },
    ];
    const edges = [
      ...names.map((name) => ({ id: name, source: "in", target: "ask", sourceHandle: name, targetHandle: name })),
      { id: "made", source: "ask", target: "out", sourceHandle: "json", targetHandle: "made" },
    ];
    const saved = await api.call("POST", "/api/workflows", { key, body: { name: "Local JSON", nodes, edges } });
    const { body } = await api.call("POST", `/api/workflows/${saved.body.slug}/run`, { key, body: { inputs } });
    return body.result?.made ?? body;
  };

  const speech = async () => {
    let errors = 0;
    for (const sentence of SENTENCES) {
      const { result } = await once("local-speech", { prompt: sentence });
      const { result: transcript } = await once("local-transcribe", { audio: result.audios[0].url });
      errors += wordErrors(sentence, transcript.text) / SENTENCES.length;
    }
    drill.check([
      "speech is read back by transcription",
      errors <= MOST_WORD_ERRORS,
      `${(errors * 100).toFixed(1)} % of the words are wrong`,
    ]);
    const [sentence = ""] = SENTENCES.slice(2);
    const { audios } = await run("local-speech", `${sentence.length} characters`, { prompt: sentence });
    await run("local-transcribe", "4 s of speech", { audio: audios[0].url });
    const { words = [] } = await jsonOf({ model: "local-transcribe" }, { audio: audios[0].url });
    const inOrder = words.every(
      (/** @type {{ start: number }} */ { start }, /** @type {number} */ at) => at === 0 || start >= words[at - 1].start,
    );
    drill.check(["each word has its time", words.length > 5 && inOrder, `${words.length} words, the last at ${words.at(-1)?.start} s`]);
  };

  const voices = async () => {
    await untilReady("local-voices");
    const [, , sentence = ""] = SENTENCES;
    for (const voice of VOICES) {
      const { result } = await once("local-voices", { prompt: sentence, voice });
      const { result: transcript } = await once("local-transcribe", { audio: result.audios[0].url });
      const errors = wordErrors(sentence, transcript.text);
      drill.check([`the voice ${voice} is read back`, errors <= MOST_WORD_ERRORS, `${(errors * 100).toFixed(1)} % of the words are wrong`]);
    }
    await run("local-voices", `${sentence.length} characters`, { prompt: sentence });
  };

  const cutout = async () => {
    for (const { name, picture, mask } of THINGS) {
      const image = await upload(await png(picture));
      const { images } =
        name === "person" ? await run("local-cutout", "512 × 384", { image }) : (await once("local-cutout", { image })).result;
      const alpha = await sharp(await fetched(images[0].url))
        .extractChannel("alpha")
        .raw()
        .toBuffer();
      const truth = await sharp(mask).removeAlpha().extractChannel(0).raw().toBuffer();
      const share = overlap(alpha, truth);
      drill.check([`the ${name} is cut out`, share >= LEAST_OVERLAP, `IoU ${share.toFixed(3)}`]);
    }
  };

  const tween = async () => {
    const [image, endImage] = [await upload(await png(movingAt(0))), await upload(await png(movingAt(1)))];
    const inputs = { image, endImage, seconds: SECONDS, framesPerSecond: FRAMES };
    const { videos } = await run("local-tween", `${FRAMES} frames of 512 × 384`, inputs);
    const folder = mkdtempSync(join(tmpdir(), "tween-"));
    drill.atEnd(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "film.mp4"), await fetched(videos[0].url));
    spawnSync(ffmpeg(), ["-loglevel", "error", "-i", join(folder, "film.mp4"), join(folder, "%02d.png")]);
    const frames = readdirSync(folder)
      .filter((name) => name.endsWith(".png"))
      .sort();
    drill.check(["the film has every frame", frames.length === FRAMES, `${frames.length} frames`]);
    const [first, last] = [await pixels(sharp(movingAt(0))), await pixels(sharp(movingAt(1)))];
    let [ours, blended] = [0, 0];
    for (let index = 1; index < FRAMES - 1; index += 1) {
      const share = index / (FRAMES - 1);
      const truth = await pixels(sharp(movingAt(share)));
      const blend = Buffer.from(
        first.map((/** @type {number} */ value, /** @type {number} */ at) => value * (1 - share) + last[at] * share),
      );
      ours += psnr(await pixels(sharp(join(folder, String(frames[index])))), truth) / (FRAMES - 2);
      blended += psnr(blend, truth) / (FRAMES - 2);
    }
    drill.check([
      "frames in between are nearer to the true ones than a cross-fade",
      ours > blended,
      `${ours.toFixed(2)} dB, cross-fade ${blended.toFixed(2)} dB`,
    ]);
  };

  const ocr = async () => {
    const { text } = await run("local-ocr", "a page of four lines", { image: await upload(await png(PAGE)) });
    const share = 1 - wordErrors(PAGE_LINES.join(" "), text);
    const { lines = [] } = await jsonOf({ model: "local-ocr" }, { image: await upload(await png(PAGE)) });
    drill.check(["each line has its place", lines.length === PAGE_LINES.length && lines[0].box.length === 4, `${lines.length} lines`]);
    drill.check(["the text of a page is read", share >= LEAST_PAGE, `${(share * 100).toFixed(1)} % of its words`]);
  };

  const chat = async () => {
    const { text } = await run("local-chat", "about 60 tokens", { prompt: "Write two sentences about the sea.", maxTokens: 60 });
    drill.check(["a text is written", text.split(/\s+/).length >= 5, JSON.stringify(text.slice(0, 80))]);
    copyFileSync(chatWeights(), join(own, "chat", OWN_WEIGHTS));
    await untilReady(OWN_MODEL);
    const owned = await once(OWN_MODEL, { prompt: "Write two sentences about the sea.", maxTokens: 60 });
    drill.check(["weights in LOCAL_MODELS_DIR are a model", owned.result.text.length > 10, JSON.stringify(owned.result.text.slice(0, 80))]);
    const schema = {
      type: "object",
      required: ["subject", "mood"],
      properties: { subject: { type: "string", maxLength: 60 }, mood: { enum: ["calm", "happy"] } },
      additionalProperties: false,
    };
    const poster = await jsonOf({ model: "local-chat", prompt: "Describe a poster for a jazz night as JSON.", schema });
    drill.check(["JSON fits its schema", typeof poster.subject === "string", JSON.stringify(poster)]);
  };

  const music = async () => {
    const { audios } = await run("local-music", "8 s of music", { prompt: "a happy summer day", seconds: 8 });
    const bytes = await fetched(audios[0].url);
    drill.check(["music sounds", bytes.length > 1_000_000 && bytes.some((byte) => byte > 200), `${bytes.length} bytes`]);
  };

  if (process.argv.includes("--examples")) return makeExamples({ once, upload, png, fetched, sharp, ffmpeg, say: drill.say });
  const stage = { drill, untilReady, once, run, upload, fetched, sharp, png, pixels };
  const parts = { speech, voices, languages, embeddings, diffusion, upscale, cutout, tween, ocr, chat, music };
  for (const [name, part] of Object.entries(parts)) if (chosenNames.length === 0 || chosenNames.includes(name)) await part(stage);
  if (chosenNames.length > 0) return;
  await kills(drill, api);
  process.stdout.write(await writeTable(rows));
});
