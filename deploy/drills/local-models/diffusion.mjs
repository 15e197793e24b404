import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "../support/platform.mjs";
import { serve } from "../support/serve.mjs";

/**
 * Images of local-pictures. Open weights can't be fetched everywhere, so the drill makes a tiny model of random weights and serves it: an
 * image of noise comes out. Steps and tokens are compared with diffusers elsewhere.
 */

const [TOKENS, WIDTH, CHANNELS, SCALE, WAVES, OPSET] = [77, 8, 4, 8, 256, 17];
const SIDE = 256;

const require = createRequire(join(ROOT, "package.json"));

/** Numbers between -1 and 1. @param {number} count */
const randomOf = (count) => Float32Array.from({ length: count }, (_, index) => Math.sin(index * 12.9898) % 1);

const models = () => {
  const { createOnnx } = require(join(ROOT, "services/inference/dist/fetch/convert/onnx.js"));
  const latents = [1, CHANNELS, "height", "width"];
  const [encoder, denoiser, decoder] = ["encoder", "denoiser", "decoder"].map((name) => createOnnx({ name, opset: OPSET }));

  const ids = encoder.node("Cast", ["input_ids"], { to: 7 });
  encoder.node("Gather", [encoder.floats(randomOf(600 * WIDTH), [600, WIDTH]), ids], {}, "last_hidden_state");

  const convolved = denoiser.node("Conv", ["sample", denoiser.floats(randomOf(CHANNELS * CHANNELS * 9), [CHANNELS, CHANNELS, 3, 3])], {
    pads: [1, 1, 1, 1],
  });
  const text = denoiser.node("ReduceMean", ["encoder_hidden_states"], { keepdims: 0 });
  const strength = denoiser.node("ReduceMean", ["timestep_cond"], { keepdims: 0 });
  const time = denoiser.node("Mul", ["timestep", denoiser.floats([0.001], [1])]);
  const sum = denoiser.node("Add", [denoiser.node("Add", [convolved, text]), denoiser.node("Mul", [time, strength])]);
  denoiser.node("Tanh", [sum], {}, "out_sample");

  const large = decoder.node(
    "ConvTranspose",
    ["latent_sample", decoder.floats(randomOf(CHANNELS * 3 * SCALE ** 2), [CHANNELS, 3, SCALE, SCALE])],
    {
      strides: [SCALE, SCALE],
    },
  );
  decoder.node("Tanh", [large], {}, "sample");

  return {
    "text_encoder/model.onnx": encoder.finish(
      [{ name: "input_ids", dims: [1, TOKENS] }],
      [{ name: "last_hidden_state", dims: [1, TOKENS, WIDTH] }],
    ),
    "unet/model.onnx": denoiser.finish(
      [
        { name: "sample", dims: latents },
        { name: "timestep", dims: [1] },
        { name: "encoder_hidden_states", dims: [1, TOKENS, WIDTH] },
        { name: "timestep_cond", dims: [1, WAVES] },
      ],
      [{ name: "out_sample", dims: latents }],
    ),
    "vae_decoder/model.onnx": decoder.finish(
      [{ name: "latent_sample", dims: latents }],
      [{ name: "sample", dims: [1, 3, "pixelHeight", "pixelWidth"] }],
    ),
  };
};

/** A vocabulary of single bytes, as characters of their own and as the last ones of words. */
const vocabulary = () => {
  const { SYMBOLS } = require(join(ROOT, "services/inference/dist/engines/diffusion/clip-tokens.js"));
  const pieces = [...SYMBOLS, ...SYMBOLS.map((/** @type {string} */ symbol) => `${symbol}</w>`), "<|startoftext|>", "<|endoftext|>"];
  return JSON.stringify(Object.fromEntries(pieces.map((piece, id) => [piece, id])));
};

/**
 * Serves a tiny model.
 * @param {string} folder @returns {Promise<{ list: string, close(): void }>} path of the list of its files
 */
export const serveTinyModel = async (folder) => {
  /** @type {Record<string, Buffer>} */
  const files = {
    ...models(),
    "tokenizer/vocab.json": Buffer.from(vocabulary()),
    "tokenizer/merges.txt": Buffer.from("#version: 0.2\n"),
  };
  const { url, close } = await serve((request, response) => void response.end(files[decodeURIComponent(request.url ?? "").slice(1)]));
  const listed = Object.entries(files).map(([path, content]) => ({
    path,
    bytes: content.length,
    sha256: createHash("sha256").update(content).digest("hex"),
  }));
  const list = join(folder, "pictures.json");
  writeFileSync(list, JSON.stringify({ address: `${url}/`, files: listed }));
  return { list, close };
};

/** @param {import("./stage.mjs").Stage} stage */
export const diffusion = async ({ drill, untilReady, once, fetched, sharp }) => {
  await untilReady("local-pictures");
  const inputs = { prompt: "a lighthouse at dusk", width: SIDE, height: 2 * SIDE, seed: 7 };
  const drawn = async (/** @type {object} */ more) => fetched((await once("local-pictures", { ...inputs, ...more })).result.images[0].url);
  const [first, again, other] = [await drawn({}), await drawn({}), await drawn({ seed: 8 })];
  const { width, height, format } = await sharp(first).metadata();
  drill.check(["an image has its size", format === "png" && width === SIDE && height === 2 * SIDE, `${format}, ${width} × ${height}`]);
  drill.check(["the same seed gives the same image", first.equals(again) && !first.equals(other), `${first.length} bytes`]);
};
