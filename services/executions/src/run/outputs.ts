/** What the calls of a step give, by port; and what a run gives. */
import {
  ABSENT,
  BindError,
  buildResult,
  collect,
  GRAPH_BOUNDS,
  inPlaces,
  isAbsent,
  JSON_PORT,
  mediaFamily,
  mediaOperation,
  mediaOutput,
  outputPort,
  valueBytes,
  type Bound,
  type MediaValue,
  type PlanStep,
} from "@nodeloom/kernel/graph";
import type { HttpResult } from "./calls";
import type { CallResult } from "./types";

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
