import { loadavg } from "node:os";
import { extname } from "node:path";
import { TEMPLATES } from "../../local/seed/templates/index.mjs";
import { wordErrors } from "../local-models/pictures.mjs";
import { pause, readLocal } from "../support/platform.mjs";
import { processorMs } from "../support/processor-time.mjs";
import { contentsOf, fetched, keep, runFfmpeg } from "./files.mjs";

/** Runs every seeded template unchanged as a user other than its author, and inspects the result. */

const SEEDED_MS = 60_000;
const WAIT_MS = 15 * 60_000;
const LOOK_MS = 250;
const FLAGSHIP = "narrated-slideshow";
/** Maximum for the narrated slideshow when its models are loaded. */
const MOST_FLAGSHIP_SECONDS = 60;
const MOST_WORD_ERRORS = 0.15;
const [WIDTH, HEIGHT, RATE] = [1_280, 720, 25];
const PHOTOS = 6;

/** Processor time of the platform. Linux only. */
const cpuSeconds = () => processorMs(Object.values(readLocal().pids)) / 1_000;

/** @typedef {ReturnType<typeof import("../support/api.mjs").createApi>} Api */

/** @param {Api} api @param {string} key @param {string} slug @param {object} [inputs] */
export const runTemplate = async (api, key, slug, inputs = {}) => {
  const { status, body } = await api.call("POST", `/api/workflows/${slug}/run`, { key, body: { inputs } });
  let last = body;
  for (const end = Date.now() + WAIT_MS; status === 202 && last.status !== "completed"; await pause(LOOK_MS)) {
    last = (await api.call("GET", `/api/executions/${body.executionId}`, { key })).body;
    if (last.status === "failed" || Date.now() > end) break;
  }
  if (last.result === undefined || last.result === null) throw new Error(`${slug}: ${JSON.stringify(last.error ?? last)}`);
  return { result: last.result, cost: last.cost ?? last.creditsCost };
};

/** @param {Api} api @param {string} key */
export const untilSeeded = async (api, key) => {
  for (const end = Date.now() + SEEDED_MS; ; await pause(LOOK_MS)) {
    const { body } = await api.call("GET", "/api/workflows", { key });
    const names = new Set(body.map((/** @type {{ name: string }} */ { name }) => name));
    if (TEMPLATES.every(({ name }) => names.has(name))) return;
    if (Date.now() > end) throw new Error("the templates were not seeded");
  }
};

/** Stores the files of a run. @param {string} slug @param {Record<string, any>} result @returns {Promise<string[]>} paths of the files */
const keepAll = async (slug, result) => {
  const files = ["videos", "images", "audios", "models3d"].flatMap((member) => result[member] ?? []);
  const paths = [];
  for (const [index, { url }] of files.entries())
    paths.push(keep(`${slug}${index === 0 ? "" : `-${index + 1}`}${extname(new URL(url).pathname)}`, await fetched(url)));
  return paths;
};

/** @param {import("../support/run-drill.mjs").Drill} drill @param {Api} api */
export const templates = async ({ check, say }, api) => {
  const { apiKey: key } = readLocal().accounts.business;
  const flagship = async () => {
    // The first run loads the models.
    await runTemplate(api, key, FLAGSHIP);
    const load = loadavg()[0] ?? 0;
    const cpuBefore = cpuSeconds();
    const startedAt = Date.now();
    const { result, cost } = await runTemplate(api, key, FLAGSHIP);
    const seconds = (Date.now() - startedAt) / 1_000;
    const duration = `${seconds.toFixed(1)} s, ${(cpuSeconds() - cpuBefore).toFixed(1)} s of processors, load ${load.toFixed(1)} before`;
    check(["a narrated slideshow of six photos is made in time", seconds <= MOST_FLAGSHIP_SECONDS, duration]);
    check(["it costs nothing", cost === 0, `${cost} credits`]);
    const [path = ""] = await keepAll(FLAGSHIP, result);
    const film = contentsOf(path);
    const isAsWanted = film.width === WIDTH && film.height === HEIGHT && film.hasSound && film.isWhole;
    check(["it is a whole film", isAsWanted && Math.abs(film.frames - film.seconds * RATE) <= RATE / 2, JSON.stringify(film)]);
    // The speech, with music under it, must be intelligible to a transcription model.
    const { output } = runFfmpeg(["-v", "error", "-i", path, "-vn", "-ac", "1", "-ar", "16000", "-f", "wav", "pipe:1"]);
    const upload = await fetch(`${readLocal().baseUrl}/api/media`, { method: "POST", headers: { "x-api-key": key }, body: output });
    const { id } = /** @type {{ id: string }} */ (await upload.json());
    const { body } = await api.call("POST", "/api/models/local-transcribe/run", { key, body: { inputs: { audio: id } } });
    const errors = wordErrors(result.text, body.result.text);
    say(`said: ${body.result.text}`);
    check(["its voice is understood over the music", errors <= MOST_WORD_ERRORS, `${(errors * 100).toFixed(1)} % of the words differ`]);
    check(["each photo is spoken of", result.text.split("\n\n").filter(Boolean).length === PHOTOS, result.text.replaceAll("\n\n", " / ")]);
  };

  for (const { slug } of TEMPLATES) {
    try {
      if (slug === FLAGSHIP) {
        await flagship();
        continue;
      }
      const startedAt = Date.now();
      const { result } = await runTemplate(api, key, slug);
      const paths = await keepAll(slug, result);
      const films = paths.filter((path) => path.endsWith(".mp4")).map(contentsOf);
      const isWhole = paths.length > 0 && films.every((film) => film.isWhole && film.seconds > 1);
      check([`${slug} runs as it is`, isWhole, `${((Date.now() - startedAt) / 1_000).toFixed(1)} s, ${paths.length} files`]);
    } catch (error) {
      check([`${slug} runs as it is`, false, error instanceof Error ? error.message : String(error)]);
    }
  }
};
