import type { Execution } from "@nodeloom/client";
import { Link } from "@tanstack/react-router";
import { Bell, CircleCheck, CircleStop, ExternalLink, X } from "lucide-react";
import { useLayoutEffect, useMemo, useRef, useState, type MouseEvent, type RefObject } from "react";
import { api, messageOf } from "../../api/client";
import { makesCalls, waitsForDecision } from "@nodeloom/kernel/graph";
import { nodeById, nodesOf, type DocGraph } from "../../document/graph";
import { forgetRun, isOver, type LiveRun, type NodeProgress } from "../../runs/live";
import { nameOfNode } from "../../runs/node-name";
import { reusedShare } from "../../runs/again/reused-from";
import { RunAgain, type RunAgainProps } from "../../runs/again/run-again";
import { endOutputs, failedIn } from "../../runs/outputs";
import { promptsOf } from "../../runs/prompts";
import { ResultView } from "../../runs/result-view";
import { cancelReport, RunStatus } from "../../runs/status";
import { TroubleNotice } from "../../runs/trouble/trouble-notice";
import { causeAt } from "../../runs/trouble/cause";
import { runTrouble } from "../../runs/trouble/trouble";
import { withWholes } from "../../runs/whole/parts";
import { turnsOf } from "../../runs/whole/turns";
import { outerId } from "../../runs/whole/whole";
import { WaitingNodes } from "../../runs/approvals/waiting";
import { Button, IconButton } from "../../ui/button";
import { credits, duration } from "../../ui/format";
import { Notice } from "../../ui/notice";
import { complain } from "../../ui/overlays/toast";
import { useDocument, useEditor, useScene, type Editor } from "../context";
import { reachedNodes } from "../scene/shown";
import { mayAskToNotify } from "../running/use-end-notice";
import { titleIn } from "../titles";
import { RealModels } from "./real-models";
import { COMMON } from "../../messages/common";
import { END_NOTICE } from "../../messages/editor/running";
import { RUN_VIEW } from "../../messages/editor/panels";

/** Name of a run's node. For inlined workflows it includes the workflow's name. */
const runTitle = (editor: Editor, graph: DocGraph, node: NodeProgress, nodes: ReadonlyMap<string, NodeProgress>): string => {
  const outer = nodeById(graph, outerId(node.id));
  if (!outer) return node.label ?? node.id;
  if (outer.id === node.id) return titleIn(editor, outer);
  const turns = turnsOf(node.id, nodes);
  return [titleIn(editor, outer), ...(turns.length > 0 ? [RUN_VIEW.turn(turns.join("."))] : []), nameOfNode(node)].join(" › ");
};

const UNUSED: ReadonlySet<string> = new Set(["pending", "skipped"]);

/** Nodes inside workflows that only process values aren't listed, nor turns of a loop that haven't run. */
const isListed = ({ id, type, status }: NodeProgress, nodes: ReadonlyMap<string, NodeProgress>): boolean =>
  id === outerId(id) || status === "failed" || (makesCalls(type) && !(UNUSED.has(status) && turnsOf(id, nodes).length > 0));

