import type { BatchQuote, RunTestsRequest } from "@nodeloom/client";
import { useEffect, useState } from "react";
import { api, codeOf } from "../../api/client";
import type { DocNode } from "../../document/graph";
import { SWAP } from "../../messages/editor/swap";
import { refusalTrouble, type Trouble } from "../../runs/trouble/trouble";
import { useDocument, useEditor } from "../context";

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

interface Answer {
  quote?: BatchQuote;
  problem?: Trouble;
  /** The workflow has no inputs to compare with. */
  isEmpty?: boolean;
}

const NO_INPUTS = "PRECONDITION_FAILED";
const answerTo = (error: unknown): Answer => (codeOf(error) === NO_INPUTS ? { isEmpty: true } : { problem: refusalTrouble(error) });

/** Comparison of the draft with the same graph that has another model. The draft doesn't change. */
export const useComparison = (node: DocNode, order: Order) => {
  const { slug, document, me } = useEditor();
  const etag = useDocument((state) => state.etag);
  const [answer, setAnswer] = useState<Answer>({});
  const [isStarting, setStarting] = useState(false);
  const json = JSON.stringify(requestOf(node, order));
  const isAllowed = me.user.approved;
  useEffect(() => {
    setAnswer({});
    if (!isAllowed) return undefined;
    const abort = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        if (!(await document.flush())) throw new Error(SWAP.notSaved);
        setAnswer({ quote: await api.tests.quote(slug, JSON.parse(json) as RunTestsRequest, { signal: abort.signal }) });
      } catch (error) {
        if (!abort.signal.aborted) setAnswer(answerTo(error));
      }
    };
    void ask();
    return () => abort.abort();
  }, [slug, document, json, etag, isAllowed]);

  /** @returns the id of the comparison; undefined if it didn't start */
  const start = async (): Promise<string | undefined> => {
    setStarting(true);
    try {
      if (!(await document.flush())) throw new Error(SWAP.notSaved);
      const request = JSON.parse(json) as RunTestsRequest;
      return (await api.tests.run(slug, request, { idempotencyKey: crypto.randomUUID() })).batchId;
    } catch (error) {
      setAnswer(answerTo(error));
      return undefined;
    } finally {
      setStarting(false);
    }
  };
  return { ...answer, start, isStarting, isAllowed };
};
