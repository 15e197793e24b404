// Runs every operation of media nodes on the platform that npm start runs here, and draws what each makes of what into operations/.
//
//   node docs/guide/pictures/draw-operations.mjs [operation…]
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { ffmpeg } from "../../../deploy/drills/local-models/service.mjs";
import { EXAMPLES, INPUTS } from "./operation-examples.mjs";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const OUT = fileURLToPath(new URL("operations/", import.meta.url));
const SAMPLES = join(ROOT, "deploy/local/seed/templates/samples");
const { MEDIA_OPERATIONS } = createRequire(import.meta.url)(join(ROOT, "services/kernel/dist/index.js"));
const { baseUrl, accounts } = JSON.parse(readFileSync(join(ROOT, ".nodeloom/local.json"), "utf8"));
const headers = { "x-api-key": accounts.business.apiKey };

/** Height of what is shown, in pixels; of a row of a film's frames, and of the curve of a sound. */
const [HIGH, FRAME_HIGH, WAVE_HIGH, WIDE] = [230, 118, 84, 820];
const FRAMES = 4;
const [GAP, ARROW] = [12, 44];
const QUALITY = 76;
const GREY = { r: 128, g: 128, b: 128, alpha: 0 };

const folder = mkdtempSync(join(tmpdir(), "operations-"));

