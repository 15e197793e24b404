import type { RunTestsRequest } from "@nodeloom/client";
import { api } from "../../api/client";
import type { DocNode } from "../../document/graph";
import { useBatchOrder, type BatchKind } from "../batch-order";
import { useEditor } from "../context";

/** Quote and start of a comparison of models. */

/** Number of different inputs that are compared if the workflow has no tests. */
export const RECENT_INPUTS = 10;

export interface Order {
  candidate: string;
  /** True to compare with inputs of earlier runs instead of the tests. */
  usesRuns: boolean;
  /** False if the current model can't run. */
  hasBefore: boolean;
}

const requestOf = (node: DocNode, { candidate, usesRuns, hasBefore }: Order): RunTestsRequest => ({
  settings: { [node.id]: { model: candidate } },
  ...(usesRuns ? { recentRuns: RECENT_INPUTS } : {}),
  ...(hasBefore ? { against: { version: "draft" as const } } : {}),
});

const NO_INPUTS = "PRECONDITION_FAILED";

const COMPARISON: BatchKind<RunTestsRequest> = {
  quote: api.tests.quote,
  start: (slug, request, _quote, options) => api.tests.run(slug, request, options),
  quoteAfterMs: 0,
};

/** Comparison of the draft with the same graph that has another model. The draft doesn't change. */
export const useComparison = (node: DocNode, order: Order) => {
  const { me } = useEditor();
  const isAllowed = me.user.approved;
  const { code, problem, ...comparison } = useBatchOrder(COMPARISON, requestOf(node, order), isAllowed);
  /** The workflow has no inputs to compare with. */
  const isEmpty = code === NO_INPUTS;
  return { ...comparison, problem: isEmpty ? undefined : problem, isEmpty, isAllowed };
};
