import type { Execution } from "@nodeloom/client";
import { create } from "zustand";
import { api } from "../api/client";
import { outputsOf } from "./outputs";

/** Output of a node in the newest run that has one. */
export interface LatestOutput {
  executionId: string;
  at: string | null;
  node: Execution["nodes"][number];
  /** Result of the whole run. */
  result: Execution["result"];
}

/** Outputs by workflow and node. An output stays on the canvas until a newer one exists. */
export const useLatestOutputs = create<Readonly<Record<string, ReadonlyMap<string, LatestOutput>>>>(() => ({}));

/** Maximum runs searched for latest outputs. */
const MOST_RUNS = 6;
const LISTED = 20;

/** Stores outputs of a run's nodes unless newer ones are known. */
export const rememberOutputs = (slug: string, { executionId, createdAt, nodes, result }: Execution): void =>
  useLatestOutputs.setState((state) => {
    const before = state[slug] ?? new Map<string, LatestOutput>();
    const isNewer = (id: string): boolean => {
      const earlier = before.get(id);
      return earlier === undefined || earlier.executionId === executionId || (earlier.at ?? "") < (createdAt ?? "");
    };
    const gave = nodes.filter(
      (node) => isNewer(node.id) && (outputsOf(node) !== undefined || (result !== undefined && node.outputs === undefined)),
    );
    if (gave.length === 0) return state;
    return {
      ...state,
      [slug]: new Map([...before, ...gave.map((node): [string, LatestOutput] => [node.id, { executionId, at: createdAt, node, result }])]),
    };
  });

export type EndedRun = Pick<Execution, "executionId" | "status" | "createdAt">;

const GOING: ReadonlySet<string> = new Set(["processing", "cancel_requested"]);

/**
 * Loads latest outputs of a workflow's nodes.
 * @param wantedIds node ids; earlier runs are loaded until all have an output, up to a limit
 * @returns id of a run in progress, and the newest completed run
 */
export const loadLatestOutputs = async (
  slug: string,
  wantedIds: readonly string[],
  signal: AbortSignal,
): Promise<{ going: string | undefined; last: EndedRun | undefined }> => {
  const { rows } = await api.executions.list({ workflowSlug: slug, limit: LISTED }, { signal });
  const endedRuns = rows.filter(({ status }) => !GOING.has(status));
  for (const { executionId } of endedRuns.slice(0, MOST_RUNS)) {
    const knownOutputs = useLatestOutputs.getState()[slug];
    if (wantedIds.every((id) => knownOutputs?.has(id) || [...(knownOutputs?.keys() ?? [])].some((one) => one.startsWith(`${id}/`)))) break;
    rememberOutputs(slug, await api.executions.get(executionId, { signal }));
  }
  return { going: rows.find(({ status }) => GOING.has(status))?.executionId, last: endedRuns[0] };
};
