import { upToNode } from "@nodeloom/kernel/graph";
import { useMemo } from "react";
import { api } from "../../api/client";
import { useFiles } from "../../api/files";
import { judge } from "../../canvas/judge";
import { kernelGraph, type DocGraph, type DocNode } from "../../document/graph";
import type { RunInputs } from "../../runs/request";
import { useBatchOrder, type BatchKind } from "../batch-order";
import { useEditor } from "../context";
import { useRunInputs } from "../run-inputs";
import { withVariation, type Titles, type Variation } from "./axes";

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

interface SweepOrder {
  items: { inputs: RunInputs; settings: Record<string, Variation["settings"]> }[];
  until: string;
}

const SWEEP: BatchKind<SweepOrder> = {
  quote: (slug, order, options) => api.batches.quote({ workflow: slug, version: "draft" }, order, options),
  start: (slug, order, quote, options) => {
    const most = quote?.maxCreditCost ?? 0;
    const limited = { ...order, metadata: { [SWEEP_NAME]: order.until }, ...(most > 0 ? { maxCredits: most } : {}) };
    return api.batches.create({ workflow: slug, version: "draft" }, limited, options);
  },
  quoteAfterMs: QUOTE_AFTER_MS,
};

/** Sweep of a node: each variation runs the node and its dependencies. The price is for all variations. */
export const useSweep = (node: DocNode, variations: readonly Variation[]) => {
  const { me } = useEditor();
  const { inputs } = useRunInputs(node.id);
  const items = variations.map(({ settings }) => ({ inputs, settings: { [node.id]: { ...settings } } }));
  const isReady = me.user.approved && variations.length > 1;
  return { ...useBatchOrder(SWEEP, { items, until: node.id }, isReady), isReady };
};
