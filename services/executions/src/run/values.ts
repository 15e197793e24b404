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

/** Stores values of a run's nodes until the last step has read them. */

/** Returns the number of readers of each node: the steps that read it, plus the result. */
const readersOf = ({ steps, output }: RunPlan): Map<string, number> => {
  const readers = new Map<string, number>();
  const count = (ids: Iterable<string>): void => {
    for (const id of ids) readers.set(id, (readers.get(id) ?? 0) + 1);
  };
  for (const step of steps) count(dependencies(step));
  count(dependencies({ sources: output }));
  return readers;
};

export const createValues = (plan: RunPlan) => {
  const values = new Map<string, Map<string, unknown>>();
  const readers = readersOf(plan);
  return {
    get: (nodeId: string, port: string): unknown => values.get(nodeId)?.get(port),
    keep: (nodeId: string, port: string, value: unknown): void => {
      if (readers.has(nodeId)) values.set(nodeId, (values.get(nodeId) ?? new Map<string, unknown>()).set(port, value));
    },
    release: (nodeId: string): void => {
      const remainingReaders = readers.get(nodeId)! - 1;
      readers.set(nodeId, remainingReaders);
      if (remainingReaders === 0) values.delete(nodeId);
    },
  };
};

/** Builds inputs of calls, and counts them against the run's limits. */

type Item = Readonly<Record<string, unknown>>;

/**
 * @param used the part of the limits that planning used
 * @param bounds limits for planning and the run together; by default the limits of a run
 */
export const createInputs = (used: Readonly<BudgetUse>, bounds?: Readonly<BudgetUse>) => {
  const budget = createBudget(used, bounds);
  let counting: RunBudget = budget;
  return {
    /** Budget for all values that the run creates. */
    budget,

    /** Returns the inputs of one call of a model or an operation, and counts them. @throws BindError */
    ofCall: (step: Parameters<typeof callInputs>[0], item: Item): Record<string, unknown> => {
      counting.calls(1);
      return callInputs(step, item, counting);
    },

    /** Returns one request of an http-request step, and counts it. @throws BindError */
    ofRequest: (step: PlanStep, item: Item): HttpCall => {
      counting.calls(1);
      return httpCall(step, item, counting);
    },

    /**
     * Builds inputs of calls that may be skipped. Only calls that are made count against the budget.
     * @throws BindError
     */
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

/** Outputs of steps by port, and the result of a run. */

type Outputs = [port: string, value: unknown][];

/** Outputs of items. Items that were left out are absent. */
type Results<T> = readonly (T | typeof ABSENT)[];
type Items = Pick<Bound, "mapped" | "places">;

const mapPresent = <T>(results: Results<T>, of: (result: T) => unknown): unknown[] =>
  results.map((result) => (isAbsent(result) ? ABSENT : of(result)));

const gathered = <T>(results: Results<T>, of: (result: T) => unknown, items: Items): unknown =>
  collect(inPlaces(mapPresent(results, of), items), items.mapped);

export const modelOutputs = (step: PlanStep, results: Results<Pick<CallResult, "text" | "files" | "json">>, items: Items): Outputs => {
  // A step without items outputs an empty list of files or texts.
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

/** Recorded outputs of one call, by port. */
export type CallOutputs = Readonly<Record<string, unknown>>;

export const outputsOfResult = ({ files, text, json }: Pick<CallResult, "files" | "text" | "json">): CallOutputs => {
  if (text === null) return { [mediaFamily(files[0]?.contentType ?? "") ?? "files"]: files };
  return { text, ...(json ? { json: json.value } : {}) };
};

/** Returns the result of a call with recorded outputs. It has no cost. */
export const resultOfOutputs = (outputs: CallOutputs): CallResult => {
  const free = { costMicroUsd: 0, requestId: null };
  if (typeof outputs.text !== "string") return { files: (Object.values(outputs)[0] ?? []) as MediaValue[], text: null, ...free };
  return { files: [], text: outputs.text, ...("json" in outputs ? { json: { value: outputs.json } } : {}), ...free };
};

/** Builds the result of a run with one member for each port. @throws BindError if it is too large */
export const resultOf = (...args: Parameters<typeof buildResult>): Record<string, unknown> => {
  const result = buildResult(...args);
  if (valueBytes(result, GRAPH_BOUNDS.resultBytes) <= GRAPH_BOUNDS.resultBytes) return result;
  throw new BindError(`the result is larger than ${GRAPH_BOUNDS.resultBytes} bytes`);
};
