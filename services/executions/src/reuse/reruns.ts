/** Prepares the planning of a rerun. */
import type { executions } from "@nodeloom/proto";
import type { PlanningRequest } from "../plan/planning";
import type { StepReuseOptions } from "./step-reuse";
import { createPreview } from "./preview";
import { createReadNamed } from "./sources";
import type { Stores } from "../store/stores";

/** What is asked for beside the rerun itself. */
export interface Asked {
  runner: executions.Runner;
  /** Empty: those of the named execution. */
  inputsJson: string;
  /** Of another graph. */
  version: string;
  /** The files that are reused are kept for the run. */
  pins: boolean;
}

export type Reruns = ReturnType<typeof createReruns>;

export const createReruns = ({ stores, ...options }: StepReuseOptions & { stores: Pick<Stores, "rows" | "payloads"> }) => {
  const readNamed = createReadNamed(stores);
  const preview = createPreview(options);

  return {
    /**
     * What planning a rerun needs besides its runner and its target.
     * @throws DomainError EXECUTION_NOT_FOUND, PRECONDITION_FAILED
     */
    planningOf: async (
      { executionId, nodes, reuse: requests, otherGraph }: executions.Rerun,
      { runner: { userId }, inputsJson, version, pins }: Asked,
    ): Promise<Pick<PlanningRequest, "inputsJson" | "version" | "rerun">> => {
      const named = await readNamed(executionId, userId, !otherGraph);
      const { graph, until, schemaJson, sources } = named;
      const reuse = { sources, again: nodes, requests };
      return {
        inputsJson: inputsJson || named.inputsJson,
        version,
        rerun: {
          ...(graph ? { graph } : {}),
          ...{ until, schemaJson },
          names: { nodes, reuse: requests },
          reuse: (plan, models, replan) => preview({ plan, models, replan, reuse, where: { userId, sources, pins } }),
        },
      };
    },
  };
};
