import type { BatchRow, BatchWithRows } from "@nodeloom/client";
import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowDownWideNarrow, CircleStop } from "lucide-react";
import { useState } from "react";
import { LoadFailure } from "../../parts/error-pages";
import { api } from "../../api/client";
import { afterRun, executionQuery } from "../../api/queries";
import { useChange } from "../../api/use-change";
import { BatchProgress, BatchStatus } from "../../features/batches/batch-status";
import { batchQuery, isGoing } from "../../features/batches/queries";
import { nodeById, type DocNode } from "../../document/graph";
import { nodeOutputOf, type NodeOutput } from "../../runs/node-output";
import { watchRun } from "../../runs/live";
import { view, type ViewerItem } from "../../media/viewer/store";
import { Button } from "../../ui/button";
import { credits } from "../../ui/format";
import { Notice, Skeleton } from "../../ui/notice";
import { say } from "../../ui/overlays/toast";
import { graphOf } from "../chosen";
import { useDocument, useEditor, type Editor } from "../context";
import { rememberPrints } from "../scene/fingerprints";
import { nodeTitle } from "../titles";
import { hasSettings, MOST_VARIATIONS, settingsWords, tableOf, withVariation, type Layout, type Settings } from "./axes";
import { rate, readRatings } from "./ratings";
import { useTitles } from "./use-sweep";
import { SweepCell, type CellProps } from "./sweep-cell";
import { COMMON } from "../../messages/common";
import { SWEEP_RESULTS } from "../../messages/editor/sweep";

const OVER: ReadonlySet<BatchRow["status"]> = new Set<BatchRow["status"]>(["completed", "failed"]);

interface Result {
  row: BatchRow;
  settings: Settings;
  /** Settings of the variation as text. */
  name: string;
  output: NodeOutput | undefined;
}

const settingsIn = (row: BatchRow, nodeId: string): Settings => (row.settings?.[nodeId] ?? {}) as Settings;

/** Applies a variation's settings and shows its run. Later runs reuse this run's results. */
const take = (editor: Editor, node: DocNode, row: BatchRow, onOver: () => void): void => {
  const { document, ui, slug } = editor;
  document.change(SWEEP_RESULTS.useAVariation, (graph) => withVariation(graph, node.id, settingsIn(row, node.id)), { select: [node.id] });
  rememberPrints(slug, row.executionId, graphOf(editor));
  watchRun(slug, row.executionId, onOver);
  ui.setState({ overlay: undefined, panel: "run", panelOpen: true, until: undefined });
  say(SWEEP_RESULTS.settingsApplied(nodeTitle(node)));
};

const Head = ({ batch }: { batch: BatchWithRows }) => {
  const { busy, run } = useChange("batch", "batches");
  const { batchId, status, counts, total, creditsCost, reason } = batch;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-3 text-sm">
        <BatchStatus status={status} />
        <span className="text-muted tabular-nums" aria-live="polite">
          {SWEEP_RESULTS.of(counts.completed, total)}
          {counts.failed > 0 && SWEEP_RESULTS.failed(counts.failed)} · {credits(creditsCost)}
        </span>
        <Link to="/batches/$id" params={{ id: batchId }} className="text-accent-text underline underline-offset-2">
          {SWEEP_RESULTS.openBatch}
        </Link>
        {isGoing(status) && (
          <Button size="sm" icon={CircleStop} busy={busy} onClick={() => void run(() => api.batches.cancel(batchId))}>
            {COMMON.cancel}
          </Button>
        )}
      </div>
      <BatchProgress batch={batch} />
      {status === "paused" && (
        <Notice kind="warn">
          {reason?.message} {SWEEP_RESULTS.resumeHint}
        </Notice>
      )}
    </div>
  );
};

type CellOf = (index: number, isNamed: boolean) => CellProps;

