import type { BatchQuote } from "@nodeloom/client";
import { upToNode } from "@nodeloom/kernel/graph";
import { useEffect, useMemo, useState } from "react";
import { api } from "../../api/client";
import { useFiles } from "../../api/files";
import { judge } from "../../canvas/judge";
import { kernelGraph, type DocGraph, type DocNode } from "../../document/graph";
import { refusalTrouble, type Trouble } from "../../runs/trouble/trouble";
import { useDocument, useEditor } from "../context";
import { useRunInputs } from "../run-inputs";
import { withVariation, type Titles, type Variation } from "./axes";
import { USE_SWEEP } from "../../messages/editor/sweep";

/** Quote and start of a sweep. */

const QUOTE_AFTER_MS = 400;
/** Metadata name of sweeps; its value is the node's id. */
export const SWEEP_NAME = "sweep";

const partUpTo = (graph: DocGraph, nodeId: string): DocGraph => {
  const part = upToNode({ ...kernelGraph(graph), issues: [] }, nodeId);
  const ids = new Set(part?.nodes.map(({ id }) => id));
  return {
    nodes: graph.nodes.filter(({ id }) => ids.has(id)),
    edges: graph.edges.filter((edge) => "stranger" in edge || (ids.has(edge.source) && ids.has(edge.target))),
  };
};

/** Maximum cost of the node per variation in credits, by the canvas's prices; undefined if unknown. */
export const useVariationPrices = (node: DocNode, variations: readonly Variation[]): readonly (number | undefined)[] => {
  const { terms, markupPermille, document } = useEditor();
  return useMemo(() => {
    const part = partUpTo(document.store.getState().graph, node.id);
    return variations.map(
      ({ settings }) =>
        judge(withVariation(part, node.id, settings), terms, markupPermille, useFiles.getState().files).prices.get(node.id)?.credits,
    );
  }, [document, node.id, variations, terms, markupPermille]);
};

export const useTitles = (): Titles => {
  const { models } = useEditor();
  return useMemo(() => new Map(models.map(({ internalName, displayName }) => [internalName, displayName])), [models]);
};

interface Answer {
  quote?: BatchQuote;
  problem?: Trouble;
}

const NOT_SAVED = USE_SWEEP.notSaved;

/** Sweep of a node: each variation runs the node and its dependencies. The price is for all variations. */
export const useSweep = (node: DocNode, variations: readonly Variation[]) => {
  const { slug, document, me } = useEditor();
  const { inputs } = useRunInputs(node.id);
  const etag = useDocument((state) => state.etag);
  const [answer, setAnswer] = useState<Answer>({});
  const [starting, setStarting] = useState(false);
  const target = { workflow: slug, version: "draft" } as const;
  const items = variations.map(({ settings }) => ({ inputs, settings: { [node.id]: { ...settings } } }));
  const key = JSON.stringify(items);
  const isReady = me.user.approved && variations.length > 1;
  useEffect(() => {
    setAnswer({});
    if (!isReady) return undefined;
    const abort = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        if (!(await document.flush())) throw new Error(NOT_SAVED);
        const order = { items: JSON.parse(key) as typeof items, until: node.id };
        const quote = await api.batches.quote({ workflow: slug, version: "draft" }, order, { signal: abort.signal });
        setAnswer({ quote });
      } catch (error) {
        if (!abort.signal.aborted) setAnswer({ problem: refusalTrouble(error) });
      }
    };
    const timer = setTimeout(() => void ask(), QUOTE_AFTER_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [slug, document, node.id, key, isReady, etag]);

  /** @returns the batch's id; undefined if the sweep didn't start */
  const start = async (): Promise<string | undefined> => {
    setStarting(true);
    try {
      if (!(await document.flush())) throw new Error(NOT_SAVED);
      const most = answer.quote?.maxCreditCost ?? 0;
      const order = { items, until: node.id, metadata: { [SWEEP_NAME]: node.id }, ...(most > 0 ? { maxCredits: most } : {}) };
      return (await api.batches.create(target, order, { idempotencyKey: crypto.randomUUID() })).batchId;
    } catch (error) {
      setAnswer({ problem: refusalTrouble(error) });
      return undefined;
    } finally {
      setStarting(false);
    }
  };
  return { ...answer, start, starting, isReady };
};
