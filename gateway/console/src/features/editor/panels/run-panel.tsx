import type { Execution } from "@nodeloom/client";
import { inputFields, savedValues, upToNode } from "@nodeloom/kernel/graph";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleStop, Code2, ExternalLink, Milestone, Play, X } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { api, messageOf } from "../../../api/client";
import { afterRun } from "../../../api/queries";
import { kernelGraph, nodeById } from "../../../document/graph";
import { forgetRun, isOver, useLive, watchRun, type LiveRun } from "../../../runs/live";
import { Affordable } from "../../../runs/affordable";
import { endOutputs, failedIn } from "../../../runs/outputs";
import { ResultView } from "../../../runs/result-view";
import { refusalOf, startRun, useQuote, type Refusal, type RunTarget } from "../../../runs/request";
import { priceOf, RunPrice, useLimit } from "../../../runs/run-price";
import { initialValues, RunForm, sentInputs } from "../../../runs/run-form";
import { cancelReport, RunStatus } from "../../../runs/status";
import { TroubleNotice } from "../../../runs/trouble/trouble-notice";
import { runTrouble } from "../../../runs/trouble/words";
import { Button, IconButton } from "../../../ui/button";
import { credits, duration } from "../../../ui/format";
import { Notice } from "../../../ui/notice";
import { complain } from "../../../ui/overlays/toast";
import { useDocument, useEditor, useUi } from "../context";
import { rememberPrints } from "../scene/fingerprints";
import { reachedNodes } from "../scene/shown";
import { nodeTitle } from "../titles";

/** What Run means here: the draft that is on the canvas; of a template of somebody else, what everybody runs. */
const useTarget = (): RunTarget => {
  const { slug, canEdit } = useEditor();
  const until = useUi((state) => state.until);
  return useMemo(() => ({ workflow: slug, until, ...(canEdit ? { version: "draft" as const } : {}) }), [slug, canEdit, until]);
};

/** Starts a run of what is on the canvas: saved first, answered at once, followed by its events. */
const useStart = (target: RunTarget, inputs: () => Record<string, unknown>, limit: number | null) => {
  const { slug, document } = useEditor();
  const client = useQueryClient();
  const [starting, setStarting] = useState(false);
  const [refused, setRefused] = useState<Refusal>();
  const start = async (): Promise<void> => {
    setStarting(true);
    setRefused(undefined);
    try {
      if (!(await document.flush())) throw new Error("The workflow is not saved yet, so it was not run. See beside its name why.");
      const { graph } = document.store.getState();
      const executionId = await startRun(target, inputs(), limit);
      rememberPrints(slug, executionId, graph);
      watchRun(slug, executionId, () => afterRun(client));
      afterRun(client);
    } catch (error) {
      setRefused(refusalOf(error));
    } finally {
      setStarting(false);
    }
  };
  return { start, starting, refused };
};

const Progress = ({ run }: { run: LiveRun }) => {
  const graph = useDocument((state) => state.graph);
  const { document } = useEditor();
  const nodes = useMemo(() => reachedNodes(graph, run.nodes), [graph, run.nodes]);
  return (
    <ol className="flex flex-col gap-1" aria-label="Nodes of this run">
      {[...nodes.values()].map((node) => {
        const shown = nodeById(graph, node.id);
        const report = cancelReport(node.cancelReport);
        return (
          <li key={node.id}>
            <button
              type="button"
              className="flex w-full items-center gap-2 rounded-lg px-2 py-1 text-left text-sm hover:bg-hover"
              onClick={() => shown && document.select([node.id])}
            >
              <span className="min-w-0 flex-1">
                <span className="block truncate">{shown ? nodeTitle(shown) : (node.label ?? node.id)}</span>
                {node.error && <span className="block text-xs text-bad wrap-anywhere">{node.error.message}</span>}
                {report !== undefined && <span className="block text-xs text-warn">{report}</span>}
              </span>
              {(node.items ?? 0) > 1 && (
                <span className="text-xs text-muted tabular-nums">
                  {node.itemsDone ?? 0}/{node.items}
                </span>
              )}
              {node.durationMs !== null && <span className="text-xs text-faint tabular-nums">{duration(node.durationMs)}</span>}
              <RunStatus status={node.status} />
            </button>
          </li>
        );
      })}
    </ol>
  );
};

