/** Checks of single members of a test. */
import type { Issue } from "../errors";
import { patternOf } from "../graph/json-schema/pattern";
import { isRecord } from "../graph/types";
import { shownName } from "../text/shown-name";
import { didYouMean } from "../text/nearest-name";

export const problemAt = (path: string, message: string | undefined): Issue[] => (message === undefined ? [] : [{ path, message }]);

export const unknownMembers = (value: object, knownMembers: readonly string[], path: string): Issue[] =>
  Object.keys(value)
    .filter((name) => !knownMembers.includes(name))
    .map((name) => ({
      path: `${path}.${shownName(name)}`,
      message: `is not known${didYouMean(name, knownMembers) || `: use ${knownMembers.join(", ")}`}`,
    }));

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
export const isCount = (value: unknown): value is number => isNumber(value) && value >= 0;

export const textProblem = (value: unknown): string | undefined =>
  typeof value !== "string" || value === "" ? "must be text that is not empty" : undefined;

export const patternProblem = (value: unknown): string | undefined => {
  const problem = textProblem(value);
  if (problem) return problem;
  const pattern = patternOf(value as string);
  return typeof pattern === "string" ? pattern : undefined;
};

/** @param isSigned true if the numbers can be negative */
export const rangeProblem = (value: unknown, isSigned = false): string | undefined => {
  const isBound = isSigned ? isNumber : isCount;
  if (isBound(value)) return undefined;
  const bounds = isRecord(value) ? Object.entries(value) : [];
  const isRange = bounds.length > 0 && bounds.every(([name, bound]) => (name === "min" || name === "max") && isBound(bound));
  if (!isRange) return `must be a number${isSigned ? "" : " that is not negative"}, or an object of min and max`;
  const { min = -Infinity, max = Infinity } = value as { min?: number; max?: number };
  return min > max ? "has a min above its max" : undefined;
};
