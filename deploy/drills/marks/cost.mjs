/**
 * Measures what marks cost: two media processes, one of which writes none, each with a transform process of its own, work on the same
 * files. Each operation runs in both by turns, one at a time.
 */
import sharp from "sharp";
import { freePort } from "../../local/servers/ports.cjs";
import { processorMs } from "../support/processor-time.mjs";
import { startReplica } from "../support/replicas.mjs";
import { connect } from "./services.mjs";

/** Pairs of runs of each operation. */
export const PAIR_COUNT = 15;
/** Pairs before the measurement: programs start, and their code is compiled. */
const WARM_COUNT = 3;
/** Label of a C2PA manifest. */
const MANIFEST = "c2pa.claim";
const SQUARE = { width: 1_024, height: 1_024 };
const FOUR_MEGAPIXELS = { width: 2_448, height: 1_632 };
const FRAME = { width: 1_280, height: 720 };
const FRAME_SECONDS = 2;
const FRAME_COUNT = 5;

/** @typedef {import("./services.mjs").Operation & { name: string }} Task */
/** @typedef {{ services: import("./services.mjs").Services, pids: () => number[] }} Side services and their processes */
/** @typedef {{ name: string, withoutMs: number, addedMs: number, share: number, processorShare: number }} Cost */

/** A picture with shapes and grain, which compresses like a photo. @param {{ width: number, height: number }} size */
const picture = async ({ width, height }) => {
  /** @param {number} wide @param {number} high @param {number} sigma */
  const noise = (wide, high, sigma) =>
    sharp({ create: { width: wide, height: high, channels: 3, background: "#888", noise: { type: "gaussian", mean: 128, sigma } } }).png();
  const shapes = await noise(Math.ceil(width / 16), Math.ceil(height / 16), 60).toBuffer();
  const grain = await noise(width, height, 6).toBuffer();
  return sharp(shapes)
    .resize(width, height, { kernel: "cubic" })
    .composite([{ input: grain, blend: "overlay" }])
    .png()
    .toBuffer();
};

/** @param {number[]} values */
const median = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

/** Milliseconds of an operation, and of processor time. @param {Side} side @param {Task} task */
const timed = async ({ services, pids }, { name: _, ...operation }) => {
  const processorBefore = processorMs(pids());
  const startedAt = performance.now();
  await services.run(operation);
  return { ms: performance.now() - startedAt, processor: processorMs(pids()) - processorBefore };
};

/** @param {Side} side @param {Omit<Task, "name">} operation @param {boolean} isSigned whether its result has a manifest */
const checkResult = async ({ services }, operation, isSigned) => {
  const bytes = await services.read(await services.run(operation));
  if (bytes.includes(MANIFEST) !== isSigned) throw new Error(`the result of ${operation.operation} is ${isSigned ? "not " : ""}signed`);
};

/** @param {Side} marking @param {Side} plain @param {Task} task @returns {Promise<Cost>} */
const compare = async (marking, plain, task) => {
  /** @type {number[]} */
  const without = [];
  /** @type {number[]} */
  const added = [];
  const processor = { plain: 0, marked: 0 };
  await checkResult(marking, task, true);
  await checkResult(plain, task, false);
  for (let pair = -WARM_COUNT; pair < PAIR_COUNT; pair += 1) {
    const isMarkedFirst = pair % 2 === 0;
    const first = await timed(isMarkedFirst ? marking : plain, task);
    const second = await timed(isMarkedFirst ? plain : marking, task);
    if (pair < 0) continue;
    const [marked, unmarked] = isMarkedFirst ? [first, second] : [second, first];
    without.push(unmarked.ms);
    added.push(marked.ms - unmarked.ms);
    processor.plain += unmarked.processor;
    processor.marked += marked.processor;
  }
  const [withoutMs, addedMs] = [median(without), median(added)];
  return { name: task.name, withoutMs, addedMs, share: addedMs / withoutMs, processorShare: processor.marked / processor.plain - 1 };
};

const newAddress = async () => `127.0.0.1:${await freePort()}`;

/** Starts a media process with a transform process of its own. @param {string} provenance @returns {Promise<Side & { stop: () => Promise<void> }>} */
const startSide = async (provenance) => {
  const [mediaAddress, transformAddress] = [await newAddress(), await newAddress()];
  const storage = await startReplica({
    ...{ service: "media", folder: "services/media" },
    env: { MEDIA_LISTEN: mediaAddress, MEDIA_HTTP_LISTEN: await newAddress(), PROVENANCE: provenance },
  });
  const worker = await startReplica({
    ...{ service: "transform", folder: "services/transform" },
    env: { TRANSFORM_LISTEN: transformAddress, MEDIA_ADDRESS: mediaAddress },
  });
  const services = connect(mediaAddress, transformAddress);
  const stop = async () => {
    services.close();
    await worker.stop();
    await storage.stop();
  };
  return { services, pids: () => [storage.pid(), worker.pid()], stop };
};

/** Costs of marks by operation, on a platform that signs: medians of pairs. @returns {Promise<Cost[]>} */
export const measureCosts = async () => {
  const marking = await startSide("signed");
  const plain = await startSide("off");
  const { upload, run } = marking.services;
  try {
    const [square, large] = [await upload(await picture(SQUARE)), await upload(await picture(FOUR_MEGAPIXELS))];
    const images = [];
    for (let index = 0; index < FRAME_COUNT; index += 1) images.push(await upload(await picture(FRAME)));
    const show = { ...FRAME, seconds: FRAME_SECONDS };
    const clip = await run({ operation: "video-slideshow", settings: show, port: "images", keys: images });
    /** @type {[name: string, operation: string, settings: object, key: string][]} */
    const operations = [
      ["resize a picture of 1024 × 1024 to 768", "image-resize", { width: 768 }, square],
      ["write a picture of 1024 × 1024 as JPEG", "image-convert", { format: "jpeg" }, square],
      ["crop a picture of 4 megapixels", "image-crop", { aspect: "1:1" }, large],
      ["write a picture of 4 megapixels as JPEG", "image-convert", { format: "jpeg" }, large],
      ["write a picture of 4 megapixels as WebP", "image-convert", { format: "webp" }, large],
      ["resize a video of 10 s at 720p", "video-resize", { width: 854 }, clip],
    ];
    const costs = [];
    for (const [name, operation, settings, key] of operations) {
      const port = operation.startsWith("video") ? "video" : "image";
      costs.push(await compare(marking, plain, { name, operation, settings, port, keys: [key] }));
    }
    return costs;
  } finally {
    await marking.stop();
    await plain.stop();
  }
};