/** What a run gave; one without a result, what its last nodes gave: nothing that was paid for is hidden. */
const Result = ({ run }: { run: LiveRun }) => {
  const graph = useDocument((state) => state.graph);
  const result = run.execution?.result ?? {};
  const ends = Object.keys(result).length === 0 ? endOutputs(graph, { nodes: [...run.nodes.values()] }) : [];
  if (ends.length === 0) return run.execution?.result === undefined ? null : <ResultView result={result} />;
  return ends.map(({ id, outputs }) => {
    const node = nodeById(graph, id);
    return (
      <div key={id}>
        <h3 className="mb-1.5 text-[13px] font-semibold">{node ? nodeTitle(node) : id}</h3>
        <ResultView result={outputs} />
      </div>
    );
  });
};

/** What went wrong with a run: at which node and item, why, and a button for what helps. */
const Failure = ({ error, run }: { error: NonNullable<Execution["error"]>; run: LiveRun }) => {
  const { document, ui } = useEditor();
  const graph = useDocument((state) => state.graph);
  const node = run.nodes.get(error.nodeId ?? "");
  const shown = node && nodeById(graph, node.id);
  const title = shown ? nodeTitle(shown) : (node?.label ?? node?.id ?? "");
  const openNode = (): void => {
    document.select([node!.id]);
    ui.setState({ panel: "node", reveal: node!.id });
  };
  const raise = (): void => window.document.querySelector<HTMLInputElement>("form[data-run] [data-limit]")?.focus();
  return (
    <TroubleNotice
      trouble={runTrouble(error, node && failedIn(node, title))}
      on={{ ...(shown ? { "open-node": openNode } : {}), "raise-limit": raise }}
    />
  );
};

/** The run that is shown: its progress, what it cost, its end. */
const RunView = ({ run }: { run: LiveRun }) => {
  const { slug } = useEditor();
  const { execution, executionId } = run;
  const cancel = async (): Promise<void> => {
    try {
      await api.cancel(executionId);
    } catch (error) {
      complain(messageOf(error));
    }
  };
  const over = isOver(run);
  const queued = (execution as { queued?: boolean; position?: number } | undefined)?.queued === true;
  return (
    <section aria-label="Run" className="flex flex-col gap-3">
      <header className="flex flex-wrap items-center gap-2">
        <RunStatus status={execution?.status ?? "processing"} />
        <span className="text-xs text-muted tabular-nums" aria-live="polite">
          {over && execution
            ? `${duration(execution.durationMs)} · ${credits(execution.creditsCost)}`
            : queued
              ? "waiting in line"
              : run.connected
                ? "live"
                : run.problem === undefined && "connecting…"}
        </span>
        <span className="ml-auto flex">
          <Link
            to="/executions/$id"
            params={{ id: executionId }}
            aria-label="Open this run's page"
            className="inline-flex size-7 items-center justify-center rounded-lg text-muted hover:bg-hover"
          >
            <ExternalLink className="size-4" aria-hidden />
          </Link>
          {(over || run.problem?.passes === false) && (
            <IconButton icon={X} size="sm" label="Clear from the canvas" onClick={() => forgetRun(slug)} />
          )}
        </span>
      </header>
      {!over && run.problem?.passes !== false && (
        <div>
          <Button size="sm" icon={CircleStop} disabled={execution?.status === "cancel_requested"} onClick={() => void cancel()}>
            Cancel
          </Button>
          <p className="mt-1 text-xs text-faint">What was sent to a provider is charged; nothing that was charged is given back.</p>
        </div>
      )}
      {run.problem !== undefined && !over && (
        <Notice kind="warn" title="Not followed at the moment">
          {run.problem.message} {run.problem.passes ? "The run goes on without this page; trying again." : ""}
        </Notice>
      )}
      {execution?.error && <Failure error={execution.error} run={run} />}
      <Result run={run} />
      <details open={!over || execution?.status !== "completed"}>
        <summary className="text-[13px] font-medium text-muted">Nodes</summary>
        <div className="mt-1">
          <Progress run={run} />
        </div>
      </details>
    </section>
  );
};

