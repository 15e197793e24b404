/** Finds the values of a result that a test is about. */
import { evaluate, parseExpression } from "../graph/jmespath";
import type { RunBudget } from "../graph/budget";
import { isRecord } from "../graph/types";
import type { Expectation } from "./types";

/** The URL of a file in a result; undefined for other values. */
export const addressIn = (value: unknown): string | undefined => (isRecord(value) && typeof value.url === "string" ? value.url : undefined);

/** Returns the only member of a result, or the whole result if it has several members. */
const onlyMember = (result: unknown): unknown => {
  const members = isRecord(result) ? Object.values(result) : [];
  return members.length === 1 ? members[0] : result;
};

/** @throws BindError if the path takes too much work */
export const valueAt = ({ path }: Pick<Expectation, "path">, result: unknown, budget: RunBudget): unknown =>
  path === undefined ? onlyMember(result) : evaluate(parseExpression(path), result ?? null, budget);

/** The value, or its elements if it is a list. */
export const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
