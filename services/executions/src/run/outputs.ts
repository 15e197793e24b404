/** What the calls of a step give, by port. */
import {
  collect,
  JSON_PORT,
  mediaFamily,
  mediaOperation,
  mediaOutput,
  outputPort,
  type MediaValue,
  type PlanStep,
} from "@nodeloom/kernel/graph";
import type { HttpResult } from "./calls";
import type { CallResult } from "./types";

type Outputs = [port: string, value: unknown][];

/** @param mapped the step has items */
export const modelOutputs = (step: PlanStep, results: readonly Pick<CallResult, "text" | "files" | "json">[], mapped: boolean): Outputs => {
  // A step without items makes files or texts, as its model does: either way it gives an empty list.
  const values = results.map(({ text, files }) => text ?? mediaOutput(files));
  const main: Outputs = [[outputPort(step.type), collect(values, mapped)]];
  if (!step.answer && results.every(({ json }) => json === undefined)) return main;
  const parsed = results.map(({ json }) => json?.value);
  return [...main, [JSON_PORT, collect(parsed, mapped)]];
};

export const httpOutputs = (answers: readonly HttpResult[], mapped: boolean): Outputs =>
  (["body", "status"] as const).map((port) => [port, mapped ? answers.map((answer) => answer[port]) : answers[0]?.[port]]);

export const transformOutputs = (operation: string, results: readonly (readonly MediaValue[])[], mapped: boolean): Outputs => [
  [mediaOperation(operation)?.output ?? "", collect(results.map(mediaOutput), mapped)],
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
