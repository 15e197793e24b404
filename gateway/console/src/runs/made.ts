import type { Execution } from "@nodeloom/client";
import { create } from "zustand";
import { api } from "../api/client";
import { outputsOf } from "./outputs";

/** What a node made in the newest run in which it gave anything. */
export interface Made {
  executionId: string;
  at: string | null;
  node: Execution["nodes"][number];
  /** Of the whole run. */
  result: Execution["result"];
}

/** By workflow and node: it stays on the canvas until something newer is made. */
export const useMade = create<Readonly<Record<string, ReadonlyMap<string, Made>>>>(() => ({}));

/** Runs that are looked through for what nodes made last. */
const MOST_RUNS = 6;
const LISTED = 20;

/** Takes over what the nodes of a run gave, where nothing newer is known. */
export const rememberMade = (slug: string, { executionId, createdAt, nodes, result }: Execution): void =>
  useMade.setState((state) => {
    const before = state[slug] ?? new Map<string, Made>();
    const isNewer = (id: string): boolean => {
      const known = before.get(id);
      return known === undefined || known.executionId === executionId || (known.at ?? "") < (createdAt ?? "");
    };
    const gave = nodes.filter(
      (node) => isNewer(node.id) && (outputsOf(node) !== undefined || (result !== undefined && node.outputs === undefined)),
    );
    if (gave.length === 0) return state;
    return {
      ...state,
      [slug]: new Map([...before, ...gave.map((node): [string, Made] => [node.id, { executionId, at: createdAt, node, result }])]),
    };
  });

export type EndedRun = Pick<Execution, "executionId" | "status" | "createdAt">;

const GOING: ReadonlySet<string> = new Set(["processing", "cancel_requested"]);

/**
 * Reads what the nodes of a workflow made last.
 * @param wanted ids of nodes; older runs are read until all of them have something, or there were enough
 * @returns the id of a run that is under way, to be followed, and the newest that is over
 */
export const loadMade = async (
  slug: string,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<{ going: string | undefined; last: EndedRun | undefined }> => {
  const { rows } = await api.executions.list({ workflowSlug: slug, limit: LISTED }, { signal });
  const ended = rows.filter(({ status }) => !GOING.has(status));
  for (const { executionId } of ended.slice(0, MOST_RUNS)) {
    const known = useMade.getState()[slug];
    if (wanted.every((id) => known?.has(id) || [...(known?.keys() ?? [])].some((one) => one.startsWith(`${id}/`)))) break;
    rememberMade(slug, await api.executions.get(executionId, { signal }));
  }
  return { going: rows.find(({ status }) => GOING.has(status))?.executionId, last: ended[0] };
};
