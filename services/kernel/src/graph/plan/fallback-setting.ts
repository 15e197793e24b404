import { LIMITS } from "../../limits";
import { taskOf } from "../auto/tasks";
import { shownName, type GraphNode } from "../types";

/** `fallback` of a node: the models that are called in their order where its own fails. */

/** The models that a node names; none where it says nothing, or what is no list of names. */
export const fallbackNames = ({ data: { fallback } }: GraphNode): string[] =>
  Array.isArray(fallback) ? fallback.filter((name): name is string => typeof name === "string" && taskOf(name) === undefined) : [];

/** Whether a node says itself what comes in its model's place, if only that nothing does. */
export const namesFallback = ({ data: { fallback } }: GraphNode): boolean => Array.isArray(fallback);

/** What is wrong with a list of models that come in the place of another. A model in its own place would be a cycle. */
export const fallbackListProblems = (fallback: unknown, model: unknown): string[] => {
  if (fallback === undefined || fallback === null) return [];
  if (!Array.isArray(fallback) || !fallback.every((name) => typeof name === "string" && name !== ""))
    return ["must be a list of models' names"];
  if (fallback.length > LIMITS.fallbackModels) return [`names ${fallback.length} models, at most ${LIMITS.fallbackModels} are allowed`];
  const task = (fallback as string[]).find((name) => taskOf(name) !== undefined);
  if (task !== undefined) return [`${shownName(task)} is a task; only models can be named here`];
  if (fallback.includes(model)) return [`${shownName(String(model))} can't come in its own place`];
  const twice = (fallback as string[]).find((name, index) => fallback.indexOf(name) !== index);
  return twice === undefined ? [] : [`names ${shownName(twice)} twice`];
};

export const fallbackProblems = ({ data: { fallback, model } }: GraphNode): string[] =>
  fallbackListProblems(fallback, model).map((problem) => `fallback: ${problem}`);
