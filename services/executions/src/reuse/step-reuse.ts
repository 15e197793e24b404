/** Finds the reused calls of one step when its inputs are known. */
import { callsHttp, type Bound, type PlanStep } from "@nodeloom/kernel";
import type { CatalogModel } from "../plan/model-catalog";
import { pendingAddress } from "../plan/planner/file-inputs";
import type { ReusedResult } from "../run/call-record";
import type { HttpResult } from "../run/calls";
import type { GraphRun } from "../run/graph-run";
import { httpOutputs, modelOutputs, resultOfOutputs, transformOutputs } from "../run/values";
import type { CallFingerprint, Reuse } from "../run/types";
import { fingerprintOfHttp, fingerprintOfModel, fingerprintOfTransform } from "./fingerprints";
import type { EarlierCalls, Where } from "./earlier-calls";

export interface StepReuseOptions {
  find: EarlierCalls;
  /** Address prefix of the platform's own storage. */
  own: string;
  programVersion: (operation: string) => Promise<string>;
}

export interface StepReuse {
  /** One entry per call; null for a call to make. */
  reused: (ReusedResult | null)[];
  /** Outputs by port, if all calls are reused. */
  outputs: [string, unknown][] | undefined;
  /** True if a run would certainly find the same calls. */
  isSure: boolean;
}

export const isReusable = ({ id, type }: Pick<PlanStep, "id" | "type">, { again, requests }: Reuse): boolean =>
  !again.includes(id) && (!callsHttp(type) || requests.includes(id));

const outputsOf = (step: PlanStep, all: ReusedResult["outputs"][], bound: Bound): [string, unknown][] => {
  if (callsHttp(step.type)) return httpOutputs(all as unknown as HttpResult[], bound);
  const results = all.map(resultOfOutputs);
  if (step.operation === undefined) return modelOutputs(step, results, bound);
  return transformOutputs(
    step.operation,
    results.map(({ files }) => files),
    bound,
  );
};

export const createStepReuse =
  ({ find, own, programVersion }: StepReuseOptions) =>
  /** @throws BindError if calls can't be built from the inputs */
  async (
    run: GraphRun,
    step: PlanStep,
    { models, where }: { models: ReadonlyMap<string, CatalogModel>; where: Where },
  ): Promise<StepReuse> => {
    const bound = run.bind(step);
    const schema = step.answer?.schema;
    const version = step.operation === undefined ? "" : await programVersion(step.operation);
    const fingerprintOf = (item: Record<string, unknown>): CallFingerprint => {
      if (callsHttp(step.type)) return fingerprintOfHttp(run.inputs.ofRequest(step, item));
      const inputs = run.inputs.ofCall(step, item);
      if (step.operation !== undefined) return fingerprintOfTransform({ operation: step.operation, inputs }, version, own);
      return fingerprintOfModel({ inputs, ...(schema ? { schema } : {}) }, models.get(step.model!)!, own);
    };
    const askedCalls = bound.items.map(fingerprintOf);
    const reused = await find(
      askedCalls.map((one, item) => ({ nodeId: step.id, item, asked: one, schema })),
      where,
    );
    // The content of a file that isn't stored yet is unknown.
    const isSure = askedCalls.every(({ files }) => !files.includes(pendingAddress(own)));
    const all = reused.flatMap((one) => (one ? [one.outputs] : []));
    return { reused, outputs: all.length === reused.length ? outputsOf(step, all, bound) : undefined, isSure };
  };