const SweepTable = ({ table, cell }: { table: Layout; cell: CellOf }) => (
  <div className="overflow-x-auto" role="region" aria-label={SWEEP_RESULTS.variations} tabIndex={0}>
    <table className="w-full border-separate border-spacing-2 text-left text-xs">
      <thead>
        <tr>
          <td />
          {table.columns.map((name) => (
            <th key={name} scope="col" className="px-1 font-medium text-muted">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((name, at) => (
          <tr key={name}>
            <th scope="row" className="max-w-32 min-w-20 align-top font-medium wrap-break-word text-muted">
              {name}
            </th>
            {table.cells[at]!.map((index) => (
              <td key={index} className="align-top">
                <SweepCell {...cell(index, false)} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const useRows = (batchId: string, nodeId: string) => {
  const titles = useTitles();
  const batchResult = useQuery(batchQuery(batchId, { limit: MOST_VARIATIONS }));
  const rows = batchResult.data?.rows ?? [];
  const executions = useQueries({
    queries: rows.map(({ executionId, status }) => ({ ...executionQuery(executionId), enabled: OVER.has(status) })),
  });
  const results = rows.map((row, index): Result => {
    const settings = settingsIn(row, nodeId);
    return { row, settings, name: settingsWords(settings, titles), output: nodeOutputOf(executions[index]?.data, nodeId) };
  });
  return { found: batchResult, results, titles };
};

const viewerItems = (results: readonly Result[]): ViewerItem[] =>
  results.flatMap(({ row, name, output }): ViewerItem[] => {
    if (!output) return [];
    const things =
      output.files.length > 0 ? output.files.map((file) => ({ file, text: undefined })) : [{ file: undefined, text: output.text }];
    const facts: [string, string][] = [
      [SWEEP_RESULTS.variation, name],
      [COMMON.price, credits(row.creditsCost)],
    ];
    return things
      .filter(({ file, text }) => (file ?? text) !== undefined)
      .map((thing, index) => ({ id: `${row.executionId} ${index}`, ...thing, title: name, facts }));
  });

/** Results of a sweep as a table of two settings, or as a list. */
export const SweepResults = ({ batchId, node, onClose }: { batchId: string; node: DocNode; onClose: () => void }) => {
  const editor = useEditor();
  const client = useQueryClient();
  const now = useDocument(({ graph }) => nodeById(graph, node.id));
  const [ratings, setRatings] = useState(readRatings);
  const [isSorted, setSorted] = useState(false);
  const { found, results, titles } = useRows(batchId, node.id);
  if (found.isPending) return <Skeleton lines={6} />;
  if (!found.data) return <LoadFailure error={found.error} retry={() => void found.refetch()} />;

  const starsOf = ({ row }: Result): number => ratings[row.executionId] ?? 0;
  const look = ({ row }: Result): void => {
    const items = viewerItems(results);
    const index = Math.max(
      0,
      items.findIndex(({ id }) => id.startsWith(row.executionId)),
    );
    view([{ id: batchId, title: SWEEP_RESULTS.variationsOf(nodeTitle(node)), items }], { index });
  };
  const use = ({ row }: Result): void => {
    take(editor, node, row, () => afterRun(client));
    onClose();
  };
  const cell: CellOf = (index, isNamed) => {
    const result = results[index]!;
    const { row, output, name } = result;
    return {
      ...{ row, output, name, isNamed, stars: starsOf(result), isUsed: now !== undefined && hasSettings(now, result.settings) },
      onView: () => look(result),
      onRate: (stars) => setRatings(rate(ratings, row.executionId, stars)),
      onUse: editor.canEdit ? () => use(result) : undefined,
    };
  };
  const table = isSorted
    ? undefined
    : tableOf(
        results.map(({ settings }) => settings),
        titles,
      );
  const order = results.map((_, index) => index);
  if (isSorted) order.sort((a, b) => starsOf(results[b]!) - starsOf(results[a]!) || a - b);
  return (
    <section aria-label={SWEEP_RESULTS.results} className="flex flex-col gap-3">
      <Head batch={found.data} />
      <div>
        <Button size="sm" icon={ArrowDownWideNarrow} aria-pressed={isSorted} onClick={() => setSorted(!isSorted)}>
          {SWEEP_RESULTS.bestFirst}
        </Button>
      </div>
      {table ? (
        <SweepTable table={table} cell={cell} />
      ) : (
        <ul aria-label={SWEEP_RESULTS.variations} className="grid grid-cols-[repeat(auto-fill,minmax(10rem,1fr))] gap-3">
          {order.map((index) => (
            <li key={results[index]!.row.executionId} className="min-w-0">
              <SweepCell {...cell(index, true)} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
};
