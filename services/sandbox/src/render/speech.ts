import { createRandom, type Random } from "./random";
import { encodeWav, SAMPLE_RATE } from "./wav";

const CHARACTERS_PER_SYLLABLE = 3;
/** Longer texts are cut, so that audio is shorter than half a minute. */
export const MAX_SYLLABLES = 120;
const SYLLABLE_SECONDS = 0.17;
const PAUSE_SECONDS = 0.12;
const SYLLABLES_PER_PHRASE = 7;
const PEAK = 0.7;
const SYLLABLE_SAMPLES = Math.round(SYLLABLE_SECONDS * SAMPLE_RATE);
/** Volume curve of a syllable. */
const ENVELOPE = Float32Array.from({ length: SYLLABLE_SAMPLES }, (_, index) => Math.sin((Math.PI * index) / SYLLABLE_SAMPLES) ** 0.6);
/** First two formants of five vowels, in Hz. */
const VOWELS: readonly [readonly [number, number], ...(readonly [number, number])[]] = [
  [800, 1200],
  [400, 2200],
  [300, 2500],
  [450, 850],
  [325, 700],
];

export const syllablesOf = (characters: number): number =>
  Math.min(MAX_SYLLABLES, Math.max(1, Math.ceil(characters / CHARACTERS_PER_SYLLABLE)));

const pausesIn = (syllables: number): number => Math.floor((syllables - 1) / SYLLABLES_PER_PHRASE);

export const speechSeconds = (syllables: number): number => syllables * SYLLABLE_SECONDS + pausesIn(syllables) * PAUSE_SECONDS;

/** A two-pole resonance filter, called once per sample. */
const createFormant = (frequency: number, bandwidth: number): ((input: number) => number) => {
  const radius = Math.exp((-Math.PI * bandwidth) / SAMPLE_RATE);
  const feedback = 2 * radius * Math.cos((2 * Math.PI * frequency) / SAMPLE_RATE);
  let [last, beforeLast] = [0, 0];
  return (input) => {
    const output = (1 - radius) * input + feedback * last - radius * radius * beforeLast;
    beforeLast = last;
    last = output;
    return output;
  };
};

const speakSyllable = (samples: Float32Array, start: number, pitchHz: number, random: Random): void => {
  const [first, second] = random.pick(VOWELS);
  const low = createFormant(first, 90);
  const high = createFormant(second, 120);
  const length = Math.min(samples.length - start, SYLLABLE_SAMPLES);
  const glide = random.between(-0.15, 0.1);
  let phase = random.next();
  for (let index = 0; index < length; index++) {
    phase += (pitchHz * (1 + (glide * index) / length)) / SAMPLE_RATE;
    const source = 2 * (phase % 1) - 1;
    samples[start + index] = ENVELOPE[index]! * (3 * low(source) + 2 * high(source));
  }
};

const normalise = (samples: Float32Array): void => {
  let peak = 0;
  for (const sample of samples) if (sample > peak || -sample > peak) peak = sample < 0 ? -sample : sample;
  if (peak === 0) return;
  for (let index = 0; index < samples.length; index++) samples[index] = (samples[index]! * PEAK) / peak;
};

/** Renders a WAV file of vowel-like beeps, one per syllable, with the rhythm of speech but without words. */
export const renderSpeech = (seed: string, syllables: number): Buffer => {
  const random = createRandom(seed);
  const voiceHz = random.between(105, 215);
  const samples = new Float32Array(Math.round(speechSeconds(syllables) * SAMPLE_RATE));
  for (let index = 0; index < syllables; index++) {
    const start = Math.round((index * SYLLABLE_SECONDS + Math.floor(index / SYLLABLES_PER_PHRASE) * PAUSE_SECONDS) * SAMPLE_RATE);
    speakSyllable(samples, start, voiceHz * random.between(0.9, 1.15), random);
  }
  normalise(samples);
  return encodeWav(samples);
};
