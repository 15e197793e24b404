import { LIMITS } from "../../limits";
import { GRAPH_BOUNDS } from "../bounds";
import { BindError, charactersOfWork } from "../budget";
import { evaluate, expressionProblem, parseExpression, shapeOf, type Expression } from "../jmespath";
import { withoutAbsent } from "../values/absent";
import { hasInfinite, parseJsonText } from "../values/json-text";
import { UNKNOWN, type Shape } from "../values/shape";
import { isKnown, type Bounds } from "../plan/abstract";
import { abstractSources, type Planner } from "../plan/planner";
import type { ItemBounds } from "../plan/plan-step";
import { NOTHING_PLANNED } from "../plan/plan-types";
import { planPure } from "../plan/pure-plan";
import { finding } from "../../issues";
import type { GraphNode } from "../types";
import type { NodeKind } from "./kind";

const WHOLE: Expression = { type: "current" };

const read = (expression: unknown): Expression =>
  typeof expression === "string" && expression.trim() !== "" ? parseExpression(expression) : WHOLE;

const settingProblems = (expression: unknown): string[] => {
  if (expression === undefined || expression === null) return [];
  if (typeof expression !== "string") return ["expression: must be text"];
  const problem = expression.trim() === "" ? undefined : expressionProblem(expression);
  return problem === undefined ? [] : [`expression: ${problem}`];
};

/** Caches the last expression, because a step usually evaluates the same expression for each item. */
let latest: { text: unknown; expression: Expression } = { text: "", expression: WHOLE };
const compiled = (text: unknown): Expression => {
  if (latest.text !== text) latest = { text, expression: read(text) };
  return latest.expression;
};

/** The input's shape, to the extent that a schema defines it. A text can contain any JSON. */
const givenShape = (planner: Planner, node: GraphNode): Shape => {
  const [source, ...others] = abstractSources(planner, node, "value");
  if (!source || isKnown(source) || others.length > 0) return UNKNOWN;
  return source.shape === undefined || source.shape.kind === "plain" ? UNKNOWN : source.shape;
};

/** Bounds of the expression's result. A list without a known bound can have as many items as a node can run. */
const outputBounds = (valueShape: Shape, expression: Expression, { items }: ItemBounds): Bounds => {
  const shape = shapeOf(expression, valueShape);
  const rest = { tokens: LIMITS.textValueBytes, shape };
  if (shape.kind === "plain" || shape.kind === "object") return { list: false, items, most: 1, ...rest };
  // A value that can be missing still counts as one.
  const [least, most] = shape.kind === "list" ? [shape.least, shape.isThere ? shape.most : Math.max(1, shape.most)] : [0, Infinity];
  const bounded = (count: number): number => Math.min(GRAPH_BOUNDS.listItems, count);
  return { list: true, items: Math.min(bounded(Math.max(items, least)), bounded(most)), most: bounded(most), ...rest };
};

export const json: NodeKind = {
  type: "json",
  summary: "Picks and reshapes JSON with a JMESPath expression. If the result is a list, the next node runs once for each item.",
  settings: {
    expression: { type: "string", description: "JMESPath. If empty, the whole value." },
    value: { description: "JSON, or text that is JSON. A connected value wins." },
  },
  calls: null,
  runs: true,
  code: "expression",
  inputs: () => new Map([["value", { type: "any", list: true }]]),
  outputs: () => new Map([["value", "any"]]),
  defaultInput: () => "value",
  check: ({ data }) => settingProblems(data.expression),
  plan: (planner, node) => {
    const isConnected = planner.wiring.inputs.get(node.id)?.has("value") ?? false;
    if (!isConnected && node.data.value === undefined) planner.issues.push({ nodeId: node.id, ...finding("VALUE_MISSING") });
    if (settingProblems(node.data.expression).length > 0) return NOTHING_PLANNED;
    return planPure(planner, json, node, (bounds) => outputBounds(givenShape(planner, node), compiled(node.data.expression), bounds));
  },
  evaluate: (literals, item, budget) => {
    const jsonValue = withoutAbsent(item.value) ?? literals.value ?? null;
    const parsed = typeof jsonValue === "string" ? parseJsonText(jsonValue) : { value: jsonValue };
    if (!parsed) throw new BindError("value: is text, but not JSON");
    if (typeof jsonValue === "string") {
      budget.work(charactersOfWork(jsonValue.length));
      if (hasInfinite(parsed.value)) throw new BindError("value: has a number that is too large");
    }
    return budget.value(evaluate(compiled(literals.expression), parsed.value, budget));
  },
  savedResult: ({ data }, _port, item, budget) => {
    return (item.value ?? data.value) === undefined ? undefined : json.evaluate!(data, item, budget);
  },
  savedCount: () => 1,
  savedOpen: () => true,
};
