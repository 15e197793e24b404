/**
 * `npm run drill marks`: runs a workflow that makes a file in every format that Nodeloom signs, and lets c2patool, the standard's own
 * program, validate each one, show the sources of a film, and find a changed byte. Then it compares the time of media operations with and
 * without marks. Install c2patool first (`cargo install c2patool`), and name another path in `C2PATOOL`.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createApi, expecting } from "../support/api.mjs";
import { edge, node } from "../support/graph.mjs";
import { readLocal, ROOT, startPlatform } from "../support/platform.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { environmentOf } from "../support/replicas.mjs";
import { makeCertificate } from "./certificate.mjs";
import { measureCosts, PAIR_COUNT } from "./cost.mjs";
import { connect } from "./services.mjs";

export const DRILL = {
  sentence: "lets c2patool validate a signed file of every format, the sources of a film and a changed byte, and measures the cost",
  minutes: 5,
};

const C2PATOOL = process.env.C2PATOOL ?? "c2patool";
const OUT = join(ROOT, ".nodeloom", "drills", "marks");
const IMAGES = ["png", "jpeg", "webp", "avif"];
const SOUNDS = ["mp3", "m4a", "wav"];
const FRAGMENTS = join(ROOT, "services", "media", "test", "fixtures", "fragments.mp4");
/** The most of an operation's time that marks may take. */
const MAX_SHARE = 0.1;
/** More than the headers and the end mark of any format. */
const HEADER_BYTES = 100;
const MIB = 1_024 * 1_024;

/** A workflow whose results have all signed formats. The film has two pictures and a sound as its sources. */
const graph = () => {
  const converted = [
    ...IMAGES.map((format) => ({ format, operation: "image-convert", from: "picture.image", to: "image" })),
    ...SOUNDS.map((format) => ({ format, operation: "audio-convert", from: "sound.audio", to: "audio" })),
  ];
  return {
    nodes: [
      node("seed", "request-input", { fields: [{ name: "seed", type: "number", default: 1 }] }),
      node("picture", "generate-image", { model: "sandbox-image", inputs: { prompt: "a loom" } }),
      node("second", "generate-image", { model: "sandbox-image", inputs: { prompt: "a lighthouse" } }),
      node("sound", "generate-audio", { model: "sandbox-speech", inputs: { prompt: "Day and night it weaves." } }),
      node("show", "media", { operation: "video-slideshow", seconds: 1 }),
      node("film", "media", { operation: "video-captions", text: "Day and night it weaves." }),
      ...converted.map(({ format, operation }) => node(format, "media", { operation, format })),
      node("out", "response-output"),
    ],
    edges: [
      edge("seed.seed", "picture.seed"),
      edge("seed.seed", "second.seed"),
      edge("picture.image", "show.images"),
      edge("second.image", "show.images"),
      edge("sound.audio", "show.audio"),
      edge("show.video", "film.video"),
      edge("film.video", "out.mp4"),
      ...converted.flatMap(({ format, from, to }) => [edge(from, `${format}.${to}`), edge(`${format}.${to}`, `out.${format}`)]),
    ],
  };
};

/** @typedef {{ validation_state?: string, active_manifest?: string, manifests?: Record<string, any> }} Report */

/** What c2patool says of a file. @param {string} path @param {string} root path of the trusted root @returns {Report & { text: string }} */
const examine = (path, root) => {
  const { stdout, stderr } = spawnSync(C2PATOOL, [path, "trust", "--trust_anchors", root], { encoding: "utf8", maxBuffer: 64 * MIB });
  const text = `${stdout}\n${stderr}`;
  try {
    return { ...JSON.parse(stdout), text };
  } catch {
    return { text };
  }
};

/** Position of a byte of the content: RIFF files end with the manifest. @param {string} format @param {Buffer} bytes */
const contentAt = (format, bytes) => (["webp", "wav"].includes(format) ? HEADER_BYTES : bytes.length - HEADER_BYTES);

