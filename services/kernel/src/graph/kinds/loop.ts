import { BindError, type RunBudget } from "../budget";
import { evaluate, expressionProblem, parseExpression } from "../jmespath";
import { joined, type Abstract } from "../plan/abstract";
import { abstractSources, attempt, type Planner } from "../plan/planner";
import { buildStep, knownItems } from "../plan/plan-step";
import { NOTHING_PLANNED, type NodePlan } from "../plan/plan-types";
import { isRecord, type GraphNode, type LoopTurn, type PortType } from "../types";
import { shownName } from "../../text/shown-name";
import { withoutAbsent } from "../values/absent";
import { member } from "../values/value";
import type { InputPort } from "../wiring/ports";
import type { NodeKind, Outlets } from "./kind";
import { REFERENCE_SETTINGS, referenceProblems, seenPorts } from "./workflow";

export const LOOP_BOUNDS = { turns: 20 } as const;

/** The output with the number of turns, unless the workflow has a result member of this name. */
export const TURNS_PORT = "turns";

/** Has a value if the loop goes on after a turn. No result member has this name. */
export const GOES_ON_PORT = "\u0000goes-on";

const isCount = (count: unknown): count is number => Number.isInteger(count) && Number(count) >= 1 && Number(count) <= LOOP_BOUNDS.turns;

const untilProblems = (until: unknown): string[] => {
  if (until === undefined || until === null || until === "") return [];
  if (typeof until !== "string") return ["until: must be text"];
  const problem = expressionProblem(until);
  return problem === undefined ? [] : [`until: ${problem}`];
};

const feedbackProblems = (feedback: unknown): string[] => {
  if (feedback === undefined || feedback === null) return [];
  if (!isRecord(feedback)) return ["feedback: must be an object that names an input for each output"];
  const inputs = Object.values(feedback);
  const wrong = Object.keys(feedback).filter((output) => typeof feedback[output] !== "string" || feedback[output] === "");
  const twice = inputs.filter((input, index) => typeof input === "string" && inputs.indexOf(input) !== index) as string[];
  return [
    ...wrong.map((output) => `feedback.${shownName(output)}: must name an input`),
    ...[...new Set(twice)].map((input) => `feedback: two outputs feed the input ${shownName(input)}`),
  ];
};

const turnProblems = ({ data: { count, until, feedback } }: GraphNode): string[] => [
  ...(isCount(count) ? [] : [`count: must be a whole number from 1 to ${LOOP_BOUNDS.turns}`]),
  ...untilProblems(until),
  ...feedbackProblems(feedback),
];

export interface LoopSettings {
  count: number;
  /** Empty if every turn runs. */
  until: string;
  /** Inputs of the next turn, by output of a turn. */
  feedback: ReadonlyMap<string, string>;
}

/** @returns undefined if a setting is invalid */
export const loopSettings = (node: GraphNode): LoopSettings | undefined => {
  if (turnProblems(node).length > 0) return undefined;
  const { count, until, feedback } = node.data;
  const pairs = Object.entries(isRecord(feedback) ? feedback : {}) as [string, string][];
  return { count: count as number, until: typeof until === "string" ? until.trim() : "", feedback: new Map(pairs) };
};

const resultPorts = ({ number, ports }: LoopTurn): Map<string, PortType> =>
  number === 0 || ports.has(TURNS_PORT) ? new Map(ports) : new Map([...ports, [TURNS_PORT, "number"]]);

/** True if a turn is the last one. @throws BindError */
const isOver = (
  { until, turn, count }: Readonly<Record<string, unknown>>,
  values: Readonly<Record<string, unknown>>,
  budget: RunBudget,
): boolean => {
  if (turn === count) return true;
  if (until === "" || turn === 0) return false;
  try {
    return evaluate(parseExpression(until as string), values, budget) === true;
  } catch (error) {
    // A bound that is passed keeps its own message.
    if (error instanceof BindError && error.constructor === BindError) throw new BindError(`until: ${error.message}`);
    throw error;
  }
};

