import { ONE_LINE, ONE_LINE_FORM } from "../../limits";
import { GRAPH_BOUNDS } from "../bounds";
import { charactersOfWork, type RunBudget } from "../budget";
import { patternOf, workOfMatch } from "../json-schema/pattern";
import { isKnown, joined } from "../plan/abstract";
import { longTexts } from "../plan/check-texts";
import { abstractSources } from "../plan/planner";
import { NOTHING_PLANNED } from "../plan/plan-types";
import { planPure } from "../plan/pure-plan";
import { isRecord } from "../types";
import { shownName } from "../../text/shown-name";
import { asText, fill, placed, placeholderAlone, placeholders, placeholdersIn } from "../values/value";
import { ABSENT, withoutAbsent } from "../values/absent";
import { namedPorts } from "../wiring/ports";
import type { NodeKind } from "./kind";

/** The port for values that match no case. */
export const ELSE_PORT = "else";

export const SWITCH_BOUNDS = { cases: 20, nameChars: 80 } as const;

const number = (value: unknown): number => (asText(value).trim() === "" ? NaN : Number(asText(value)));

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === "string" && value.trim() === "") ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.keys(value).length === 0);

const matches = (left: string, source: string, budget: RunBudget): boolean => {
  const pattern = patternOf(source);
  if (typeof pattern === "string") return false;
  budget.work(workOfMatch(pattern, left));
  return pattern.test(left);
};

/** Tests one case. `left` is the raw value if it is a single placeholder; `right` is always text. */
type Test = (left: unknown, right: string, budget: RunBudget) => boolean;

/** Tests by operator. A value that isn't a number is neither greater nor less. An invalid pattern matches nothing. */
const OPERATORS: Readonly<Record<string, Test>> = {
  equals: (left, right) => asText(left) === right,
  notEquals: (left, right) => asText(left) !== right,
  contains: (left, right) => (Array.isArray(left) ? left.some((item) => asText(item) === right) : asText(left).includes(right)),
  matches: (left, right, budget) => matches(asText(left), right, budget),
  greater: (left, right) => number(left) > number(right),
  less: (left, right) => number(left) < number(right),
  exists: (left) => left !== undefined && left !== null && left !== "",
  empty: isEmpty,
};
const NAMES = Object.keys(OPERATORS);
/** Operators without a right side. */
const UNARY: ReadonlySet<unknown> = new Set(["exists", "empty"]);

interface Case {
  name: string;
  left: string;
  op: string;
  right: string;
}

const records = (cases: unknown): Record<string, unknown>[] =>
  Array.isArray(cases) ? cases.slice(0, SWITCH_BOUNDS.cases).filter(isRecord) : [];

const readCases = (cases: unknown): Case[] =>
  records(cases).map(({ name, left, op, right }) => ({ name: asText(name), left: asText(left), op: asText(op), right: asText(right) }));

const namesIn = (cases: unknown): string[] => placeholdersIn(readCases(cases).flatMap(({ left, right }) => [left, right]));

const isName = (name: unknown): name is string =>
  typeof name === "string" && name.trim() !== "" && name.length <= SWITCH_BOUNDS.nameChars && name !== ELSE_PORT;

const patternProblem = (right: unknown): string[] => {
  if (typeof right !== "string" || placeholders(right).length > 0) return [];
  const pattern = patternOf(right);
  return typeof pattern === "string" ? [`.right: ${pattern}`] : [];
};

const caseProblems = (caseValue: unknown): string[] => {
  if (!isRecord(caseValue)) return [": must be an object with name, left, op and right"];
  const { name, left, op, right } = caseValue;
  const isText = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value);
  return [
    ...(isName(name) ? [] : [`.name: must be text of 1 to ${SWITCH_BOUNDS.nameChars} characters other than "${ELSE_PORT}"`]),
    ...(typeof name !== "string" || ONE_LINE.test(name) ? [] : [`.name: ${ONE_LINE_FORM}`]),
    ...(isText(left) ? [] : [".left: must be text"]),
    ...(typeof op === "string" && Object.hasOwn(OPERATORS, op) ? [] : [`.op: must be one of ${NAMES.join(", ")}`]),
    ...(isText(right) || UNARY.has(op) ? [] : [".right: must be text"]),
    ...(op === "matches" ? patternProblem(right) : []),
  ];
};

