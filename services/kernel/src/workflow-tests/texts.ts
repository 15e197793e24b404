/** Compares texts with expectations, within a budget of work. */
import { charactersOfWork, type RunBudget } from "../graph/budget";
import { patternOf, workOfMatch } from "../graph/json-schema/pattern";

export const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? null));

export const matches = (source: string, value: unknown, budget: RunBudget): boolean => {
  const pattern = patternOf(source);
  if (typeof pattern === "string") return false;
  const text = textOf(value);
  budget.work(workOfMatch(pattern, text));
  return pattern.test(text);
};

/** True if a text contains a part, or if a list has it as an element. */
export const contains = (part: string, value: unknown, budget: RunBudget): boolean => {
  if (Array.isArray(value) && value.some((element) => element === part)) return true;
  const text = textOf(value);
  budget.work(charactersOfWork(text.length));
  return text.includes(part);
};

/** Lowercase words with single spaces, because recognized text differs in case and line breaks. */
export const normalized = (text: string): string => text.toLowerCase().replace(/\s+/g, " ").trim();