const call = async (method, path, body) => {
  const json = body === undefined || Buffer.isBuffer(body) ? {} : { "content-type": "application/json" };
  const response = await fetch(new URL(path, baseUrl), {
    method,
    headers: { ...headers, ...json },
    body: Buffer.isBuffer(body) ? body : body && JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
  return text === "" ? undefined : JSON.parse(text);
};

/** Stored files by the names that examples have for them: bytes, id, type and length. */
const files = new Map();
const store = async (name, bytes, duration) => {
  const { id, contentType, durationMs } = await call("POST", "/api/media", bytes);
  files.set(name, { bytes, id, contentType, duration: duration ?? (durationMs ?? 0) / 1_000 });
};

/** Runs one operation, by a workflow of its own. @returns the file that it made */
const runOperation = async (operation, { settings = {}, files: fileNames }) => {
  const { output } = MEDIA_OPERATIONS.find(({ name }) => name === operation);
  const uploads = Object.entries(fileNames).flatMap(([port, names]) =>
    [names].flat().map((name, index) => ({ port, name, id: `${port}${index}` })),
  );
  const node = (id, type, data) => ({ id, type, position: { x: 0, y: 0 }, data });
  const { slug } = await call("POST", "/api/workflows", {
    name: `Example ${operation}`,
    nodes: [
      ...uploads.map(({ id, name }) => node(id, "media-upload", { mediaId: files.get(name).id })),
      node("work", "media", { operation, ...settings }),
      node("out", "response-output", {}),
    ],
    edges: [
      ...uploads.map(({ id, port }) => ({ id, source: id, sourceHandle: "media", target: "work", targetHandle: port })),
      { id: "made", source: "work", sourceHandle: output, target: "out", targetHandle: "made" },
    ],
  });
  try {
    const { result } = await call("POST", `/api/workflows/${slug}/run`, { inputs: {} });
    const { url, contentType, duration = 0 } = result.made;
    return { bytes: Buffer.from(await (await fetch(url)).arrayBuffer()), contentType, duration };
  } finally {
    await call("DELETE", `/api/workflows/${slug}`);
  }
};

const runFfmpeg = (bytes, args) => {
  writeFileSync(join(folder, "in"), bytes);
  const { stdout, stderr, status } = spawnSync(ffmpeg(), ["-v", "error", ...args, "pipe:1"], { cwd: folder, maxBuffer: 2 ** 28 });
  if (status !== 0 || stdout.length === 0) throw new Error(`ffmpeg: ${stderr}`);
  return stdout;
};

/** Pictures side by side. */
const beside = async (pictures, gap = GAP) => {
  const sized = await Promise.all(pictures.map(async (input) => ({ input, ...(await sharp(input).metadata()) })));
  const height = Math.max(...sized.map((one) => one.height));
  const width = sized.reduce((sum, one) => sum + one.width + gap, -gap);
  let offset = 0;
  const layers = sized.map(({ input, width: own, height: high }) => {
    const layer = { input, left: offset, top: Math.round((height - high) / 2) };
    offset += own + gap;
    return layer;
  });
  return sharp({ create: { width, height, channels: 4, background: GREY } })
    .composite(layers)
    .png()
    .toBuffer();
};

const frameAt = (bytes, at) =>
  runFfmpeg(bytes, [
    "-ss",
    at.toFixed(3),
    "-i",
    "in",
    "-frames:v",
    "1",
    "-vf",
    `scale=-2:${FRAME_HIGH}`,
    "-f",
    "image2pipe",
    "-c:v",
    "png",
  ]);
const framesOf = ({ bytes, duration }, count) =>
  beside(
    Array.from({ length: count }, (_, index) => frameAt(bytes, Math.max(0, (duration * (index + 0.5)) / count - 0.02))),
    4,
  );
const waveOf = ({ bytes }) =>
  runFfmpeg(bytes, [
    "-i",
    "in",
    "-filter_complex",
    `aformat=channel_layouts=mono,showwavespic=s=${WIDE / 2}x${WAVE_HIGH}:colors=#c8553d:scale=cbrt`,
    "-frames:v",
    "1",
    "-f",
    "image2pipe",
    "-c:v",
    "png",
  ]);

/** What stands for a file. @param count frames of a film */
const framesFor = async (file, count = FRAMES) => {
  if (file.contentType.startsWith("video/")) return framesOf(file, count);
  if (file.contentType.startsWith("audio/")) return waveOf(file);
  return sharp(file.bytes).resize({ height: HIGH, width: WIDE, fit: "inside", withoutEnlargement: true }).png().toBuffer();
};

const arrow = () =>
  sharp(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${ARROW}" height="24"><path d="M2 12h36M28 4l10 8-10 8" fill="none" stroke="#8a8f98" stroke-width="4" stroke-linecap="round" stroke-linejoin="round"/></svg>`,
    ),
  )
    .png()
    .toBuffer();

const draw = async (operation) => {
  const example = EXAMPLES[operation];
  const result = await runOperation(operation, example);
  const path = join(OUT, `${operation}.webp`);
  if (result.contentType === "image/gif") return sharp(result.bytes, { animated: true }).webp({ quality: 60 }).toFile(path);
  const exampleFiles = Object.values(example.files)
    .flat()
    .map((name) => files.get(name));
  const before = exampleFiles.length > 3 ? [] : await Promise.all(exampleFiles.map((file) => framesFor(file, 1)));
  const parts = before.length > 0 ? [...before, await arrow(), await framesFor(result)] : [await framesFor(result)];
  return sharp(await beside(parts))
    .resize({ width: WIDE, withoutEnlargement: true })
    .webp({ quality: QUALITY, alphaQuality: 60 })
    .toFile(path);
};

try {
  mkdirSync(OUT, { recursive: true });
  for (const [name, file] of Object.entries(INPUTS.samples)) await store(name, readFileSync(join(SAMPLES, file)));
  for (const [name, { model, inputs }] of Object.entries(INPUTS.models)) {
    const { result } = await call("POST", `/api/models/${model}/run`, { inputs });
    const [{ url }] = result.audios ?? result.images;
    await store(name, Buffer.from(await (await fetch(url)).arrayBuffer()));
  }
  for (const [name, { operation, ...example }] of Object.entries(INPUTS.operations)) {
    const { bytes, duration } = await runOperation(operation, example);
    await store(name, bytes, duration);
  }
  const names = process.argv.slice(2);
  for (const { name } of MEDIA_OPERATIONS) {
    if (names.length > 0 && !names.includes(name)) continue;
    const { size } = await draw(name);
    process.stdout.write(`${name.padEnd(18)} ${(size / 1_000).toFixed(1).padStart(6)} kB\n`);
  }
} finally {
  for (const { id } of files.values()) await call("DELETE", `/api/media/${id}`).catch(() => undefined);
  rmSync(folder, { recursive: true, force: true });
}
