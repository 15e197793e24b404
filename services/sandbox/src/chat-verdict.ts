/** Verdicts of the sandbox as a judge of tests. It looks for words, so that equal results get equal verdicts. */
import { isRecord, type JsonSchema } from "@nodeloom/kernel";

const VERDICT = "Verdict";
const QUOTED = /["“]([^"“”\n]+)["”]/g;
const WORD = /[\p{L}\p{N}-]{4,}/gu;
const [LOWEST, HIGHEST] = [1, 5];
const UNDECIDED = 3;

const partOf = (prompt: string, tag: string): string => {
  const start = prompt.indexOf(`<${tag}>`);
  const end = prompt.indexOf(`</${tag}>`, start);
  return start < 0 || end < 0 ? "" : prompt.slice(start + tag.length + 2, end).toLowerCase();
};

const shareIn = (text: string, words: readonly string[]): number => words.filter((word) => text.includes(word)).length / words.length;

/** The share of the rubric's quoted words that the result has, from 1 to 5. A rubric without quotes gets 3. */
const score = (prompt: string): object => {
  const words = [...partOf(prompt, "rubric").matchAll(QUOTED)].map(([, word]) => word!);
  if (words.length === 0) return { reason: "The rubric quotes no words to look for.", score: UNDECIDED };
  const result = partOf(prompt, "result");
  const missing = words.filter((word) => !result.includes(word));
  const points = LOWEST + Math.round((HIGHEST - LOWEST) * shareIn(result, words));
  return { reason: missing.length === 0 ? "It has all quoted words." : `It lacks ${missing.join(", ")}.`, score: points };
};

/** The result with more words of the inputs is better. */
const compare = (prompt: string): object => {
  const words = [...new Set(partOf(prompt, "inputs").match(WORD) ?? [])];
  const [first, second] = ["first", "second"].map((tag) => (words.length === 0 ? 0 : shareIn(partOf(prompt, tag), words))) as [
    number,
    number,
  ];
  if (first === second) return { reason: "Both have the same words of the inputs.", better: "equal" };
  return { reason: "It has more words of the inputs.", better: first > second ? "first" : "second" };
};

/** @returns the verdict as JSON; undefined if the schema asks for no verdict */
export const composeVerdict = (prompt: string, { title, properties }: JsonSchema): string | undefined => {
  if (title !== VERDICT || !isRecord(properties)) return undefined;
  return JSON.stringify("score" in properties ? score(prompt) : compare(prompt));
};
