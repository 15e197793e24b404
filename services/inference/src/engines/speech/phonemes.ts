import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Onnx, Session } from "../libraries";
import type { Accent } from "./accents";
import { inWords } from "./numbers";

/** Converts text to the voice's phonemes by a lexicon, by common endings, or with a small model. */

type Entry = string | Readonly<Record<string, string | null>>;
type Lexicon = ReadonlyMap<string, Entry>;

const LONGEST_ACRONYM = 5;
const TOKENS = /\p{L}[\p{L}']*|[.,!?;:—…"“”()]|\s+|[-–]/gu;
const WORD = /\p{L}/u;
const STOP = /^[.,!?;:]/;

interface Guesser {
  in: readonly string[];
  out: readonly string[];
  maxlen: number;
}

const readLexicon = async (path: string): Promise<Lexicon> =>
  new Map(Object.entries(JSON.parse(gunzipSync(await readFile(path)).toString()) as Record<string, Entry>));

/** Predicts the phonemes of unknown words. The model returns one class per letter; repetitions and blanks are dropped. */
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

/** @param folder folder of the accent's lexicon */
export const loadPhonemes = async (
  onnx: Onnx,
  folder: string,
  { suffix, letters: lettersName, weak, endings }: Accent,
): Promise<Phonemes> => {
  const [gold, silver] = await Promise.all(
    ["gold", "silver"].map((quality) => readLexicon(join(folder, `lexicon_${suffix}_${quality}.json.gz`))),
  );
  const letters = JSON.parse(await readFile(join(folder, `${lettersName}.json`), "utf8")) as Guesser;
  const session = await onnx.InferenceSession.create(join(folder, `${lettersName}.onnx`), { intraOpNumThreads: 1, interOpNumThreads: 1 });
  const guess = guesser(onnx, session, letters);

  const exact = (word: string): string | undefined => {
    const entry = gold!.get(word) ?? silver!.get(word);
    return (typeof entry === "object" ? entry.DEFAULT : entry) ?? undefined;
  };
  const lookUp = (word: string): string | undefined => exact(word) ?? exact(word.charAt(0).toUpperCase() + word.slice(1));

  const byEnding = (word: string): string | undefined => {
    for (const { ending, stems, sound } of endings) {
      if (!ending.test(word)) continue;
      const stem = stems.map((other) => lookUp(word.replace(ending, other))).find((entry) => entry !== undefined);
      if (stem !== undefined) return sound(stem);
    }
    return undefined;
  };

  const soundOf = async (word: string, next: string | undefined): Promise<string> => {
    const lower = word.toLowerCase();
    const beforeVowel = next !== undefined && /^[aeiou]/i.test(next);
    if (lower === "the" && beforeVowel) return "ði";
    if (lower === "to" && beforeVowel) return "tʊ";
    if (Object.hasOwn(weak, lower) && next !== undefined && !STOP.test(next)) return weak[lower]!;
    const spelling = lookUp(word) ?? lookUp(lower);
    if (spelling !== undefined) return spelling;
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
