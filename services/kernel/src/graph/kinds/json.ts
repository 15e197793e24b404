import { LIMITS } from "../../limits";
import { BindError, charactersOfWork } from "../budget";
import { evaluate, ExpressionError, parseExpression, type Expression } from "../jmespath";
import { parseJsonText } from "../values/json-text";
import { NOTHING_PLANNED } from "../plan/plan-types";
import { planPure } from "../plan/pure-plan";
import type { NodeKind } from "./kind";

const WHOLE: Expression = { type: "current" };

const read = (expression: unknown): Expression =>
  typeof expression === "string" && expression.trim() !== "" ? parseExpression(expression) : WHOLE;

const expressionProblem = (expression: unknown): string[] => {
  if (expression === undefined || expression === null) return [];
  if (typeof expression !== "string") return ["expression: must be text"];
  try {
    read(expression);
    return [];
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return [`expression: ${error.message}`];
  }
};

/** Steps are most of one run; the last expression is usually the next one, too. */
let latest: { text: unknown; expression: Expression } = { text: "", expression: WHOLE };
const compiled = (text: unknown): Expression => {
  if (latest.text !== text) latest = { text, expression: read(text) };
  return latest.expression;
};

export const json: NodeKind = {
  type: "json",
  summary: "Picks and reshapes JSON with a JMESPath expression. A list fans out behind it.",
  settings: {
    expression: { type: "string", description: "JMESPath; empty: the whole value." },
    value: { description: "JSON, or text that is JSON; a connected value wins." },
  },
  calls: null,
  runs: true,
  inputs: () => new Map([["value", { type: "any", list: true }]]),
  outputs: () => new Map([["value", "any"]]),
  defaultInput: () => "value",
  check: ({ data }) => expressionProblem(data.expression),
  plan: (planner, node) => {
    const isConnected = planner.wiring.inputs.get(node.id)?.has("value") ?? false;
    if (!isConnected && node.data.value === undefined) planner.issues.push({ nodeId: node.id, message: "needs a value" });
    if (expressionProblem(node.data.expression).length > 0) return NOTHING_PLANNED;
    return planPure(planner, json, node, ({ items }) => ({
      list: true,
      items,
      most: LIMITS.fanOutItems,
      tokens: LIMITS.textValueBytes,
    }));
  },
  evaluate: (literals, item, budget) => {
    const given = item.value ?? literals.value ?? null;
    const parsed = typeof given === "string" ? parseJsonText(given) : { value: given };
    if (!parsed) throw new BindError("value: is text that is no JSON");
    if (typeof given === "string") budget.work(charactersOfWork(given.length));
    return budget.value(evaluate(compiled(literals.expression), parsed.value, budget));
  },
  savedCount: () => 1,
  savedOpen: () => true,
};
