import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Onnx, Session } from "../libraries";
import { inWords } from "./numbers";

/** From text to the phonemes that the voice was trained with: by a lexicon, by the usual endings, else by a small model. */

type Entry = string | Readonly<Record<string, string | null>>;
type Lexicon = ReadonlyMap<string, Entry>;

/** How short words sound where they are not stressed. */
const WEAK: Readonly<Record<string, string>> = {
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

const LONGEST_ACRONYM = 5;
const TOKENS = /\p{L}[\p{L}']*|[.,!?;:—…"“”()]|\s+|[-–]/gu;
const WORD = /\p{L}/u;
const STOP = /^[.,!?;:]/;

const plural = (sound: string): string => {
  if (/[ptkfθ]$/.test(sound)) return `${sound}s`;
  return /[szʃʒʧʤ]$/.test(sound) ? `${sound}ᵻz` : `${sound}z`;
};

const past = (sound: string): string => {
  if (/[pkfθʃsʧ]$/.test(sound)) return `${sound}t`;
  if (/d$/.test(sound)) return `${sound}ᵻd`;
  return /t$/.test(sound) ? `${sound.slice(0, -1)}ɾᵻd` : `${sound}d`;
};

/** Words whose sound follows from another's: the ending, what may stand for it, and the sound of it. */
const ENDINGS: readonly { ending: RegExp; stems: readonly string[]; sound: (stem: string) => string }[] = [
  { ending: /'s$/, stems: [""], sound: plural },
  { ending: /ies$/, stems: ["y"], sound: plural },
  { ending: /es$/, stems: ["e", ""], sound: plural },
  { ending: /s$/, stems: [""], sound: plural },
  { ending: /ied$/, stems: ["y"], sound: past },
  { ending: /ed$/, stems: ["", "e"], sound: past },
  { ending: /ing$/, stems: ["", "e"], sound: (stem) => `${stem}ɪŋ` },
  { ending: /(.)\1ed$/, stems: ["$1"], sound: past },
  { ending: /(.)\1ing$/, stems: ["$1"], sound: (stem) => `${stem}ɪŋ` },
  { ending: /ly$/, stems: [""], sound: (stem) => `${stem}li` },
];

interface Guesser {
  in: readonly string[];
  out: readonly string[];
  maxlen: number;
}

const readLexicon = async (path: string): Promise<Lexicon> =>
  new Map(Object.entries(JSON.parse(gunzipSync(await readFile(path)).toString()) as Record<string, Entry>));

/** Letters to sounds for words that the lexicon lacks: one class for each letter, without repetitions and blanks. */
const guesser = ({ Tensor }: Onnx, session: Session, letters: Guesser) => {
  const indexes = new Map(letters.in.map((letter, index) => [letter, index + 1]));
  return async (word: string): Promise<string> => {
    const ids = [...word].flatMap((letter) => indexes.get(letter) ?? []).slice(0, letters.maxlen);
    if (ids.length === 0) return "";
    const answer = await session.run({ chars: new Tensor("int64", BigInt64Array.from(ids, BigInt), [1, ids.length]) });
    const classes = [...answer[session.outputNames[0]!]!.data].map(Number);
    return classes.map((one, index) => (one > 0 && one !== classes[index - 1] ? letters.out[one - 1]! : "")).join("");
  };
};

export interface Phonemes {
  /** @returns phonemes and punctuation; empty for a text without words */
  of(text: string): Promise<string>;
}

export const loadPhonemes = async (onnx: Onnx, folder: string): Promise<Phonemes> => {
  const [gold, silver] = await Promise.all(["gold", "silver"].map((quality) => readLexicon(join(folder, `lexicon_us_${quality}.json.gz`))));
  const letters = JSON.parse(await readFile(join(folder, "oov.json"), "utf8")) as Guesser;
  const session = await onnx.InferenceSession.create(join(folder, "oov.onnx"), { intraOpNumThreads: 1, interOpNumThreads: 1 });
  const guess = guesser(onnx, session, letters);

  const exact = (word: string): string | undefined => {
    const entry = gold!.get(word) ?? silver!.get(word);
    return (typeof entry === "object" ? entry.DEFAULT : entry) ?? undefined;
  };
  const lookUp = (word: string): string | undefined => exact(word) ?? exact(word.charAt(0).toUpperCase() + word.slice(1));

  const byEnding = (word: string): string | undefined => {
    for (const { ending, stems, sound } of ENDINGS) {
      if (!ending.test(word)) continue;
      const stem = stems.map((other) => lookUp(word.replace(ending, other))).find((found) => found !== undefined);
      if (stem !== undefined) return sound(stem);
    }
    return undefined;
  };

  const soundOf = async (word: string, next: string | undefined): Promise<string> => {
    const lower = word.toLowerCase();
    const beforeVowel = next !== undefined && /^[aeiou]/i.test(next);
    if (lower === "the" && beforeVowel) return "ði";
    if (lower === "to" && beforeVowel) return "tʊ";
    if (Object.hasOwn(WEAK, lower) && next !== undefined && !STOP.test(next)) return WEAK[lower]!;
    const known = lookUp(word) ?? lookUp(lower);
    if (known !== undefined) return known;
    const isAcronym = word.length > 1 && word.length <= LONGEST_ACRONYM && word === word.toUpperCase();
    if (isAcronym) return [...word].map((letter) => exact(letter) ?? "").join("");
    return byEnding(lower) ?? (await guess(lower));
  };

  return {
    of: async (text) => {
      const tokens = inWords(text).match(TOKENS) ?? [];
      const sounds: string[] = [];
      for (const [index, token] of tokens.entries()) {
        const next = tokens.slice(index + 1).find((other) => /\S/.test(other) && !/^[-–]$/.test(other));
        if (WORD.test(token)) sounds.push(await soundOf(token, next));
        else sounds.push(/^[\s–-]/.test(token) ? " " : token);
      }
      return sounds.join("").replace(/\s+/g, " ").trim();
    },
  };
};