/** Kinds of all files from which a file was made, nearest first. @param {Report} report @returns {string[]} */
const sourcesOf = ({ active_manifest: active = "", manifests = {} }) => {
  /** @param {string} label @returns {string[]} */
  const below = (label) =>
    (manifests[label]?.ingredients ?? []).flatMap((/** @type {any} */ one) => [
      `${one.relationship} ${one.format ?? ""}`,
      ...(one.active_manifest ? below(one.active_manifest) : []),
    ]);
  return below(active);
};

const percent = (/** @type {number} */ share) => `${(share * 100).toFixed(1)} %`;

/** Runs the workflow. @param {string} baseUrl @param {string} key @returns {Promise<Record<string, { url: string }>>} its result */
const runWorkflow = async (baseUrl, key) => {
  const by = expecting(createApi(() => baseUrl).call);
  const { body: workflow } = await by(201, "POST", "/api/workflows", { key, body: { name: "Marks", ...graph() } });
  const inputs = { seed: Date.now() % 1_000_000 };
  const { headers } = await by(200, "POST", `/api/workflows/${workflow.slug}/run`, { key, body: { inputs } });
  return (await by(200, "GET", `/api/executions/${headers.get("x-execution-id")}`, { key })).body.result;
};

await runDrill("marks", async ({ say, check, atEnd }) => {
  const version = spawnSync(C2PATOOL, ["--version"], { encoding: "utf8" });
  if (version.status !== 0) throw new Error(`no c2patool at ${C2PATOOL}: cargo install c2patool, or set C2PATOOL`);
  say(version.stdout.trim());
  mkdirSync(OUT, { recursive: true });
  const { root, chain, key } = await makeCertificate();
  const rootPath = join(OUT, "root.pem");
  writeFileSync(rootPath, root);

  const platform = await startPlatform({ PROVENANCE: "signed", PROVENANCE_CERTIFICATE: chain, PROVENANCE_KEY: key });
  atEnd(() => platform.stop());
  const { baseUrl, accounts } = readLocal();
  const result = await runWorkflow(baseUrl, accounts.enterprise.apiKey);
  const { MEDIA_LISTEN = "" } = environmentOf("media");
  const { TRANSFORM_LISTEN = "" } = environmentOf("transform");
  const services = connect(MEDIA_LISTEN, TRANSFORM_LISTEN);
  atEnd(() => services.close());
  /** @type {[format: string, bytes: Buffer][]} */
  const files = [["fragmented mp4", await services.read(await services.upload(readFileSync(FRAGMENTS)))]];
  for (const [format, { url }] of Object.entries(result)) files.push([format, Buffer.from(await (await fetch(url)).arrayBuffer())]);
  for (const [name, bytes] of files) {
    const format = name.split(" ").at(-1) ?? name;
    const path = join(OUT, `result.${format}`);
    writeFileSync(path, bytes);
    const report = examine(path, rootPath);
    check([`${name} is valid and trusted`, report.validation_state === "Trusted", report.validation_state ?? report.text.slice(0, 200)]);
    const changed = Buffer.from(bytes);
    const at = contentAt(format, bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const changedPath = join(OUT, `changed.${format}`);
    writeFileSync(changedPath, changed);
    const state = examine(changedPath, rootPath).validation_state ?? "unreadable";
    check([`a changed byte of the ${name} is found`, !["Trusted", "Valid"].includes(state), state]);
    if (name !== "mp4") continue;
    const sources = sourcesOf(report);
    const sourceKinds = ["parentOf video/mp4", "componentOf image/", "componentOf audio/"];
    check([
      "the film names its pictures and its sound",
      sourceKinds.every((one) => sources.some((each) => each.startsWith(one))),
      sources.join(", "),
    ]);
  }
  check(["every format was there", Object.keys(result).length === IMAGES.length + SOUNDS.length + 1, Object.keys(result).join(", ")]);

  for (const { name, withoutMs, addedMs, share, processorShare } of await measureCosts()) {
    const time = `${addedMs.toFixed(1)} ms more than ${withoutMs.toFixed(0)} ms without: ${percent(share)}, medians of ${PAIR_COUNT} pairs`;
    const limit = `${name}: marks take at most ${percent(MAX_SHARE)}`;
    check([limit, share <= MAX_SHARE, `${time}; ${percent(processorShare)} of processor time`]);
  }
});
