import { useMemo } from "react";
import type { Again } from "../../runs/again/rerun";
import { useLatestOutputs, type LatestOutput } from "../../runs/latest-outputs";
import { useDocument, useEditor } from "../context";
import { nodeTitle } from "../titles";
import { pinsOf } from "./pins";

/** Results of pinned nodes that the next run reuses. */
export interface PinnedResults {
  /** Id of the run with these results. */
  base: string;
  again: Again;
  /** Names of the pinned nodes. */
  names: string;
}

const NO_MADE: ReadonlyMap<string, LatestOutput> = new Map();

/**
 * @param again the rest of the run's request
 * @returns undefined if no pinned node has outputs
 */
export const useKept = (again: Again): PinnedResults | undefined => {
  const { slug, canEdit } = useEditor();
  const graph = useDocument((state) => state.graph);
  const latestOutputs = useLatestOutputs((state) => state[slug]) ?? NO_MADE;
  const pins = useMemo(() => pinsOf(graph, again.until, latestOutputs), [graph, again.until, latestOutputs]);
  if (!pins || !canEdit) return undefined;
  return { base: pins.base, again: { ...again, ...pins.again }, names: pins.names.map((node) => `“${nodeTitle(node)}”`).join(", ") };
};
