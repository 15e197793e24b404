/** Composes music by rules from a mood, a tempo and a length. No AI model is used. */

export const MOODS = ["calm", "happy", "sad", "epic", "tense"] as const;
export type Mood = (typeof MOODS)[number];

type Part = "pad" | "arpeggio" | "bass" | "melody";

interface Style {
  tempo: number;
  /** MIDI number of the tonic. */
  root: number;
  scale: readonly number[];
  /** Scale degrees of the chords, one per bar. */
  chords: readonly number[];
  /** General MIDI programs, each with its part. */
  instruments: readonly (readonly [program: number, part: Part])[];
  hasDrums: boolean;
}

const MINOR = [0, 2, 3, 5, 7, 8, 10];
const HARMONIC_MINOR = [0, 2, 3, 5, 7, 8, 11];
const MAJOR = [0, 2, 4, 5, 7, 9, 11];

const STYLES: Readonly<Record<Mood, Style>> = {
  calm: {
    tempo: 72,
    root: 57,
    scale: MINOR,
    chords: [0, 5, 2, 6],
    instruments: [
      [0, "arpeggio"],
      [48, "pad"],
      [32, "bass"],
      [73, "melody"],
    ],
    hasDrums: false,
  },
  happy: {
    tempo: 116,
    root: 60,
    scale: MAJOR,
    chords: [0, 4, 5, 3],
    instruments: [
      [24, "arpeggio"],
      [4, "pad"],
      [33, "bass"],
      [11, "melody"],
    ],
    hasDrums: true,
  },
  sad: {
    tempo: 60,
    root: 55,
    scale: MINOR,
    chords: [0, 3, 5, 4],
    instruments: [
      [0, "arpeggio"],
      [49, "pad"],
      [42, "bass"],
      [40, "melody"],
    ],
    hasDrums: false,
  },
  epic: {
    tempo: 90,
    root: 50,
    scale: HARMONIC_MINOR,
    chords: [0, 5, 3, 4],
    instruments: [
      [48, "pad"],
      [61, "melody"],
      [43, "bass"],
      [46, "arpeggio"],
    ],
    hasDrums: true,
  },
  tense: {
    tempo: 104,
    root: 52,
    scale: HARMONIC_MINOR,
    chords: [0, 0, 1, 4],
    instruments: [
      [45, "arpeggio"],
      [44, "pad"],
      [43, "bass"],
      [70, "melody"],
    ],
    hasDrums: true,
  },
};

const WORDS: readonly (readonly [Mood, RegExp])[] = [
  ["epic", /\b(epic|heroic|battle|cinematic|trailer|grand|triumph\w*|orchestral)\b/i],
  ["tense", /\b(tense|dark|scary|suspense\w*|thriller|horror|urgent|chase|action)\b/i],
  ["sad", /\b(sad|melanchol\w*|lonely|tears|grief|rain\w*|farewell|slow)\b/i],
  ["happy", /\b(happy|cheerful|joy\w*|upbeat|fun\w*|bright|dance|summer|party|playful)\b/i],
];

/** The mood that a text describes. Default: calm. */
export const moodOf = (text: string): Mood => WORDS.find(([, words]) => words.test(text))?.[0] ?? "calm";

export interface MusicEvent {
  /** Time of the event, in seconds. */
  at: number;
  kind: "on" | "off" | "program";
  channel: number;
  /** MIDI number of a note or of a program. */
  value: number;
  velocity: number;
}

const DRUM_CHANNEL = 9;
const [KICK, SNARE, HAT] = [36, 38, 42];
const BEATS = 4;
const ARPEGGIO = [0, 2, 4, 7, 4, 2, 4, 2];

/** Creates a deterministic generator of uniformly distributed random numbers. */
const randomFrom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
};

export interface Piece {
  mood: Mood;
  seconds: number;
  tempo?: number | undefined;
  seed: number;
}

/** @returns events in chronological order, and the end of the piece in seconds */
export const compose = ({ mood, seconds, tempo, seed }: Piece): MusicEvent[] => {
  const style = STYLES[mood];
  const random = randomFrom(seed);
  const beat = 60 / (tempo ?? style.tempo);
  const bars = Math.max(1, Math.ceil(seconds / (beat * BEATS)));
  const events: MusicEvent[] = style.instruments.map(([program], channel) => ({
    at: 0,
    kind: "program",
    channel,
    value: program,
    velocity: 0,
  }));
  const note = (at: number, channel: number, value: number, length: number, velocity: number): void => {
    events.push({ at, kind: "on", channel, value, velocity: Math.round(velocity) });
    events.push({ at: at + length, kind: "off", channel, value, velocity: 0 });
  };
  const degree = (step: number): number => style.root + 12 * Math.floor(step / 7) + style.scale[((step % 7) + 7) % 7]!;
  const oneOf = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)]!;
  let height = 7;

  const melody = (start: number, channel: number, chord: number): void => {
    for (let at = 0; at < BEATS;) {
      const length = Math.min(oneOf([0.5, 1, 1, 1.5, 2]), BEATS - at);
      height = Math.max(5, Math.min(13, height + oneOf([-2, -1, -1, 1, 1, 2])));
      if (Number.isInteger(at) && random() < 0.6) height = chord + 7 + oneOf([0, 2, 4]);
      if (random() < 0.82) note(start + at * beat, channel, degree(height), length * beat * 0.95, 74 + random() * 16);
      at += length;
    }
  };
  const play: Record<Part, (start: number, channel: number, chord: number, bar: number) => void> = {
    pad: (start, channel, chord) => [0, 2, 4].forEach((step) => note(start, channel, degree(chord + step), beat * 3.95, 58)),
    arpeggio: (start, channel, chord) =>
      ARPEGGIO.forEach((step, index) => note(start + (index * beat) / 2, channel, degree(chord + step), beat * 0.48, 62 + random() * 14)),
    bass: (start, channel, chord) => {
      note(start, channel, degree(chord) - 24, beat * 1.9, 84);
      note(start + 2 * beat, channel, degree(chord + (random() < 0.3 ? 4 : 0)) - 24, beat * 1.9, 78);
    },
    melody: (start, channel, chord, bar) => bar > 1 && melody(start, channel, chord),
  };
  const drums = (start: number): void => {
    for (let half = 0; half < BEATS * 2; half++) {
      const at = start + (half * beat) / 2;
      note(at, DRUM_CHANNEL, HAT, 0.1, 46 + (half % 2) * 14);
      if (half % 4 === 0) note(at, DRUM_CHANNEL, KICK, 0.1, 92);
      if (half % 4 === 2) note(at, DRUM_CHANNEL, SNARE, 0.1, 80);
    }
  };

  for (let bar = 0; bar < bars; bar++) {
    const start = bar * BEATS * beat;
    const chord = style.chords[bar % style.chords.length]!;
    style.instruments.forEach(([, part], channel) => play[part](start, channel, chord, bar));
    if (style.hasDrums && bar > 0) drums(start);
  }
  return events.filter(({ at, kind }) => kind === "off" || at < seconds).sort((a, b) => a.at - b.at);
};
