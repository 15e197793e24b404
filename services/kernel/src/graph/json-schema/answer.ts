import { endOfValue } from "../../text/json-text";
import { LIMITS } from "../../limits";
import { textBytes } from "../bounds";
import { BoundPassed, charactersOfWork, createBudget } from "../budget";
import { parseJsonText } from "../values/json-text";
import type { JsonSchema } from "../prices/price";
import { schemaViolations } from "./validate";

/** Work allowed for checking one answer, about 50 ms. */
export const ANSWER_WORK = 30_000;

/** The tag that ends a model's reasoning. The answer follows. */
const THOUGHTS_END = /<\/(?:think|thinking|thought|reasoning)>/gi;
const THOUGHTS_BEGIN = /^<(?:think|thinking|thought|reasoning)>/i;
const FENCE = "```";
const OPENING = /[[{]/;
/** Maximum JSON candidates that are tried in prose. */
const MOST_VALUES = 20;

/** Returns the answer without its reasoning, or undefined if the reasoning never ends. */
const withoutThoughts = (text: string): string | undefined => {
  const end = [...text.matchAll(THOUGHTS_END)].at(-1);
  if (end) return text.slice(end.index + end[0].length).trim();
  return THOUGHTS_BEGIN.test(text) ? undefined : text;
};

/** Contents of Markdown code blocks. */
const fenced = (text: string): string[] =>
  text.split(FENCE).flatMap((part, index) => (index % 2 === 0 ? [] : [part.slice(part.indexOf("\n") + 1)]));

/** Objects and lists within prose. A value inside a truncated value is never the answer. */
const inProse = (text: string): string[] => {
  const texts: string[] = [];
  for (let at = text.search(OPENING); at >= 0 && texts.length < MOST_VALUES;) {
    const end = endOfValue(text, at);
    texts.push(text.slice(at, end));
    const next = text.slice(end).search(OPENING);
    at = next < 0 ? next : end + next;
  }
  return texts;
};

/**
 * JSON candidates in an answer, the most likely first: the whole text, then the text without reasoning, code fences and surrounding prose.
 */
export const jsonInAnswer = (text: string): { value: unknown }[] => {
  const whole = text.trim();
  const rest = withoutThoughts(whole);
  const read = (texts: readonly string[]): { value: unknown }[] => texts.flatMap((one) => parseJsonText(one.trim()) ?? []);
  const plain = read([whole, ...(rest === undefined || rest === whole ? [] : [rest])]);
  return plain.length > 0 || rest === undefined ? plain.slice(0, 1) : read([...fenced(rest).slice(0, MOST_VALUES), ...inProse(rest)]);
};

export type ReadAnswer = { value: unknown } | { problems: string[] };

/** Reads a model's answer as JSON and checks it against a schema. */
export const readAnswer = (text: string, schema: JsonSchema): ReadAnswer => {
  if (textBytes(text) > LIMITS.textValueBytes) return { problems: [`it is longer than ${LIMITS.textValueBytes} bytes`] };
  const texts = jsonInAnswer(text);
  if (texts.length === 0) return { problems: ["it isn't JSON"] };
  const budget = createBudget({}, { valueBytes: Infinity, calls: Infinity, work: ANSWER_WORK });
  try {
    budget.work(charactersOfWork(text.length));
    let problems: string[] | undefined;
    for (const one of texts) {
      const issues = schemaViolations(schema, one.value, budget);
      if (issues.length === 0) return one;
      problems ??= issues.map(({ path, message }) => (path === "" ? `it ${message}` : `${path} ${message}`));
    }
    return { problems: problems! };
  } catch (error) {
    if (!(error instanceof BoundPassed)) throw error;
    return { problems: ["it takes too much work to check by its schema"] };
  }
};
