import type { Execution, NodeState } from "@nodeloom/client";
import { useMemo, useState } from "react";
import { nodeById, type DocGraph } from "../../document/graph";
import { nameOfNode } from "../../runs/node-name";
import { ReusedFrom, reusedShare } from "../../runs/again/reused-from";
import { Considered } from "../../runs/considered";
import { callsOf } from "../../runs/outputs";
import { ResultView } from "../../runs/result-view";
import { RunStatus, cancelReport } from "../../runs/status";
import type { Ran } from "../../runs/took/took";
import { WhatItTook } from "../../runs/took/took-view";
import { causeAt } from "../../runs/trouble/cause";
import { creditNumber, duration } from "../../ui/format";
import { TIMELINE } from "../../messages/executions";

const FILLS: Readonly<Record<string, string>> = {
  completed: "var(--ok)",
  failed: "var(--bad)",
  cancelled: "var(--warn)",
  processing: "var(--accent)",
};
const WIDTH = 1_000;
const LEAST = 6;

interface Span {
  node: NodeState;
  from: number;
  to: number;
}

/** Start and end of each node in milliseconds after the run's start. Nodes that only processed values have none. */
export const spansOf = (nodes: readonly NodeState[], startedAt: number, endedAt: number): Span[] =>
  nodes.flatMap((node) => {
    if (node.startedAt === null) return [];
    const from = Math.max(0, Date.parse(node.startedAt) - startedAt);
    return [{ node, from, to: node.durationMs === null ? endedAt - startedAt : from + node.durationMs }];
  });

/** Outputs of a node by call. The list starts collapsed, because it can be long. */
const Gave = ({ node }: { node: NodeState }) => {
  const calls = callsOf(node).filter(({ outputs }) => outputs !== undefined && Object.keys(outputs).length > 0);
  const [open, setOpen] = useState(false);
  if (calls.length === 0) return null;
  return (
    <details className="col-span-full text-[13px]" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="text-muted">
        {TIMELINE.outputs(calls.length)}
        {node.truncated === true && TIMELINE.shortened}
      </summary>
      {open && (
        <ol className="mt-2 flex flex-col gap-3">
          {calls.map(({ item, outputs, creditsCost, reusedFrom }) => (
            <li key={item}>
              {calls.length > 1 && (
                <h3 className="mb-1 text-xs font-medium text-muted">
                  {TIMELINE.item(item + 1)}
                  {creditsCost > 0 && TIMELINE.credits(creditNumber(creditsCost))}
                </h3>
              )}
              {reusedFrom !== undefined && (
                <p className="mb-1 text-xs">
                  <ReusedFrom id={reusedFrom} />
                </p>
              )}
              <ResultView result={outputs ?? {}} />
            </li>
          ))}
        </ol>
      )}
    </details>
  );
};

export interface TimelineProps {
  nodes: readonly NodeState[];
  inputs: Execution["inputs"];
  /** Graph of the run; undefined if unknown. */
  graph: DocGraph | undefined;
  startedAt: number;
  endedAt: number;
}

/** Nodes as bars over time. */
export const Timeline = ({ nodes, inputs, graph, startedAt, endedAt }: TimelineProps) => {
  const ran = useMemo((): Ran => ({ nodes: new Map(nodes.map((node) => [node.id, node])), inputs }), [nodes, inputs]);
  const spans = new Map(spansOf(nodes, startedAt, endedAt).map((span) => [span.node.id, span]));
  const total = Math.max(1, endedAt - startedAt);
  const at = (ms: number): number => (ms / total) * WIDTH;
  return (
    <ol className="grid grid-cols-[minmax(7rem,14rem)_minmax(0,1fr)_auto] gap-x-4 max-sm:grid-cols-[minmax(0,1fr)_auto]">
      {nodes.map((node) => {
        const span = spans.get(node.id);
        const report = cancelReport(node.cancelReport);
        const reused = reusedShare(node);
        const own = graph && nodeById(graph, node.id);
        return (
          <li key={node.id} className="col-span-full grid grid-cols-subgrid items-center gap-y-1 border-b py-2 last:border-b-0">
            <div className="min-w-0">
              <div className="truncate text-sm font-medium">{nameOfNode(node)}</div>
              <div className="truncate text-xs text-faint">
                {node.type} · {node.id}
              </div>
            </div>
            <svg
              viewBox={`0 0 ${WIDTH} 20`}
              preserveAspectRatio="none"
              className="h-5 w-full max-sm:order-3 max-sm:col-span-2"
              role="img"
              aria-label={span ? TIMELINE.span(duration(span.from), duration(span.to - span.from)) : TIMELINE.tookNoTime}
            >
              <rect width={WIDTH} height="20" fill="var(--sunken)" />
              {span && (
                <rect
                  x={at(span.from)}
                  width={Math.max(LEAST, at(span.to - span.from))}
                  height="20"
                  rx="3"
                  fill={FILLS[node.status] ?? "var(--line-strong)"}
                />
              )}
            </svg>
            <div className="flex items-center justify-end gap-2 text-xs whitespace-nowrap tabular-nums">
              {(node.items ?? 0) > 1 && (
                <span className="text-muted">
                  {node.itemsDone ?? 0}/{node.items}
                </span>
              )}
              {node.durationMs !== null && node.durationMs > 0 && <span className="text-faint">{duration(node.durationMs)}</span>}
              {reused !== undefined && <span className="text-muted">{reused}</span>}
              {node.creditsCost > 0 && <span className="text-muted">{TIMELINE.cr(creditNumber(node.creditsCost))}</span>}
              <RunStatus status={node.status} />
            </div>
            {graph && own && node.status !== "pending" && <WhatItTook className="col-span-full" graph={graph} ran={ran} node={own} />}
            <Considered className="col-span-full" choice={node} />
            <Gave node={node} />
            {(node.error ?? node.warnings ?? report) !== undefined &&
              (node.error !== null || node.warnings !== undefined || report !== undefined) && (
                <div className="col-span-full text-[13px]">
                  {node.error && (
                    <p className="text-bad wrap-anywhere">
                      {causeAt(node.error.message, node)} <code className="font-mono text-xs">{node.error.code}</code>
                      {node.error.providerStatus !== undefined && TIMELINE.providerStatus(node.error.providerStatus)}
                    </p>
                  )}
                  {node.error?.providerBody !== undefined && (
                    <pre className="mt-1 max-h-32 overflow-auto rounded-lg bg-sunken p-2 font-mono text-xs whitespace-pre-wrap wrap-anywhere">
                      {node.error.providerBody}
                    </pre>
                  )}
                  {report !== undefined && <p className="text-warn">{report}</p>}
                  {node.warnings?.map((warning) => (
                    <p key={warning} className="text-warn wrap-anywhere">
                      {warning}
                    </p>
                  ))}
                </div>
              )}
          </li>
        );
      })}
    </ol>
  );
};
