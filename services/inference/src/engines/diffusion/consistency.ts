/** Sampling of latent consistency models: few steps, each from noise to an estimate of the whole image. */

const TRAINED_STEPS = 1_000;
/** Steps of the model from which a latent consistency model was distilled. */
const ORIGINAL_STEPS = 50;
const BETA_START = 0.00085;
const BETA_END = 0.012;
const DATA_DEVIATION = 0.5;
const TIMESTEP_SCALE = 10;
const GUIDANCE_SCALE = 1_000;
const LONGEST_PERIOD = 10_000;

/** Share of the image in the noisy image, per timestep: the cumulative products of a schedule that is linear in the square root. */
const SHARES = (() => {
  const shares = new Float64Array(TRAINED_STEPS);
  const [from, to] = [Math.sqrt(BETA_START), Math.sqrt(BETA_END)];
  for (let step = 0, product = 1; step < TRAINED_STEPS; step++) {
    product *= 1 - (from + ((to - from) * step) / (TRAINED_STEPS - 1)) ** 2;
    shares[step] = product;
  }
  return shares;
})();

/** Timesteps in order, from pure noise. */
export const timestepsOf = (steps: number): number[] => {
  const stride = TRAINED_STEPS / ORIGINAL_STEPS;
  return Array.from({ length: steps }, (_, index) => TRAINED_STEPS - 1 - stride * Math.floor((index * ORIGINAL_STEPS) / steps));
};

/** @returns the estimate of the image */
export const estimate = (noisy: Float32Array, noise: Float32Array, timestep: number): Float32Array => {
  const share = SHARES[timestep]!;
  const scaled = timestep * TIMESTEP_SCALE;
  const length = Math.hypot(scaled, DATA_DEVIATION);
  const [keep, take] = [(DATA_DEVIATION / length) ** 2, scaled / length];
  return noisy.map((value, index) => (take * (value - Math.sqrt(1 - share) * noise[index]!)) / Math.sqrt(share) + keep * value);
};

/** Adds the noise of a timestep to an estimate. */
export const noised = (image: Float32Array, noise: Float32Array, timestep: number): Float32Array => {
  const share = SHARES[timestep]!;
  return image.map((value, index) => Math.sqrt(share) * value + Math.sqrt(1 - share) * noise[index]!);
};

/** The strength of the prompt, as waves: the form in which distilled models read it. */
export const guidanceWaves = (guidance: number, length: number): Float32Array => {
  const half = length / 2;
  const strength = (guidance - 1) * GUIDANCE_SCALE;
  return Float32Array.from({ length }, (_, index) => {
    const angle = strength * LONGEST_PERIOD ** (-(index % half) / (half - 1));
    return index < half ? Math.sin(angle) : Math.cos(angle);
  });
};

/** Creates a deterministic generator of noise: Box and Muller's transformation of the generator mulberry32. */
export const noiseFrom = (seed: number): ((count: number) => Float32Array) => {
  let state = seed >>> 0;
  const random = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return (count) => Float32Array.from({ length: count }, () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));
};
