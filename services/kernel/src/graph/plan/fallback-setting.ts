import { LIMITS } from "../../limits";
import { taskOf } from "../auto/tasks";
import type { GraphNode } from "../types";
import { shownName } from "../../text/shown-name";

/** The setting `fallback` lists models that are called in order if the node's own model fails. */

/** @returns an empty list if the setting is missing or invalid */
export const fallbackNames = ({ data: { fallback } }: GraphNode): string[] =>
  Array.isArray(fallback) ? fallback.filter((name): name is string => typeof name === "string" && taskOf(name) === undefined) : [];

/** True if the node overrides the administrators' fallback. An empty list also overrides it. */
export const namesFallback = ({ data: { fallback } }: GraphNode): boolean => Array.isArray(fallback);

/** Problems of a fallback list. The node's own model isn't allowed in it, because that would be a cycle. */
export const fallbackListProblems = (fallback: unknown, model: unknown): string[] => {
  if (fallback === undefined || fallback === null) return [];
  if (!Array.isArray(fallback) || !fallback.every((name) => typeof name === "string" && name !== ""))
    return ["must be a list of models' names"];
  if (fallback.length > LIMITS.fallbackModels) return [`names ${fallback.length} models, at most ${LIMITS.fallbackModels} are allowed`];
  const task = (fallback as string[]).find((name) => taskOf(name) !== undefined);
  if (task !== undefined) return [`${shownName(task)} is a task; only models can be named here`];
  if (fallback.includes(model)) return [`${shownName(String(model))} can't be its own fallback`];
  const twice = (fallback as string[]).find((name, index) => fallback.indexOf(name) !== index);
  return twice === undefined ? [] : [`names ${shownName(twice)} twice`];
};

export const fallbackProblems = ({ data: { fallback, model } }: GraphNode): string[] =>
  fallbackListProblems(fallback, model).map((problem) => `fallback: ${problem}`);