const casesProblems = (cases: unknown): string[] => {
  if (!Array.isArray(cases) || cases.length === 0) return ["cases: must be a list of at least one case"];
  if (cases.length > SWITCH_BOUNDS.cases) return [`cases: there are ${cases.length}, at most ${SWITCH_BOUNDS.cases} are allowed`];
  const names = readCases(cases).map(({ name }) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...cases.flatMap((one, index) => caseProblems(one).map((problem) => `cases[${index}]${problem}`)),
    ...[...new Set(twice)].map((name) => `cases: two are named ${shownName(name)}`),
    ...longTexts(cases, "cases"),
  ];
};

/** True if a case applies. @throws BoundPassed, or BindError if a filled text is too large */
const holds = ({ left, op, right }: Case, item: Readonly<Record<string, unknown>>, budget: RunBudget): boolean => {
  const alone = placeholderAlone(left);
  const value = withoutAbsent(alone === undefined ? fill(left, (name) => placed(item, name), budget) : placed(item, alone));
  budget.work(1 + charactersOfWork(typeof value === "string" ? value.length : 0));
  return OPERATORS[op]!(
    value,
    fill(right, (name) => placed(item, name), budget),
    budget,
  );
};

export const switchKind: NodeKind = {
  type: "switch",
  summary: "Passes a value to the first case that is true. Nodes behind the other cases are skipped and cost nothing.",
  settings: {
    cases: {
      type: "array",
      maxItems: SWITCH_BOUNDS.cases,
      description: "Cases, in order. The first that is true decides. If none is, the value leaves by `else`.",
      items: {
        type: "object",
        required: ["name", "left", "op"],
        properties: {
          name: { type: "string", description: "The name of its output port." },
          left: { type: "string", description: "The value to compare, with {{placeholders}}." },
          op: { enum: NAMES },
          right: {
            type: "string",
            description: "The value to compare it with, with {{placeholders}}. For `matches`, a pattern in RE2's syntax.",
          },
        },
      },
    },
    value: { description: "The value to pass on. A connected value wins." },
  },
  calls: null,
  runs: true,
  inputs: ({ data: { cases } }) =>
    new Map([
      ...namedPorts(namesIn(cases), "any").map(([name, port]): [string, typeof port] => [name, { ...port, list: true }]),
      ["value", { type: "any", list: true }],
    ]),
  outputs: ({ data: { cases } }) =>
    new Map([
      ...readCases(cases)
        .filter(({ name }) => isName(name))
        .map(({ name }): [string, "any"] => [name, "any"]),
      [ELSE_PORT, "any"],
    ]),
  defaultInput: () => "value",
  check: ({ data: { cases } }) => casesProblems(cases),
  plan: (planner, node) => {
    if (casesProblems(node.data.cases).length > 0) return NOTHING_PLANNED;
    const { list, items, most, tokens } = joined(abstractSources(planner, node, "value"));
    const [source, ...others] = abstractSources(planner, node, "value");
    const shape = source && !isKnown(source) && others.length === 0 ? source.shape : undefined;
    return planPure(planner, switchKind, node, () => ({
      list,
      items,
      most: Math.min(most, GRAPH_BOUNDS.listItems),
      tokens,
      ...(shape ? { shape } : {}),
    }));
  },
  evaluate: (literals, item, budget) => budget.value(item.value ?? literals.value ?? null),
  route: {
    port: ({ cases }, item, budget) => readCases(cases).find((one) => holds(one, item, budget))?.name ?? ELSE_PORT,
    ports: ({ cases }) => namesIn(cases),
  },
  savedResult: (node, port, item, budget) => {
    const takenPort = switchKind.route!.port(node.data, item, budget);
    return takenPort === (port ?? [...switchKind.outputs(node).keys()][0]) ? switchKind.evaluate!(node.data, item, budget) : ABSENT;
  },
};
