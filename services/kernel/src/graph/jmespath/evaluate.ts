import { BindError, elementsOfWork, type RunBudget } from "../budget";
import { isRecord } from "../types";
import { FUNCTIONS, type Argument } from "./functions";
import type { Comparator, Expression } from "./parse";
import { equal } from "./values";

const isFalse = (value: unknown): boolean =>
  value === null ||
  value === false ||
  value === "" ||
  (Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0);

const compared = (by: Comparator, left: unknown, right: unknown, budget: RunBudget): unknown => {
  if (by === "==") return equal(left, right, budget);
  if (by === "!=") return !equal(left, right, budget);
  if (typeof left !== "number" || typeof right !== "number") return null;
  return { "<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right }[by];
};

const sliced = (list: readonly unknown[], start: number | null, stop: number | null, step: number): unknown[] => {
  const { length } = list;
  const within = (at: number, low: number, high: number): number => Math.min(Math.max(at < 0 ? at + length : at, low), high);
  const [low, high] = step > 0 ? [0, length] : [-1, length - 1];
  const [first, last] = [
    within(start ?? (step > 0 ? 0 : length - 1), low, high),
    stop === null ? (step > 0 ? length : -1) : within(stop, low, high),
  ];
  const slice: unknown[] = [];
  for (let at = first; step > 0 ? at < last : at > last; at += step) slice.push(list[at]);
  return slice;
};

const flat = (list: readonly unknown[]): unknown[] => list.flatMap((item) => (Array.isArray(item) ? (item as unknown[]) : [item]));

/** Elements that a projection iterates over; null if the value has none. */
const elementsOf = (of: "list" | "object" | "flatten" | "slice", value: unknown): unknown[] | null => {
  if (of === "object") return isRecord(value) ? Object.values(value) : null;
  if (!Array.isArray(value)) return null;
  return of === "flatten" ? flat(value) : (value as unknown[]);
};

/**
 * Evaluates an expression. Every step counts against the budget.
 * @throws BindError if a function gets an argument of the wrong type
 */
export const evaluate = (expression: Expression, value: unknown, budget: RunBudget): unknown => {
  const each = (elements: readonly unknown[] | null, right: Expression): unknown => {
    if (!elements) return null;
    budget.work(elementsOfWork(elements.length));
    return elements.map((element) => visit(right, element)).filter((item) => item !== null);
  };

  const argument = (argumentNode: Expression, current: unknown): Argument =>
    argumentNode.type === "reference" ? { apply: (item) => visit(argumentNode.to, item) } : { value: visit(argumentNode, current) };

  const called = (name: string, argumentNodes: readonly Expression[], current: unknown): unknown => {
    const implementation = FUNCTIONS.get(name);
    if (!implementation) throw new BindError(`expression: there is no function ${name}()`);
    return implementation(
      argumentNodes.map((one) => argument(one, current)),
      budget,
    );
  };

  const visit = (node: Expression, current: unknown): unknown => {
    budget.work(1);
    switch (node.type) {
      case "current":
        return current;
      case "field":
        return isRecord(current) && Object.hasOwn(current, node.name) ? (current[node.name] ?? null) : null;
      case "index":
        return Array.isArray(current) ? ((current.at(node.index) as unknown) ?? null) : null;
      case "slice":
        return Array.isArray(current) ? sliced(current, node.start, node.stop, node.step ?? 1) : null;
      case "literal":
        return node.value;
      case "then":
        return visit(node.right, visit(node.left, current));
      case "project":
        return each(elementsOf(node.of, visit(node.left, current)), node.right);
      case "filter": {
        const list = visit(node.left, current);
        if (!Array.isArray(list)) return null;
        return each(
          list.filter((element) => !isFalse(visit(node.condition, element))),
          node.right,
        );
      }
      case "or": {
        const left = visit(node.left, current);
        return isFalse(left) ? visit(node.right, current) : left;
      }
      case "and": {
        const left = visit(node.left, current);
        return isFalse(left) ? left : visit(node.right, current);
      }
      case "not":
        return isFalse(visit(node.of, current));
      case "compare":
        return compared(node.by, visit(node.left, current), visit(node.right, current), budget);
      case "list":
        return current === null ? null : node.elements.map((element) => visit(element, current));
      case "object":
        return current === null ? null : Object.fromEntries(node.members.map(([name, member]) => [name, visit(member, current)]));
      case "call":
        return called(node.name, node.arguments, current);
      case "reference":
        throw new BindError("expression: & is allowed only before an argument of a function");
    }
  };

  return visit(expression, value ?? null);
};
