import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, CircleStop } from "lucide-react";
import { useEffect } from "react";
import { api } from "../../api/client";
import { useChange } from "../../api/use-change";
import { setData } from "../../document/edit";
import { nodeById, type DocNode } from "../../document/graph";
import { view, type ViewerItem } from "../../media/viewer/store";
import { COMMON } from "../../messages/common";
import { SWAP } from "../../messages/editor/swap";
import { LoadFailure } from "../../parts/error-pages";
import { Button } from "../../ui/button";
import { credits, duration, roundCredits } from "../../ui/format";
import { Notice, Skeleton } from "../../ui/notice";
import { say } from "../../ui/overlays/toast";
import { useDocument, useEditor } from "../context";
import { nodeTitle } from "../titles";
import { sumsOf, verdictOf, type Compared, type Pair, type Side } from "./evidence";
import { SwapPair } from "./swap-pair";
import { usePairs } from "./use-pairs";

const itemOf = ({ id, name }: Pair, side: Side, title: string): ViewerItem => ({
  id: `${title} ${id}`,
  file: side.given?.files[0],
  text: side.given?.text,
  title: `${name} · ${title}`,
  facts: [
    [COMMON.model, title],
    [COMMON.price, credits(side.price)],
    ...(side.ms === undefined ? [] : ([[SWAP.nodeTime, duration(side.ms)]] as const)),
  ],
});

const hasFiles = ({ now, before }: Pair): boolean => now.given?.files[0] !== undefined && before?.given?.files[0] !== undefined;

/** Opens the viewer with the slider between both models. */
const viewPairs = (pairs: readonly Pair[], chosen: Pair, models: Compared): void => {
  const viewable = pairs.filter(hasFiles);
  const set = (title: string, side: (pair: Pair) => Side) => ({
    ...{ id: title, title },
    items: viewable.map((pair) => itemOf(pair, side(pair), title)),
  });
  view([set(models.before, ({ before }) => before!), set(models.now, ({ now }) => now)], {
    ...{ index: viewable.indexOf(chosen), compares: true },
  });
};

const Totals = ({ pairs, isChecked, models }: { pairs: readonly Pair[]; isChecked: boolean; models: Compared }) => {
  const { cost, ms } = sumsOf(pairs, isChecked);
  const rows = [
    { title: models.before, cost: cost.before, ms: ms.before },
    { title: models.now, cost: cost.now, ms: ms.now },
  ];
  return (
    <table className="w-full text-sm">
      <thead>
        <tr className="text-left text-xs text-faint">
          <th scope="col" className="pb-1 font-medium">
            {SWAP.total}
          </th>
          <th scope="col" className="pb-1 text-right font-medium">
            {COMMON.credits}
          </th>
          <th scope="col" className="pb-1 text-right font-medium">
            {SWAP.nodeTime}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.title} className="border-t">
            <th scope="row" className="py-1.5 text-left font-normal wrap-anywhere">
              {row.title}
            </th>
            <td className="py-1.5 text-right tabular-nums">{row.cost === undefined ? SWAP.unknown : roundCredits(row.cost)}</td>
            <td className="py-1.5 text-right tabular-nums">{row.ms === undefined ? SWAP.unknown : duration(row.ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};

interface ResultsProps {
  batchId: string;
  node: DocNode;
  candidate: string;
  models: Compared;
  onClose: () => void;
}

/** Pairs of a comparison, its sums and its verdict. Taking the candidate is one undoable edit. */
export const SwapResults = ({ batchId, node, candidate, models, onClose }: ResultsProps) => {
  const { slug, document, canEdit } = useEditor();
  const client = useQueryClient();
  const { busy, run: change } = useChange("test-run", "test-runs");
  const isUsed = useDocument(({ graph }) => nodeById(graph, node.id)?.data.model === candidate);
  const { run, error, refetch, pairs } = usePairs(slug, batchId, node.id);
  const isEnded = run !== undefined && run.status !== "running";
  useEffect(() => {
    if (isEnded) void client.invalidateQueries({ queryKey: ["test-runs"] });
  }, [client, isEnded]);
  if (!run) return error ? <LoadFailure error={error} retry={() => void refetch()} /> : <Skeleton lines={6} />;
  const isChecked = run.recentRuns !== true;
  const take = (): void => {
    document.change(SWAP.edit, (graph) => setData(graph, node.id, ["model"], candidate), { select: [node.id] });
    say(SWAP.taken(nodeTitle(node), models.now));
    onClose();
  };
  const doneCount = pairs.filter(({ now }) => now.status === "passed" || now.status === "failed").length;
  return (
    <section aria-label={SWAP.results} className="flex flex-col gap-4">
      {isEnded && pairs.length > 0 && (
        <Notice kind={pairs.some(({ now }) => now.status === "failed") ? "warn" : "info"} title={verdictOf(pairs, isChecked, models)} />
      )}
      {run.status === "paused" && <Notice kind="warn">{SWAP.paused}</Notice>}
      {run.status === "cancelled" && <Notice kind="warn">{SWAP.cancelled}</Notice>}
      {!isEnded && (
        <div className="flex flex-wrap items-center gap-3 text-sm text-muted">
          <span aria-live="polite" className="tabular-nums">
            {SWAP.progress(doneCount, run.total)}
          </span>
          <Button size="sm" icon={CircleStop} busy={busy} onClick={() => void change(() => api.batches.cancel(batchId))}>
            {COMMON.cancel}
          </Button>
        </div>
      )}
      {isEnded && <Totals pairs={pairs} isChecked={isChecked} models={models} />}
      <ul className="grid gap-3 lg:grid-cols-2">
        {pairs.map((pair) => (
          <li key={pair.id} className="min-w-0">
            <SwapPair
              pair={pair}
              models={models}
              isChecked={isChecked}
              onView={hasFiles(pair) ? () => viewPairs(pairs, pair, models) : undefined}
            />
          </li>
        ))}
      </ul>
      <div className="sticky -bottom-4 -mx-5 -mb-4 flex flex-wrap items-center gap-2 border-t bg-surface px-5 py-3">
        {canEdit && (
          <Button variant="primary" icon={Check} disabled={!isEnded || isUsed} onClick={take}>
            {SWAP.take(models.now)}
          </Button>
        )}
        <Button onClick={onClose}>{SWAP.keep(models.before)}</Button>
        <Link to="/batches/$id" params={{ id: batchId }} className="ml-auto text-sm text-accent-text underline underline-offset-2">
          {SWAP.openBatch}
        </Link>
      </div>
    </section>
  );
};
