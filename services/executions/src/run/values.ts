import {
  ABSENT,
  BindError,
  type Bound,
  type BudgetUse,
  buildResult,
  callInputs,
  collect,
  createBudget,
  dependencies,
  GRAPH_BOUNDS,
  type HttpCall,
  httpCall,
  inPlaces,
  isAbsent,
  JSON_PORT,
  mediaFamily,
  mediaOperation,
  mediaOutput,
  type MediaValue,
  outputPort,
  type PlanStep,
  type RunBudget,
  type RunPlan,
  valueBytes,
} from "@nodeloom/kernel/graph";
import type { HttpResult } from "./calls";
import type { CallResult } from "./types";

/** The values of a run's nodes, kept for as long as something has yet to read them. */

/** How many steps, and the result, have yet to read what each node gave. */
const readersOf = ({ steps, output }: RunPlan): Map<string, number> => {
  const readers = new Map<string, number>();
  const count = (ids: Iterable<string>): void => {
    for (const id of ids) readers.set(id, (readers.get(id) ?? 0) + 1);
  };
  for (const step of steps) count(dependencies(step));
  count(dependencies({ sources: output }));
  return readers;
};

/** What the nodes of a run gave, by port, as long as something has yet to read it. */
export const createValues = (plan: RunPlan) => {
  const values = new Map<string, Map<string, unknown>>();
  const readers = readersOf(plan);
  return {
    get: (nodeId: string, port: string): unknown => values.get(nodeId)?.get(port),
    keep: (nodeId: string, port: string, value: unknown): void => {
      if (readers.has(nodeId)) values.set(nodeId, (values.get(nodeId) ?? new Map<string, unknown>()).set(port, value));
    },
    /** One of a node's readers is done. */
    release: (nodeId: string): void => {
      const left = readers.get(nodeId)! - 1;
      readers.set(nodeId, left);
      if (left === 0) values.delete(nodeId);
    },
  };
};

/** What the calls of a run are made with, counted within the run's bounds. */

type Item = Readonly<Record<string, unknown>>;

/**
 * @param used what planning used of the bounds
 * @param bounds what all of the run may use at most, planning included; by default a run's bounds
 */
export const createInputs = (used: Readonly<BudgetUse>, bounds?: Readonly<BudgetUse>) => {
  const budget = createBudget(used, bounds);
  let counting: RunBudget = budget;
  return {
    /** What all that the run makes is counted by. */
    budget,

    /** The inputs of one call of a model or an operation, counted. @throws BindError */
    ofCall: (step: Parameters<typeof callInputs>[0], item: Item): Record<string, unknown> => {
      counting.calls(1);
      return callInputs(step, item, counting);
    },

    /** One request of an http-request step, counted. @throws BindError */
    ofRequest: (step: PlanStep, item: Item): HttpCall => {
      counting.calls(1);
      return httpCall(step, item, counting);
    },

    /** Makes inputs of calls that may not be made: those that are, are counted when they are. @throws BindError */
    uncounted: <T>(make: () => T): T => {
      counting = createBudget(used, bounds);
      try {
        return make();
      } finally {
        counting = budget;
      }
    },
  };
};

/** What the calls of a step give, by port; and what a run gives. */

type Outputs = [port: string, value: unknown][];

/** What items gave; those that were left out are absent. */
type Results<T> = readonly (T | typeof ABSENT)[];
/** How a step is bound to its items, and whether it has any. */
type Items = Pick<Bound, "mapped" | "places">;

const mapPresent = <T>(results: Results<T>, of: (result: T) => unknown): unknown[] =>
  results.map((result) => (isAbsent(result) ? ABSENT : of(result)));

const gathered = <T>(results: Results<T>, of: (result: T) => unknown, items: Items): unknown =>
  collect(inPlaces(mapPresent(results, of), items), items.mapped);

export const modelOutputs = (step: PlanStep, results: Results<Pick<CallResult, "text" | "files" | "json">>, items: Items): Outputs => {
  // A step without items makes files or texts, as its model does: either way it gives an empty list.
  const main: Outputs = [[outputPort(step.type), gathered(results, ({ text, files }) => text ?? mediaOutput(files), items)]];
  if (!step.answer && results.every((result) => isAbsent(result) || result.json === undefined)) return main;
  return [...main, [JSON_PORT, gathered(results, ({ json }) => json?.value, items)]];
};

export const httpOutputs = (answers: Results<HttpResult>, items: Items): Outputs =>
  (["body", "status", "file"] as const).map((port) => {
    const values = mapPresent(answers, (answer) => answer[port] ?? null);
    return [port, items.mapped ? inPlaces(values, items) : values[0]];
  });

export const transformOutputs = (operation: string, results: Results<readonly MediaValue[]>, items: Items): Outputs => [
  [mediaOperation(operation)?.output ?? "", gathered(results, mediaOutput, items)],
];

/** What one call gave, by port: as it is recorded. */
export type CallOutputs = Readonly<Record<string, unknown>>;

export const outputsOfResult = ({ files, text, json }: Pick<CallResult, "files" | "text" | "json">): CallOutputs => {
  if (text === null) return { [mediaFamily(files[0]?.contentType ?? "") ?? "files"]: files };
  return { text, ...(json ? { json: json.value } : {}) };
};

/** The result of a call whose outputs were recorded, which costs nothing. */
export const resultOfOutputs = (outputs: CallOutputs): CallResult => {
  const free = { costMicroUsd: 0, requestId: null };
  if (typeof outputs.text !== "string") return { files: (Object.values(outputs)[0] ?? []) as MediaValue[], text: null, ...free };
  return { files: [], text: outputs.text, ...("json" in outputs ? { json: { value: outputs.json } } : {}), ...free };
};

/** The result of a run: a member for each of its ports. @throws BindError for one that is larger than a run may give */
export const resultOf = (...made: Parameters<typeof buildResult>): Record<string, unknown> => {
  const result = buildResult(...made);
  if (valueBytes(result, GRAPH_BOUNDS.resultBytes) <= GRAPH_BOUNDS.resultBytes) return result;
  throw new BindError(`the result is larger than ${GRAPH_BOUNDS.resultBytes} bytes`);
};