const outlets: NonNullable<NodeKind["outlets"]> = (literals, item, budget): Outlets => {
  const { turn, names } = literals as { turn: number; names: readonly string[] };
  if (turn === 0) return { values: {}, carrying: [GOES_ON_PORT] };
  const present = names.filter((name) => Object.hasOwn(item, name));
  const values = { [TURNS_PORT]: turn, ...Object.fromEntries(present.map((name) => [name, member(item, name)])) };
  const readable = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, withoutAbsent(value) ?? null]));
  if (!isOver(literals, readable, budget)) return { values, carrying: [GOES_ON_PORT] };
  return { values: budget.value(values), carrying: Object.keys(values) };
};

/** Bounds or value of a result member, with its shape if it is known. */
const resultOf = (planner: Planner, node: GraphNode, port: string): Abstract => {
  const [first, ...others] = abstractSources(planner, node, port);
  return first && others.length === 0 && !("value" in first) ? first : joined(abstractSources(planner, node, port));
};

const planTurn = (planner: Planner, node: GraphNode, { number, count, until, ports, nodes }: LoopTurn): NodePlan => {
  const plain = buildStep(planner, loop, node);
  const inputs = [...(planner.wiring.inputs.get(node.id)?.keys() ?? [])];
  const after = nodes.filter((id) => planner.running.has(id));
  const literals = { turn: number, count, until, names: inputs };
  const step = { ...plain, literals, ...(after.length > 0 ? { after } : {}) };
  const all = [...resultPorts({ number, count, until, ports, nodes }).keys(), GOES_ON_PORT];
  const bound = knownItems(planner, node, step);
  // The end of a turn is decided now only if the turn certainly runs and none of its nodes runs later.
  const isKnown = bound.complete && !bound.failed && after.length === 0 && !(node.gate !== undefined && planner.mayBeEmpty.has(node.gate));
  if (!isKnown) {
    const turns: Abstract = { list: false, items: 1, most: 1, tokens: String(count).length };
    const outputs = new Map([[TURNS_PORT, turns], ...inputs.map((port): [string, Abstract] => [port, resultOf(planner, node, port)])]);
    // A result member without an edge gets no value in this turn, for example behind a switch that took another path.
    const emptyPorts = all.filter((port) => port !== GOES_ON_PORT && !outputs.has(port));
    return { step, outputs, emptyPorts, isUndecided: until !== "" && number > 0 && number < count };
  }
  const outcome = attempt(planner, node.id, () => outlets(literals, bound.items[0] ?? {}, planner.budget));
  if (!outcome) return NOTHING_PLANNED;
  const { values, carrying } = outcome;
  const outputs = new Map(carrying.map((port): [string, Abstract] => [port, { value: member(values, port) }]));
  return { isEvaluated: true, outputs, emptyPorts: all.filter((port) => !carrying.includes(port)) };
};

const anyValue: InputPort = { type: "any", list: true };

/** A loop is replaced by the nodes of its turns before planning, with one node of this kind at the end of each turn; see inline/. */
export const loop: NodeKind = {
  type: "loop",
  summary: "Runs another workflow several times, until its result is good enough. Outputs of one turn become inputs of the next.",
  settings: {
    slug: REFERENCE_SETTINGS.slug,
    version: REFERENCE_SETTINGS.version,
    count: { type: "integer", minimum: 1, maximum: LOOP_BOUNDS.turns, description: "The most turns. The price covers all of them." },
    until: {
      type: "string",
      description: "JMESPath over the result of a turn. The loop ends after the turn for which it is true. If empty, every turn runs.",
    },
    feedback: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Inputs of the next turn, by output. Other inputs have the same value in every turn.",
    },
    inputs: { type: "object", description: "Values of the fields that aren't connected; for inputs with feedback, in the first turn." },
    ports: REFERENCE_SETTINGS.ports,
  },
  calls: null,
  runs: true,
  isReplaced: true,
  inputs: (node) =>
    node.turn
      ? new Map([...node.turn.ports.keys()].map((name) => [name, anyValue]))
      : new Map([...seenPorts(node, "inputs")].map(([name, type]) => [name, { type, list: false }])),
  anyInput: () => anyValue,
  outputs: (node) => (node.turn ? resultPorts(node.turn) : seenPorts(node, "outputs")),
  check: (node) => (node.turn ? [] : [...referenceProblems(node), ...turnProblems(node)]),
  plan: (planner, node) => (node.turn ? planTurn(planner, node, node.turn) : NOTHING_PLANNED),
  outlets,
  allowsMissing: ({ turn }) => typeof turn === "number" && turn > 0,
};
