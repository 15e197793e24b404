import { createRandom, type Random } from "./random";
import { encodeWav, SAMPLE_RATE } from "./wav";

const TABLE_SIZE = 2048;
const PHASE_BITS = 16;
/** One period of a soft organ-like tone. */
const WAVE = Float32Array.from({ length: TABLE_SIZE }, (_, index) => {
  const turn = (2 * Math.PI * index) / TABLE_SIZE;
  return 0.7 * Math.sin(turn) + 0.2 * Math.sin(2 * turn) + 0.1 * Math.sin(3 * turn);
});
const SEMITONES_PER_OCTAVE = 12;
const A4_HZ = 440;
const A4_NOTE = 69;
const BEATS_PER_BAR = 4;
const ATTACK_SECONDS = 0.015;
const FADE_SECONDS = 0.25;
const CHORD_GAIN = 0.13;
const BASS_GAIN = 0.2;
const MELODY_GAIN = 0.26;

const MAJOR: readonly number[] = [0, 2, 4, 5, 7, 9, 11];
const MINOR: readonly number[] = [0, 2, 3, 5, 7, 8, 10];
/** Chord progressions in scale degrees, from zero. */
const PROGRESSIONS: readonly [readonly number[], ...(readonly number[])[]] = [
  [0, 4, 5, 3],
  [0, 5, 3, 4],
  [5, 3, 0, 4],
  [0, 3, 4, 3],
  [0, 2, 3, 4],
];

interface Note {
  midi: number;
  startSeconds: number;
  seconds: number;
  gain: number;
}

const playNote = (samples: Float32Array, { midi, startSeconds, seconds, gain }: Note): void => {
  const frequency = A4_HZ * 2 ** ((midi - A4_NOTE) / SEMITONES_PER_OCTAVE);
  // Fixed-point phase with PHASE_BITS fractional bits. Integer arithmetic keeps this loop fast.
  const step = Math.round((frequency * TABLE_SIZE * 2 ** PHASE_BITS) / SAMPLE_RATE);
  const start = Math.round(startSeconds * SAMPLE_RATE);
  const target = samples.subarray(start, start + Math.round(seconds * SAMPLE_RATE));
  const attack = ATTACK_SECONDS * SAMPLE_RATE;
  const decay = gain / target.length;
  let phase = 0;
  for (let index = 0; index < target.length; index++) {
    const envelope = decay * (target.length - index) * (index < attack ? index / attack : 1);
    target[index] = target[index]! + envelope * WAVE[(phase >> PHASE_BITS) & (TABLE_SIZE - 1)]!;
    phase = (phase + step) | 0;
  }
};

const compose = (random: Random, seconds: number): Note[] => {
  const scale = random.pick([MAJOR, MINOR]);
  const root = 57 + random.below(SEMITONES_PER_OCTAVE);
  const beat = 60 / random.between(84, 132);
  const progression = random.pick(PROGRESSIONS);
  const pitch = (degree: number): number => root + scale[degree % scale.length]! + SEMITONES_PER_OCTAVE * Math.floor(degree / scale.length);
  const notes: Note[] = [];
  for (let bar = 0; bar * BEATS_PER_BAR * beat < seconds; bar++) {
    const degree = progression[bar % progression.length]!;
    const barStart = bar * BEATS_PER_BAR * beat;
    const barSeconds = BEATS_PER_BAR * beat;
    for (const third of [0, 2, 4])
      notes.push({ midi: pitch(degree + third), startSeconds: barStart, seconds: barSeconds, gain: CHORD_GAIN });
    notes.push({ midi: pitch(degree) - 2 * SEMITONES_PER_OCTAVE, startSeconds: barStart, seconds: barSeconds, gain: BASS_GAIN });
    for (let step = 0; step < BEATS_PER_BAR; step++) {
      const midi = pitch(degree + random.pick([0, 2, 4, 7])) + SEMITONES_PER_OCTAVE;
      notes.push({ midi, startSeconds: barStart + step * beat, seconds: beat * random.pick([0.5, 1, 1]), gain: MELODY_GAIN });
    }
  }
  return notes;
};

/** Renders a WAV file of exactly `seconds` with chords, bass and melody. The seed chooses key, tempo and progression. */
export const renderMusic = (seed: string, seconds: number): Buffer => {
  const samples = new Float32Array(seconds * SAMPLE_RATE);
  for (const note of compose(createRandom(seed), seconds)) playNote(samples, note);
  const fade = FADE_SECONDS * SAMPLE_RATE;
  for (let index = 0; index < fade; index++) {
    const at = samples.length - 1 - index;
    samples[at] = samples[at]! * (index / fade);
  }
  return encodeWav(samples);
};
