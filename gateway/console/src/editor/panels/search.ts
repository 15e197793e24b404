import type { Model } from "@nodeloom/client";
import type { Kind } from "../../canvas/kinds";
import { KIND_WORDS, modelWords, OPERATION_WORDS } from "../../messages/search-words";

/** Finds nodes and models by typed text. Names rank before other names, and other names before descriptions. */

export interface Choice {
  key: string;
  kind: Kind;
  title: string;
  description: string;
  model?: string;
}

/** Words without a meaning for the search. */
const FILLERS = new Set(["a", "an", "the", "my", "node", "nodes", "add", "please"]);
const singular = (word: string): string => (word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word);
const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .map(singular);
/** A query as typed, and without filler words. */
const readings = (query: string): string[][] => {
  const words = wordsOf(query);
  const telling = words.filter((word) => !FILLERS.has(word));
  return telling.length === 0 || telling.length === words.length ? [words] : [words, telling];
};

interface Entry {
  title: string;
  /** Other names: phrases, separated by commas. */
  names: string;
  description: string;
}

const has = (words: readonly string[], query: readonly string[]): boolean => query.every((word) => words.includes(word));
/** True if the query's words begin these words. A single letter would begin too many. */
const begins = (words: readonly string[], query: readonly string[]): boolean =>
  query.every((word) => words.includes(word) || (word.length > 1 && words.some((other) => other.startsWith(word))));

const SCORES = {
  title: 100,
  name: 90,
  titleStart: 70,
  titleWords: 60,
  nameStart: 50,
  nameWords: 40,
  anyName: 30,
  beginning: 20,
  described: 10,
};

/** Score of an entry; 0 if it doesn't match. */
const scoreOf = ({ title, names, description }: Entry, query: readonly string[]): number => {
  const typed = query.join("");
  const titleWords = wordsOf(title);
  if (titleWords.join("") === typed) return SCORES.title;
  const phrases = names.split(",").map(wordsOf);
  if (phrases.some((phrase) => phrase.join("") === typed)) return SCORES.name;
  if (titleWords.join("").startsWith(typed)) return SCORES.titleStart;
  if (begins(titleWords, query)) return SCORES.titleWords;
  if (typed.length > 1 && phrases.some((phrase) => phrase.join("").startsWith(typed))) return SCORES.nameStart;
  if (phrases.some((phrase) => has(phrase, query))) return SCORES.nameWords;
  const searchWords = [...titleWords, ...phrases.flat()];
  if (has(searchWords, query)) return SCORES.anyName;
  if (begins(searchWords, query)) return SCORES.beginning;
  const described = [...searchWords, ...wordsOf(description)];
  return has(described, query) ? SCORES.described : begins(described, query) ? 1 : 0;
};

/** Search terms of a kind or of its operation, which only the palette loads. */
const searchWords = ({ type, id, data }: Kind): string => {
  const { operation } = data();
  const ofOperation = typeof operation === "string" ? OPERATION_WORDS[operation] : undefined;
  return ofOperation === undefined ? (KIND_WORDS[id] ?? type) : `${String(operation)}, ${ofOperation}`;
};

/** Text for a model in the palette. */
export type DescribeModel = (model: Model, kind: Kind) => string;

/** The matching kinds and models, best first. Without a query, all kinds in their order. */
export const searchChoices = (query: string, kinds: readonly Kind[], models: readonly Model[], describe: DescribeModel): Choice[] => {
  const typed = readings(query);
  const ofKinds = kinds.map((kind): [Choice, Entry] => [
    { key: `${kind.type} ${kind.title}`, kind, title: kind.title, description: kind.description },
    { title: kind.title, names: searchWords(kind), description: kind.description },
  ]);
  if (typed[0]!.length === 0) return ofKinds.map(([choice]) => choice);
  const ofModels = kinds.flatMap((kind) =>
    models
      .filter(({ enabled, modality }) => kind.modality !== undefined && enabled && modality === kind.modality)
      .map((model): [Choice, Entry] => [
        { key: model.internalName, kind, title: model.displayName, description: describe(model, kind), model: model.internalName },
        { title: model.displayName, names: `${model.internalName}, ${modelWords(model.internalName)}`, description: model.description },
      ]),
  );
  return [...ofKinds, ...ofModels]
    .map(([choice, entry]) => ({ choice, score: Math.max(...typed.map((words) => scoreOf(entry, words))) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ choice }) => choice);
};
