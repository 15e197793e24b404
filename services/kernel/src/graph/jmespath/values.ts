import type { RunBudget } from "../budget";
import { isRecord } from "../types";

export type TypeName = "number" | "string" | "boolean" | "array" | "object" | "null";

export const typeOf = (value: unknown): TypeName => {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  return isRecord(value) ? "object" : (typeof value as "number" | "string" | "boolean");
};

/** True if two JSON values are equal, in any member order. Every comparison counts against the budget. */
export const equal = (left: unknown, right: unknown, budget: RunBudget): boolean => {
  budget.work(1);
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, index) => equal(item, right[index], budget));
  if (!isRecord(left) || !isRecord(right)) return false;
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && equal(left[name], right[name], budget))
  );
};
