import type { Tensor } from "../libraries";
import { complex, createFourier } from "./fourier";

/** Converts frames of the voice model to audio: a pulse train and noise, filtered in the frequency domain. */

export const SAMPLE_RATE = 24_000;
const WINDOW = 1_200;
const HOP = 300;
const BINS = WINDOW / 2 + 1;
/** A frame with a lower pitch is unvoiced. */
const LOWEST_PITCH = 40;
const HIGHEST_HARMONIC = 11_000;
const MAX_LOG = 7;

/**
 * Values per frame: log magnitude and phase of the voiced part, log magnitude of the noise, log magnitude and phase of the remainder, and
 * pitch in Hz.
 */
export interface Frames {
  lh: Tensor;
  theta: Tensor;
  ln: Tensor;
  lr: Tensor;
  phi: Tensor;
  f0: Tensor;
}

const hann = Float64Array.from({ length: WINDOW }, (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / WINDOW));

/** Creates normally distributed numbers from a fixed seed, so that a text always sounds the same. */
const noiseSource = (): (() => number) => {
  let state = 1;
  const uniform = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  return () => Math.sqrt(-2 * Math.log(uniform() + 1e-12)) * Math.cos(2 * Math.PI * uniform());
};

/** All harmonics of the pitch with equal strength. At both ends, half a window of mirrored samples is added. */
const pulses = (pitch: Float32Array, frames: number): Float64Array => {
  const length = frames * HOP;
  const half = WINDOW / 2;
  const train = new Float64Array(length + WINDOW);
  let phase = 0;
  for (let sample = 0; sample < length; sample++) {
    const at = (sample + 0.5) / HOP - 0.5;
    const [frame, share] = [Math.floor(at), at - Math.floor(at)];
    const pitchHz = pitch[Math.max(0, frame)]! * (1 - share) + pitch[Math.min(frames - 1, frame + 1)]! * share;
    const hertz = Math.max(LOWEST_PITCH, pitchHz);
    phase = (phase + hertz / SAMPLE_RATE) % 1;
    if (pitchHz <= LOWEST_PITCH) continue;
    const angle = 2 * Math.PI * phase;
    const harmonics = Math.floor(HIGHEST_HARMONIC / hertz) + 0.5;
    const sine = 2 * Math.sin(angle / 2);
    train[half + sample] = (Math.abs(sine) <= 2e-3 ? harmonics : Math.sin(harmonics * angle) / sine) - 0.5;
  }
  for (let sample = 0; sample < half; sample++) {
    train[sample] = train[WINDOW - sample]!;
    train[half + length + sample] = train[half + length - 2 - sample]!;
  }
  return train;
};

/** @returns a function that returns samples at SAMPLE_RATE */
export const createVocoder = (): ((frames: Frames) => Float32Array) => {
  const transform = createFourier(WINDOW);
  return ({ lh, theta, ln, lr, phi, f0 }) => {
    const frames = lh.dims[2]!;
    const length = frames * HOP;
    const gauss = noiseSource();
    const train = pulses(f0.data as Float32Array, frames);
    const [input, spectrum, shaped, output] = [complex(WINDOW), complex(WINDOW), complex(WINDOW), complex(WINDOW)];
    const sum = new Float64Array(length + WINDOW);
    const weight = new Float64Array(length + WINDOW);
    const value = ({ data }: Tensor, index: number): number => data[index] as number;
    const strength = (log: Tensor, index: number): number => Math.exp(Math.min(value(log, index), MAX_LOG));

    const shape = (frame: number): void => {
      for (let bin = 0; bin < BINS; bin++) {
        const index = bin * frames + frame;
        const turn = Math.PI * Math.tanh(value(theta, index));
        const [voiced, noise, rest] = [strength(lh, index), strength(ln, index), strength(lr, index)];
        const [cosine, sine] = [Math.cos(turn) * voiced, Math.sin(turn) * voiced];
        const [re, im] = [spectrum.re[bin]!, spectrum.im[bin]!];
        const angle = value(phi, index);
        shaped.re[bin] = re * cosine - im * sine + gauss() * noise + Math.cos(angle) * rest;
        shaped.im[bin] = re * sine + im * cosine + gauss() * noise + Math.sin(angle) * rest;
      }
      shaped.im[0] = 0;
      shaped.im[BINS - 1] = 0;
      for (let bin = 1; bin < BINS - 1; bin++) {
        shaped.re[WINDOW - bin] = shaped.re[bin]!;
        shaped.im[WINDOW - bin] = -shaped.im[bin]!;
      }
    };

    for (let frame = 0; frame < frames; frame++) {
      const from = frame * HOP;
      for (let sample = 0; sample < WINDOW; sample++) {
        input.re[sample] = (train[from + sample]! * hann[sample]!) / (WINDOW / 4);
        input.im[sample] = 0;
      }
      transform(input, spectrum, false);
      shape(frame);
      transform(shaped, output, true);
      for (let sample = 0; sample < WINDOW; sample++) {
        sum[from + sample]! += (output.re[sample]! / WINDOW) * hann[sample]!;
        weight[from + sample]! += hann[sample]! * hann[sample]!;
      }
    }
    return Float32Array.from({ length }, (_, index) => sum[index + WINDOW / 2]! / Math.max(weight[index + WINDOW / 2]!, 1e-11));
  };
};
