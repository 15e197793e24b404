/**
 * `npm run drill marks`: runs a workflow that makes a file in every format that Nodeloom signs, and lets c2patool, the standard's own
 * program, validate each one, show the sources of a film, and find a changed byte. Then it compares the time of media operations with and
 * without signatures. Install c2patool first (`cargo install c2patool`), and name another path in `C2PATOOL`.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createApi, expecting } from "../support/api.mjs";
import { edge, node } from "../support/graph.mjs";
import { readLocal, ROOT, startPlatform } from "../support/platform.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { makeCertificate } from "./certificate.mjs";

export const DRILL = {
  sentence: "lets c2patool validate a signed file of every format, the sources of a film and a changed byte, and measures the cost",
  minutes: 3,
};

const C2PATOOL = process.env.C2PATOOL ?? "c2patool";
const OUT = join(ROOT, ".nodeloom", "drills", "marks");
const IMAGES = ["png", "jpeg", "webp", "avif"];
const SOUNDS = ["mp3", "m4a", "wav"];
const SEED_COUNT = 5;
/** The most of an operation's time that a signature may take. */
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

/** Duration of the media operations of runs with new seeds, in ms per operation. @param {() => Promise<any>} run */
const measure = async (run) => {
  /** @type {Map<string, number[]>} */
  const durations = new Map();
  for (let index = 0; index < SEED_COUNT; index += 1) {
    const { nodes } = await run();
    for (const { id, type, durationMs } of nodes) if (type === "media") durations.set(id, [...(durations.get(id) ?? []), durationMs]);
  }
  const medians = [...durations.values()].map((each) => each.sort((one, other) => one - other)[Math.floor(each.length / 2)] ?? 0);
  return medians.reduce((sum, ms) => sum + ms, 0) / medians.length;
};

/** Starts a platform with the workflow. @param {Record<string, string>} env */
const open = async (env) => {
  const platform = await startPlatform(env);
  const { baseUrl, accounts } = readLocal();
  const by = expecting(createApi(() => baseUrl).call);
  const key = accounts.enterprise.apiKey;
  const { body: workflow } = await by(201, "POST", "/api/workflows", { key, body: { name: "Marks", ...graph() } });
  let seed = Date.now() % 1_000_000;
  const run = async () => {
    seed += 1;
    const { body, headers } = await by(200, "POST", `/api/workflows/${workflow.slug}/run`, { key, body: { inputs: { seed } } });
    const { body: execution } = await by(200, "GET", `/api/executions/${headers.get("x-execution-id")}`, { key });
    return { result: body.result, nodes: execution.nodes };
  };
  return { platform, run };
};

await runDrill("marks", async ({ say, check, atEnd }) => {
  const version = spawnSync(C2PATOOL, ["--version"], { encoding: "utf8" });
  if (version.status !== 0) throw new Error(`no c2patool at ${C2PATOOL}: cargo install c2patool, or set C2PATOOL`);
  say(version.stdout.trim());
  mkdirSync(OUT, { recursive: true });
  const { root, chain, key } = await makeCertificate();
  const rootPath = join(OUT, "root.pem");
  writeFileSync(rootPath, root);

  const signed = await open({ PROVENANCE: "signed", PROVENANCE_CERTIFICATE: chain, PROVENANCE_KEY: key });
  let isOpen = true;
  atEnd(() => (isOpen ? signed.platform.stop() : undefined));
  const { result } = await signed.run();
  for (const [format, file] of Object.entries(result)) {
    const response = await fetch(/** @type {any} */ (file).url);
    const bytes = Buffer.from(await response.arrayBuffer());
    const path = join(OUT, `result.${format}`);
    writeFileSync(path, bytes);
    const report = examine(path, rootPath);
    check([`${format} is valid and trusted`, report.validation_state === "Trusted", report.validation_state ?? report.text.slice(0, 200)]);
    const changed = Buffer.from(bytes);
    const at = contentAt(format, bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const changedPath = join(OUT, `changed.${format}`);
    writeFileSync(changedPath, changed);
    const state = examine(changedPath, rootPath).validation_state ?? "unreadable";
    check([`a changed byte of the ${format} is found`, !["Trusted", "Valid"].includes(state), state]);
    if (format !== "mp4") continue;
    const sources = sourcesOf(report);
    const sourceKinds = ["parentOf video/mp4", "componentOf image/", "componentOf audio/"];
    check([
      "the film names its pictures and its sound",
      sourceKinds.every((one) => sources.some((each) => each.startsWith(one))),
      sources.join(", "),
    ]);
  }
  check(["every format was there", Object.keys(result).length === IMAGES.length + SOUNDS.length + 1, Object.keys(result).join(", ")]);

  const withMs = await measure(signed.run);
  await signed.platform.stop();
  isOpen = false;
  const unsigned = await open({ PROVENANCE: "metadata" });
  atEnd(() => unsigned.platform.stop());
  await unsigned.run();
  const withoutMs = await measure(unsigned.run);
  const share = (withMs - withoutMs) / withoutMs;
  const percent = (share * 100).toFixed(1);
  check([
    `signatures take at most ${MAX_SHARE * 100} % of a media operation`,
    share <= MAX_SHARE,
    `${withMs.toFixed(0)} ms with, ${withoutMs.toFixed(0)} ms without: ${percent} %`,
  ]);
});
