import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pause, ROOT } from "../support/platform.mjs";

/** Direct access to the platform's inference service. */

const STATE = join(ROOT, ".nodeloom");
const read = (/** @type {string} */ name) => JSON.parse(readFileSync(join(STATE, name), "utf8"));
const MB = 1_024 * 1_024;

const address = () => read("processes.json").find((/** @type {{ name: string }} */ { name }) => name === "inference").address;

/** @returns {Promise<{ rssBytes: number, loaded: Record<string, number>, jobs: { held: number, waiting: number, submissions: number } }>} */
export const stats = async () => {
  const headers = { authorization: `Bearer ${read("secrets.json").INFERENCE_API_KEY}` };
  const answer = await fetch(`http://${address()}/v1/stats`, { headers });
  return /** @type {ReturnType<typeof stats>} */ (answer.json());
};

/** Peak memory of a model's process in MB. @param {string} model */
export const peakOf = async (model) => {
  const pid = (await stats()).loaded[model];
  if (pid === undefined) return undefined;
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round((Number(peak) * 1_024) / MB);
};

/** Folder of a fetched asset. @param {string} name */
const fetchedFolder = (name) => {
  const require = createRequire(join(ROOT, "package.json"));
  const { ASSETS } = require(join(ROOT, "services/inference/dist/fetch/assets.js"));
  const { assetFolder, assetsFolder } = require(join(ROOT, "services/platform/dist/index.js"));
  return assetFolder(assetsFolder(process.env), name, ASSETS[name]);
};

/** Download size of a model in bytes. @param {string} model @returns {number} */
export const bytesFor = (model) => {
  const require = createRequire(join(ROOT, "package.json"));
  const { ASSETS } = require(join(ROOT, "services/inference/dist/fetch/assets.js"));
  const { LOCAL_MODELS } = require(join(ROOT, "services/inference/dist/models.js"));
  return LOCAL_MODELS[model].assets.reduce((/** @type {number} */ sum, /** @type {string} */ name) => sum + ASSETS[name].bytes, 0);
};

/** A library among the fetched engines. @param {string} name */
export const engineLibrary = (name) => createRequire(join(fetchedFolder("engines"), "package.json"))(name);

/** The fetched ffmpeg. */
export const ffmpeg = () => join(fetchedFolder("ffmpeg"), "ffmpeg");

/** Weights of local-chat. */
export const chatWeights = () => join(fetchedFolder("chat"), "SmolLM2-135M-Instruct.Q4_1.gguf");

/**
 * Waits until all files are fetched.
 * @param {() => Promise<{ status: string, reason: string | null, fetchedBytes: number, totalBytes: number }>} ask @param {(line: string) => void} say @param {number} withinMs
 */
export const untilFetched = async (ask, say, withinMs) => {
  const end = Date.now() + withinMs;
  for (let last = ""; ;) {
    const { status, reason, fetchedBytes, totalBytes } = await ask();
    if (status === "ready") return;
    const now = `${status}: ${Math.round(fetchedBytes / 1e6)} of ${Math.round(totalBytes / 1e6)} MB`;
    if (now !== last) say(now);
    last = now;
    if (Date.now() > end) throw new Error(`the models were not fetched: ${reason}`);
    await pause(2_000);
  }
};