/** Says that Run goes to one node, and lets it go through again. */
const RunsTo = () => {
  const { ui } = useEditor();
  const until = useUi((state) => state.until);
  const node = useDocument(({ graph }) => (until === undefined ? undefined : nodeById(graph, until)));
  if (!node) return null;
  return (
    <div className="flex items-center gap-2 rounded-xl bg-accent-soft py-1.5 pr-1.5 pl-3 text-sm text-accent-text">
      <Milestone className="size-4 shrink-0" aria-hidden />
      <span className="min-w-0 flex-1 wrap-anywhere">
        Runs to <b className="font-semibold">{nodeTitle(node)}</b>, and what it needs.
      </span>
      <IconButton icon={X} size="sm" label="Run everything" onClick={() => ui.setState({ until: undefined })} />
    </div>
  );
};

/** Inputs, price, Run; then what happens. */
export const RunPanel = () => {
  const { slug, me, ui } = useEditor();
  const graph = useDocument((state) => state.graph);
  const run = useLive(({ runs }) => runs[slug]);
  const until = useUi((state) => state.until);
  const fields = useMemo(() => {
    const whole = { ...kernelGraph(graph), issues: [] };
    return inputFields((until === undefined ? undefined : upToNode(whole, until)) ?? whole);
  }, [graph, until]);
  const saved = useMemo(() => savedValues(kernelGraph(graph)), [graph]);
  const typed = useUi((state) => state.typed);
  const values = { ...initialValues(fields, saved), ...typed };
  const inputs = sentInputs(fields, values);
  const target = useTarget();
  const etag = useDocument((state) => state.etag);
  const { quote, problem } = useQuote(target, inputs, me.user.approved, etag);
  const [limit, price] = [useLimit(quote), priceOf(quote)];
  const most = limit.limit ?? undefined;
  useEffect(() => ui.setState({ maxCredits: most }), [ui, most]);
  const { start, starting, refused } = useStart(target, () => inputs, limit.limit);
  const remedies = { "see-problems": () => ui.setState({ panel: "problems" }) };
  const running = run !== undefined && !isOver(run);
  return (
    <div className="flex flex-col gap-5 p-4">
      <form
        data-run
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <RunsTo />
        <RunForm
          fields={fields}
          values={values}
          onChange={(next) => ui.setState({ typed: next })}
          errors={refused?.fields}
          mayUpload={me.user.approved}
        />
        {!me.user.approved && (
          <Notice kind="warn">Your account waits for approval. You can build; running begins when an administrator has approved it.</Notice>
        )}
        {refused && <TroubleNotice trouble={refused.trouble} on={remedies} />}
        {!refused && problem !== undefined && <TroubleNotice kind="warn" trouble={problem} on={remedies} />}
        <div className="flex flex-wrap items-center gap-2">
          <Button type="submit" variant="primary" icon={Play} busy={starting} disabled={!me.user.approved} data-testid="run">
            {price === undefined ? "Run" : `Run · ${price}`}
          </Button>
          <Button icon={Code2} onClick={() => ui.setState({ overlay: "api" })}>
            Use as API
          </Button>
        </div>
        <RunPrice quote={quote} limit={limit} />
        <Affordable quote={quote} />
        {running && <p className="text-xs text-muted">A run is going on; another one may be started beside it.</p>}
      </form>
      {run && (
        <>
          <hr />
          <RunView run={run} />
        </>
      )}
    </div>
  );
};