const Progress = ({ run }: { run: LiveRun }) => {
  const graph = useDocument((state) => state.graph);
  const editor = useEditor();
  const { document } = editor;
  const nodes = useMemo(() => reachedNodes(graph, withWholes(nodesOf(graph), run.nodes)), [graph, run.nodes]);
  return (
    <ol className="flex flex-col gap-1" aria-label={RUN_VIEW.nodesOfThisRun}>
      {[...nodes.values()]
        .filter((node) => isListed(node, run.nodes))
        .map((node) => {
          const shownNode = nodeById(graph, outerId(node.id));
          const report = cancelReport(node.cancelReport);
          const reused = reusedShare(node);
          return (
            <li key={node.id}>
              <button
                type="button"
                className="flex w-full items-center gap-2 rounded-lg px-2 py-1 text-left text-sm hover:bg-hover"
                onClick={() => shownNode && document.select([shownNode.id])}
              >
                <span className="min-w-0 flex-1">
                  <span className="block truncate">{runTitle(editor, graph, node, run.nodes)}</span>
                  {node.error && <span className="block text-xs text-bad wrap-anywhere">{causeAt(node.error.message, node)}</span>}
                  {report !== undefined && <span className="block text-xs text-warn">{report}</span>}
                </span>
                {reused !== undefined && <span className="text-xs text-muted">{reused}</span>}
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

/** Result of a run. A run without a result shows the outputs of its last nodes, so that all paid outputs are visible. */
const Result = ({ run }: { run: LiveRun }) => {
  const editor = useEditor();
  const graph = useDocument((state) => state.graph);
  const result = run.execution?.result ?? {};
  const states = [...withWholes(nodesOf(graph), run.nodes).values()].filter(({ id }) => id === outerId(id));
  const ends = Object.keys(result).length === 0 ? endOutputs(graph, { nodes: states }) : [];
  const prompts = promptsOf(graph, { nodes: [...run.nodes.values()], inputs: run.execution?.inputs ?? {} });
  if (ends.length === 0) return run.execution?.result === undefined ? null : <ResultView result={result} prompts={prompts} />;
  return ends.map(({ id, outputs }) => {
    const node = nodeById(graph, id);
    return (
      <div key={id}>
        <h2 className="mb-1.5 text-[13px] font-semibold">{node ? titleIn(editor, node) : id}</h2>
        <ResultView result={outputs} prompts={prompts} />
      </div>
    );
  });
};

/** Error of a run with node, item, reason and a remedy. */
const Failure = ({ error, run }: { error: NonNullable<Execution["error"]>; run: LiveRun }) => {
  const editor = useEditor();
  const { document, ui } = editor;
  const graph = useDocument((state) => state.graph);
  const node = run.nodes.get(error.nodeId ?? "");
  const shownNode = node && nodeById(graph, outerId(node.id));
  const title = node ? runTitle(editor, graph, node, run.nodes) : "";
  const openNode = (): void => {
    document.select([shownNode!.id]);
    ui.setState({ panel: "node", reveal: shownNode!.id });
  };
  const raise = (): void => window.document.querySelector<HTMLInputElement>("form[data-run] [data-limit]")?.focus();
  return (
    <TroubleNotice
      trouble={runTrouble(error, node && failedIn(node, title))}
      on={{ ...(shownNode ? { "open-node": openNode } : {}), "raise-limit": raise }}
    />
  );
};

/** If a run starts below this share of the window's height, it is hardly visible. */
const LOW = 0.6;

/** Scrolls a new run into view, together with its form if both fit. */
const useInView = (executionId: string, isRead: boolean): RefObject<HTMLElement | null> => {
  const section = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const { top = 0 } = section.current?.getBoundingClientRect() ?? {};
    if (top < 0 || top > innerHeight * LOW) section.current?.scrollIntoView({ block: "start" });
    // Before it is loaded, a run is too small to scroll to.
  }, [executionId, isRead]);
  return section;
};

/** Nodes of a run: open until it completes, unless the user opened or closed the list. */
const NodeList = ({ run }: { run: LiveRun }) => {
  const [isOpenChosen, choose] = useState<boolean>();
  const isOpen = isOpenChosen ?? !(isOver(run) && run.execution?.status === "completed");
  const toggle = (event: MouseEvent): void => {
    event.preventDefault();
    choose(!isOpen);
  };
  return (
    <details open={isOpen}>
      <summary className="text-[13px] font-medium text-muted" onClick={toggle}>
        {COMMON.nodes}
      </summary>
      <div className="mt-1">
        <Progress run={run} />
      </div>
    </details>
  );
};

/** Asks for the browser's permission, which needs a click. */
const NotifyMe = () => {
  const [isOffered, setOffered] = useState(mayAskToNotify);
  if (!isOffered) return null;
  return (
    <Button
      size="sm"
      variant="ghost"
      icon={Bell}
      onClick={() => void Notification.requestPermission().then(() => setOffered(mayAskToNotify()))}
    >
      {END_NOTICE.notifyMe}
    </Button>
  );
};

/** The shown run: progress, cost and end, and the results that a rerun reuses. */
export const RunView = ({ run, again }: { run: LiveRun; again: Omit<RunAgainProps, "execution"> }) => {
  const { slug, ui, canEdit } = useEditor();
  const { execution, executionId } = run;
  const section = useInView(executionId, execution !== undefined);
  const cancel = async (): Promise<void> => {
    try {
      await api.cancel(executionId);
    } catch (error) {
      complain(messageOf(error));
    }
  };
  const over = isOver(run);
  const graph = useDocument((state) => state.graph);
  const isWaiting = [...run.nodes.values()].some(
    ({ id, status }) => status === "processing" && waitsForDecision(nodeById(graph, id)?.type ?? ""),
  );
  const costs = useScene(({ judgement }) => [...judgement.prices.values()].some((price) => price.credits > 0));
  const queued = (execution as { queued?: boolean; position?: number } | undefined)?.queued === true;
  return (
    <section ref={section} aria-label={RUN_VIEW.run} className="flex scroll-mt-4 flex-col gap-3">
      <header className="flex flex-wrap items-center gap-2">
        <RunStatus status={execution?.status ?? "processing"} />
        <span className="text-xs text-muted tabular-nums" aria-live="polite">
          {over && execution
            ? `${duration(execution.durationMs)} · ${credits(execution.creditsCost)}`
            : queued
              ? RUN_VIEW.queued
              : run.connected
                ? RUN_VIEW.live
                : run.problem === undefined && RUN_VIEW.connecting}
        </span>
        <span className="ml-auto flex">
          <Link
            to="/executions/$id"
            params={{ id: executionId }}
            aria-label={RUN_VIEW.openRun}
            className="inline-flex size-7 items-center justify-center rounded-lg text-muted hover:bg-hover"
          >
            <ExternalLink className="size-4" aria-hidden />
          </Link>
          {(over || run.problem?.passes === false) && (
            <IconButton icon={X} size="sm" label={RUN_VIEW.clearFromCanvas} onClick={() => forgetRun(slug)} />
          )}
        </span>
      </header>
      {!over && run.problem?.passes !== false && (
        <div>
          <Button size="sm" icon={CircleStop} disabled={execution?.status === "cancel_requested"} onClick={() => void cancel()}>
            {COMMON.cancel}
          </Button>
          <NotifyMe />
          {costs && <p className="mt-1 text-xs text-faint">{RUN_VIEW.cancelHint}</p>}
        </div>
      )}
      {run.problem !== undefined && !over && (
        <Notice kind="warn" title={RUN_VIEW.notUpdating}>
          {run.problem.message} {run.problem.passes ? RUN_VIEW.reconnecting : ""}
        </Notice>
      )}
      {!over && isWaiting && <WaitingNodes executionId={executionId} />}
      {execution?.error && <Failure error={execution.error} run={run} />}
      <Result run={run} />
      {execution?.status === "completed" && <RealModels />}
      {canEdit && execution?.status === "completed" && (
        <div>
          <Button size="sm" icon={CircleCheck} onClick={() => ui.setState({ overlay: "tests", testedRun: executionId })}>
            {RUN_VIEW.saveAsTest}
          </Button>
        </div>
      )}
      {over && execution && <RunAgain key={executionId} execution={execution} {...again} />}
      <NodeList key={`nodes ${executionId}`} run={run} />
    </section>
  );
};
