/** Words by which files are found. */
import { LIMITS } from "../limits";

/** Longer texts are read up to here. */
const MAX_READ_CHARS = 8_000;
const MAX_WORD_CHARS = 40;

/** Also separates words of languages without spaces. */
const segmenter = new Intl.Segmenter("en", { granularity: "word" });

const LATIN = /^[\p{Script=Latin}\p{N}]$/u;

/** Texts as distinct words in lower case without accents, in order of appearance; at most `LIMITS.searchWords`. */
export const searchWords = (...texts: readonly string[]): string[] => {
  const words = new Set<string>();
  for (const text of texts) {
    const plain = text.slice(0, MAX_READ_CHARS).normalize("NFKD").replace(/\p{M}/gu, "").replaceAll("_", " ").toLowerCase();
    for (const { segment, isWordLike } of segmenter.segment(plain)) {
      if (words.size === LIMITS.searchWords) return [...words];
      // A single letter finds almost everything.
      if (isWordLike === true && !LATIN.test(segment)) words.add(segment.slice(0, MAX_WORD_CHARS));
    }
  }
  return [...words];
};

/** A plural also finds the singular: every word with the same beginning matches. */
const stemOf = (word: string): string => (word.length < 5 ? word : word.replace(/(?:es|s)$/, ""));

/** Beginnings of the words that a query asks for; at most `LIMITS.queryWords`. */
export const queryWords = (query: string): string[] => [...new Set(searchWords(query).map(stemOf))].slice(0, LIMITS.queryWords);

/** The first words of a prompt, as a title; empty for an empty prompt. */
export const titleOf = (prompt: string): string => {
  const line = prompt.slice(0, MAX_READ_CHARS).replace(/\s+/g, " ").trim();
  if (line.length <= LIMITS.titleChars) return line;
  const cut = line.slice(0, LIMITS.titleChars);
  const end = cut.lastIndexOf(" ");
  return end > 0 ? cut.slice(0, end) : cut;
};
