import { randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { LoadEngine } from "../engine";
import type { Sharp } from "../libraries";
import { fromTensor, openSession } from "../pictures";
import { createClipTokens } from "./clip-tokens";
import { estimate, guidanceWaves, noised, noiseFrom, timestepsOf } from "./consistency";
import { createGraph } from "./graph";

export interface DiffusionInputs {
  prompt: string;
  width: number;
  height: number;
  steps: number;
  guidance: number;
  seed?: number;
}

const TOKENS = 77;
/** Pixels per latent. */
const SCALE = 8;
const CHANNELS = 4;
/** Factor of latents at which the decoder was trained. */
const LATENT_FACTOR = 0.18215;
const MAX_SEED = 2_147_483_647;

/** Draws an image of a text with a latent consistency model. The same seed gives the same image. */
export const loadDiffusion: LoadEngine = async (context) => {
  const folder = context.weights("pictures");
  const file = (...names: string[]): string => join(folder, ...names);
  const graph = async (name: string) => createGraph(await openSession(context, file(name, "model.onnx")));
  const sharp = await context.library<Sharp>("sharp");
  const vocabulary = JSON.parse(await readFile(file("tokenizer", "vocab.json"), "utf8")) as Record<string, number>;
  const tokensOf = createClipTokens(vocabulary, await readFile(file("tokenizer", "merges.txt"), "utf8"), TOKENS);
  const [encoder, denoiser, decoder] = [await graph("text_encoder"), await graph("unet"), await graph("vae_decoder")];
  /** Present in models that were distilled with all strengths of the prompt. */
  const guidanceLength = denoiser.sizeOf("timestep_cond");

  return {
    run: async ({ inputs, folder: results }, { progress }) => {
      const { prompt, width, height, steps, guidance, seed = randomInt(MAX_SEED) } = inputs as unknown as DiffusionInputs;
      const parts = steps + 2;
      const text = await encoder.run({ input_ids: { values: tokensOf(prompt), dims: [1, TOKENS] } });
      progress(1 / parts);

      const dims = [1, CHANNELS, height / SCALE, width / SCALE];
      const noise = noiseFrom(seed);
      const count = dims.reduce((product, size) => product * size, 1);
      const timesteps = timestepsOf(steps);
      const waves = guidanceLength === undefined ? [] : guidanceWaves(guidance, guidanceLength);
      let latents: Float32Array = noise(count);
      for (const [index, timestep] of timesteps.entries()) {
        const predicted = await denoiser.run({
          sample: { values: latents, dims },
          timestep: { values: [timestep], dims: denoiser.rankOf("timestep") === 0 ? [] : [1] },
          encoder_hidden_states: text,
          timestep_cond: { values: waves, dims: [1, waves.length] },
        });
        const image = estimate(latents, predicted.values, timestep);
        const next = timesteps[index + 1];
        latents = next === undefined ? image : noised(image, noise(count), next);
        progress((index + 2) / parts);
      }

      const scaled = latents.map((value) => value / LATENT_FACTOR);
      const { values, dims: imageDims } = await decoder.run({ latent_sample: { values: scaled, dims } });
      const pixels = fromTensor({ data: values.map((value) => value / 2 + 0.5), dims: imageDims });
      await sharp(Buffer.from(pixels.data), { raw: { width: pixels.width, height: pixels.height, channels: 3 } })
        .png()
        .toFile(join(results, "picture.png"));
      progress(1);
      return { files: [{ name: "picture.png", contentType: "image/png" }] };
    },
  };
};
