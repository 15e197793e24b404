import { useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { afterRun } from "../../api/queries";
import type { DocNode } from "../../document/graph";
import { useLive, watchRun } from "../../runs/live";
import { ResultView } from "../../runs/result-view";
import { WhatItTook } from "../../runs/took/took-view";
import { stateIn } from "../../runs/whole/parts";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { ago, creditNumber, duration, titled } from "../../ui/format";
import { useDocument, useEditor, useUi } from "../context";
import { LAST_RUN } from "../../messages/editor/inspector";

/** Loaded lazily, because few workflows wait for people. */
const DecisionList = lazy(async () => ({ default: (await import("../../runs/approvals/decisions")).DecisionList }));

/** Loads the newest run, while none is shown. */
const LastRunButton = () => {
  const { slug } = useEditor();
  const client = useQueryClient();
  const last = useUi((state) => state.lastRun);
  if (!last) return null;
  return (
    <div className="flex items-center justify-between gap-2 border-t pt-4 text-sm text-muted">
      {LAST_RUN.inputsAndOutputs}
      {last.createdAt !== null && `, ${ago(last.createdAt)}`}
      <Button size="sm" onClick={() => watchRun(slug, last.executionId, () => afterRun(client))}>
        {LAST_RUN.showTheLastRun}
      </Button>
    </div>
  );
};

/** Inputs and outputs of a node in the shown run. */
export const LastRun = ({ node }: { node: DocNode }) => {
  const { slug } = useEditor();
  const graph = useDocument((state) => state.graph);
  const run = useLive(({ runs }) => runs[slug]);
  const progress = run && stateIn(node, run.nodes);
  const writing = useLive(({ runs }) => runs[slug]?.texts.get(`${node.id}:0`));
  if (!run) return <LastRunButton />;
  if (!progress || progress.status === "pending") return null;
  const decisions = run.execution?.decisions?.filter(({ nodeId }) => nodeId === node.id) ?? [];
  return (
    <section className="border-t pt-4">
      <h3 className="mb-2 text-[13px] font-semibold">{LAST_RUN.inThisRun}</h3>
      <div className="flex flex-wrap gap-1.5 text-xs">
        <Badge tone={progress.status === "completed" ? "ok" : progress.status === "failed" ? "bad" : "neutral"}>
          {titled(progress.status)}
        </Badge>
        {progress.durationMs !== null && <Badge>{duration(progress.durationMs)}</Badge>}
        {progress.creditsCost > 0 && <Badge>{LAST_RUN.credits(creditNumber(progress.creditsCost))}</Badge>}
        {(progress.items ?? 0) > 1 && (
          <Badge>
            {LAST_RUN.of(progress.itemsDone ?? 0)} {progress.items}
          </Badge>
        )}
      </div>
      {progress.error && <p className="mt-2 text-sm text-bad wrap-anywhere">{progress.error.message}</p>}
      {progress.warnings?.map((warning) => (
        <p key={warning} className="mt-2 text-sm text-warn wrap-anywhere">
          {warning}
        </p>
      ))}
      {decisions.length > 0 && (
        <Suspense fallback={null}>
          <div className="mt-2">
            <DecisionList decisions={decisions} />
          </div>
        </Suspense>
      )}
      <WhatItTook
        key={run.executionId}
        className="mt-3"
        graph={graph}
        ran={{ nodes: run.nodes, inputs: run.execution?.inputs }}
        node={node}
      />
      {progress.outputs && Object.keys(progress.outputs).length > 0 && (
        <div className="mt-3">
          <ResultView result={progress.outputs} />
        </div>
      )}
      {writing !== undefined && progress.outputs === undefined && (
        <p className="mt-2 text-sm whitespace-pre-wrap text-muted wrap-anywhere">{writing}</p>
      )}
    </section>
  );
};
