import { createRandom, seedOf, type Random } from "./render/random";

const TOPIC_CHARACTERS = 160;
const MAX_KEYWORDS = 5;
const MIN_KEYWORD_CHARACTERS = 4;
const CHARACTERS_PER_TOKEN = 4;
const MOST_NUMBER = 99;

const STYLES = ["a painterly style", "a documentary style", "a clean graphic style", "a cinematic style", "a hand-drawn style"] as const;
const LIGHTS = ["soft morning light", "a low golden sun", "cool window light", "bright studio light", "the glow after sunset"] as const;
const FRAMINGS = [
  "seen from nearby",
  "framed wide",
  "seen from slightly above",
  "centred with room around it",
  "in a long, slow view",
] as const;
const MOODS = ["calm", "playful", "hopeful", "quietly dramatic", "curious"] as const;
const DETAILS = [
  "stands in front and keeps its natural texture",
  "gives the composition its rhythm",
  "returns as a small accent in the background",
  "sets the colours for everything around it",
  "leads the eye from left to right",
] as const;

/** Estimates the number of tokens, with four characters per token. */
export const tokensOf = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_TOKEN);

export const cutToTokens = (text: string, tokens: number): string => {
  if (tokensOf(text) <= tokens) return text;
  // Removes half a surrogate pair at the cut.
  return text.slice(0, tokens * CHARACTERS_PER_TOKEN).replace(/[\uD800-\uDBFF]$/, "");
};

const keywordsOf = (text: string): string[] => {
  const words = text.toLowerCase().match(/[\p{L}\p{N}-]+/gu) ?? [];
  return [...new Set(words.filter((word) => word.length >= MIN_KEYWORD_CHARACTERS))].slice(0, MAX_KEYWORDS);
};

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const topicOf = (prompt: string, most: number): string =>
  prompt
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, most)
    .replace(/[\uD800-\uDBFF]$|(?<![.!?…])[.!?…]+$/g, "") || "an open subject";

const PHRASE_CHARACTERS = 60;

export const composePhrase = (prompt: string, random: Random): string =>
  `${topicOf(prompt, PHRASE_CHARACTERS)}, ${random.pick(FRAMINGS)}, in ${random.pick(LIGHTS)}`;

export const composeTitle = (prompt: string, random: Random): string => {
  const [first = "scene", ...others] = keywordsOf(prompt);
  const word = random.pick([first, ...others]);
  return `${random.pick(MOODS)} ${word} ${1 + random.below(MOST_NUMBER)}`;
};

/** Generates a short description with words of the prompt. The prompt and the context fully determine the result. */
export const composeReply = (prompt: string, context: readonly (string | number | undefined)[]): string => {
  const random = createRandom(seedOf(prompt, ...context));
  const topic = topicOf(prompt, TOPIC_CHARACTERS);
  const opening = `${topic}, in ${random.pick(STYLES)} and ${random.pick(LIGHTS)}, ${random.pick(FRAMINGS)}`;
  const details = keywordsOf(prompt).map((word) => sentence(`“${word}” ${random.pick(DETAILS)}`));
  return ["[sandbox]", sentence(opening), ...details, sentence(`the mood is ${random.pick(MOODS)}`)].join(" ");
};
