/** Differences between accents, except for the lexicon. */

export interface Ending {
  ending: RegExp;
  /** Possible replacements for the ending that result in a known word. */
  stems: readonly string[];
  sound: (stem: string) => string;
}

export interface Accent {
  /** Suffix of the names of lexicon files. */
  suffix: "us" | "gb";
  /** The model for words that aren't in the lexicon. */
  letters: "oov" | "oov_gb";
  /** Unstressed forms of short words. */
  weak: Readonly<Record<string, string>>;
  /** Endings whose pronunciation depends on the stem. */
  endings: readonly Ending[];
}

const AMERICAN_WEAK: Readonly<Record<string, string>> = {
  a: "ɐ",
  an: "ɐn",
  the: "ðə",
  to: "tə",
  of: "ʌv",
  and: "ænd",
  for: "fɔɹ",
  at: "æt",
  in: "ɪn",
  on: "ˌɔn",
  is: "ɪz",
  it: "ɪt",
  with: "wɪð",
  from: "fɹʌm",
  your: "jʊɹ",
  this: "ðˌɪs",
  that: "ðˌæt",
  you: "ju",
  or: "ɔɹ",
  as: "æz",
  be: "bi",
  was: "wʌz",
  are: "ɑɹ",
  i: "ˌI",
  by: "bI",
  can: "kæn",
};

/** British lexicons contain most short words in their unstressed form. */
const BRITISH_WEAK: Readonly<Record<string, string>> = { a: "ɐ", to: "tə", and: "and", i: "ˌI" };

/** @param vowel vowel of an ending that forms a separate syllable */
const plural =
  (vowel: string) =>
  (sound: string): string => {
    if (/[ptkfθ]$/.test(sound)) return `${sound}s`;
    return /[szʃʒʧʤ]$/.test(sound) ? `${sound}${vowel}z` : `${sound}z`;
  };

/** @param flapped the sound that replaces a final t before the vowel */
const past =
  (vowel: string, flapped: string) =>
  (sound: string): string => {
    if (/[pkfθʃsʧ]$/.test(sound)) return `${sound}t`;
    if (/d$/.test(sound)) return `${sound}${vowel}d`;
    return /t$/.test(sound) ? `${sound.slice(0, -1)}${flapped}${vowel}d` : `${sound}d`;
  };

const endingsOf = (several: (sound: string) => string, before: (sound: string) => string): Ending[] => [
  { ending: /'s$/, stems: [""], sound: several },
  { ending: /ies$/, stems: ["y"], sound: several },
  { ending: /es$/, stems: ["e", ""], sound: several },
  { ending: /s$/, stems: [""], sound: several },
  { ending: /ied$/, stems: ["y"], sound: before },
  { ending: /ed$/, stems: ["", "e"], sound: before },
  { ending: /ing$/, stems: ["", "e"], sound: (stem) => `${stem}ɪŋ` },
  { ending: /(.)\1ed$/, stems: ["$1"], sound: before },
  { ending: /(.)\1ing$/, stems: ["$1"], sound: (stem) => `${stem}ɪŋ` },
  { ending: /ly$/, stems: [""], sound: (stem) => `${stem}li` },
];

export const AMERICAN: Accent = {
  suffix: "us",
  letters: "oov",
  weak: AMERICAN_WEAK,
  endings: endingsOf(plural("ᵻ"), past("ᵻ", "ɾ")),
};

export const BRITISH: Accent = {
  suffix: "gb",
  letters: "oov_gb",
  weak: BRITISH_WEAK,
  endings: endingsOf(plural("ɪ"), past("ɪ", "t")),
};
