import type { RerunQuote } from "@nodeloom/client";
import { useQueryClient } from "@tanstack/react-query";
import { Code2, Milestone, Pin, Play, X } from "lucide-react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { afterRun } from "../../api/queries";
import { issueWords } from "../../messages/issues";
import { nodeById } from "../../document/graph";
import { isOver, useLive, watchRun, type LiveRun } from "../../runs/live";
import { reusedWords, startRerun, useRerunQuote, type Again } from "../../runs/again/rerun";
import { Affordable } from "../../runs/affordable";
import { Considered } from "../../runs/considered";
import { refusalOf, startRun, useQuote, type Refusal, type RunTarget } from "../../runs/request";
import { priceOf, RunPrice, useLimit } from "../../runs/run-price";
import { RunForm } from "../../runs/run-form";
import { RunStatus } from "../../runs/status";
import type { Trouble } from "../../runs/trouble/trouble";
import { TroubleNotice } from "../../runs/trouble/trouble-notice";
import { ago } from "../../ui/format";
import { Button, IconButton } from "../../ui/button";
import { Notice } from "../../ui/notice";
import { useKept, type PinnedResults } from "../pins/use-kept";
import { RecentRuns } from "./recent-runs";
import { RunView } from "./run-view";
import { useDocument, useEditor, useScene, useUi } from "../context";
import { useRunInputs } from "../run-inputs";
import { useFollow } from "../running/use-follow";
import { samePrints } from "../scene/fingerprints";
import { sameInputs } from "../running/next-run";
import { titleIn } from "../titles";
import { NONE } from "../ui-store";
import { RUN_PANEL } from "../../messages/editor/panels";
import { NOT_STARTED } from "../../messages/common";

/** Target of Run: the draft on the canvas, or the published version of another user's template. */
const useTarget = (): RunTarget => {
  const { slug, canEdit } = useEditor();
  const until = useUi((state) => state.until);
  return useMemo(() => ({ workflow: slug, until, ...(canEdit ? { version: "draft" as const } : {}) }), [slug, canEdit, until]);
};

/** Saves the canvas, starts its run, and follows the run's events. */
const useStart = (
  target: RunTarget,
  keptPins: PinnedResults | undefined,
  inputs: () => Record<string, unknown>,
  { limit, isCurrent }: { limit: number | null; isCurrent: boolean },
) => {
  const { document } = useEditor();
  const follow = useFollow();
  const isSaving = useDocument(({ write: { kind } }) => kind === "unsaved" || kind === "saving");
  const [pressed, setPressed] = useState(false);
  const [starting, setStarting] = useState(false);
  const [refusal, setRefused] = useState<Refusal>();
  const start = async (): Promise<void> => {
    setStarting(true);
    setRefused(undefined);
    try {
      if (!(await document.flush())) throw new Error(NOT_STARTED);
      const { graph } = document.store.getState();
      follow(await (keptPins ? startRerun(keptPins.base, keptPins.again, limit) : startRun(target, inputs(), limit)), graph);
    } catch (error) {
      setRefused(refusalOf(error));
    } finally {
      setStarting(false);
    }
  };
  // The limit of an earlier price would reject the run.
  const isWaiting = isSaving || !isCurrent;
  useEffect(() => {
    if (!pressed || isWaiting) return;
    setPressed(false);
    void start();
  }, [pressed, isWaiting]);
  const press = (): void => {
    setPressed(true);
    void document.flush();
  };
  return { press, starting: starting || pressed, refusal };
};

/** Shows that Run ends at one node, with a button to reset this. */
const RunsTo = () => {
  const editor = useEditor();
  const { ui } = editor;
  const until = useUi((state) => state.until);
  const node = useDocument(({ graph }) => (until === undefined ? undefined : nodeById(graph, until)));
  if (!node) return null;
  return (
    <div className="flex items-center gap-2 rounded-xl bg-accent-soft py-1.5 pr-1.5 pl-3 text-sm text-accent-text">
      <Milestone className="size-4 shrink-0" aria-hidden />
      <span className="min-w-0 flex-1 wrap-anywhere">
        {RUN_PANEL.runsTo} <b className="font-semibold">{titleIn(editor, node)}</b>
        {RUN_PANEL.andTheNodesItNeeds}
      </span>
      <IconButton icon={X} size="sm" label={RUN_PANEL.runAllNodes} onClick={() => ui.setState({ until: undefined })} />
    </div>
  );
};

/** Offers the newest completed run when a workflow opens. */
const LastRun = ({ onShow }: { onShow: (executionId: string) => void }) => {
  const last = useUi((state) => state.lastRun);
  if (!last) return null;
  return (
    <div className="flex items-center justify-between gap-2 border-t pt-4 text-sm">
      <span className="flex min-w-0 items-center gap-2 text-muted">
        <RunStatus status={last.status} /> {last.createdAt !== null && ago(last.createdAt)}
      </span>
      <Button size="sm" onClick={() => onShow(last.executionId)}>
        {RUN_PANEL.showTheLastRun}
      </Button>
    </div>
  );
};

/** Replaces node ids by names in the problems of a graph. */
const useNamed = (trouble: Trouble | undefined): Trouble | undefined => {
  const [issue, ...others] = useScene((state) => state.judgement.issues);
  const editor = useEditor();
  const title = useDocument(({ graph }) => {
    const node = issue === undefined || issue.nodeId === null ? undefined : nodeById(graph, issue.nodeId);
    return node && titleIn(editor, node);
  });
  if (!trouble?.remedies.includes("see-problems") || !issue) return trouble;
  const cause = `${title === undefined ? "" : `“${title}”: `}${issueWords(issue)}`;
  return {
    ...trouble,
    cause,
    advice: others.length === 0 ? undefined : RUN_PANEL.moreProblems(others.length),
  };
};

/** Nodes whose calls are all reused. */
const reusedIn = ({ nodes }: RerunQuote): ReadonlySet<string> =>
  new Set(nodes.filter(({ items, reusedItems }) => reusedItems.length > 0 && reusedItems.length >= items).map(({ id }) => id));

/** Inputs, price and Run; after the start, progress. */
export const RunPanel = () => {
  const editor = useEditor();
  const { slug, me, ui, document, canEdit } = editor;
  const client = useQueryClient();
  const run = useLive(({ runs }) => runs[slug]);
  const until = useUi((state) => state.until);
  const { fields, values, inputs } = useRunInputs(until);
  const hasLast = useUi(({ lastRun }) => Boolean(lastRun));
  const target = useTarget();
  const etag = useDocument((state) => state.etag);
  // Another user's workflow always runs as a whole.
  const again: Again = { inputs, ...(canEdit ? { version: "draft", ...(until === undefined ? {} : { until }) } : {}) };
  const keptPins = useKept(again);
  const plain = useQuote(target, inputs, me.user.approved && keptPins === undefined, etag);
  const partial = useRerunQuote(keptPins?.base ?? "", keptPins?.again ?? {}, me.user.approved && keptPins !== undefined, etag);
  const { quote, problem, isCurrent } = keptPins ? partial : plain;
  const [limit, price] = [useLimit(quote), priceOf(quote)];
  const most = limit.limit ?? undefined;
  useEffect(() => ui.setState({ maxCredits: most }), [ui, most]);
  const { press, starting, refusal: refused } = useStart(target, keptPins, () => inputs, { limit: limit.limit, isCurrent });
  const [refusal, expected] = [useNamed(refused?.trouble), useNamed(problem)];
  const remedies = { "see-problems": () => ui.setState({ panel: "problems" }) };
  const isAgain = canEdit && keptPins === undefined && until === undefined && (isOver(run) || (run === undefined && hasLast));
  const running = run !== undefined && !isOver(run);
  const follow = useFollow();
  const graph = useDocument((state) => state.graph);
  const nameOf = (id: string): string => {
    const node = nodeById(graph, id);
    return node ? titleIn(editor, node) : id;
  };
  const isUnchanged = ({ executionId, execution }: LiveRun): boolean =>
    samePrints(slug, executionId, graph) && sameInputs(execution?.inputs, inputs);
  const onQuote = useCallback((next: RerunQuote | undefined) => ui.setState({ reused: next ? reusedIn(next) : NONE }), [ui]);
  return (
    <div className="flex flex-col gap-5 p-4">
      <form
        data-run
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          press();
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
        {!me.user.approved && <Notice kind="warn">{RUN_PANEL.awaitsApproval}</Notice>}
        {refusal && <TroubleNotice trouble={refusal} on={remedies} />}
        {!refusal && expected && <TroubleNotice kind="warn" trouble={expected} on={remedies} />}
        {/* In sight however long the form is. */}
        <div className="sticky bottom-0 z-1 -mx-4 flex flex-wrap items-center gap-2 bg-surface px-4 py-2">
          <Button type="submit" variant="primary" icon={Play} busy={starting} disabled={!me.user.approved} data-testid="run">
            {`${isAgain ? RUN_PANEL.runAllNodesAgain : RUN_PANEL.run}${price === undefined ? "" : ` · ${price}`}`}
          </Button>
          <Button icon={Code2} onClick={() => ui.setState({ overlay: "api" })}>
            {RUN_PANEL.useAsApi}
          </Button>
        </div>
        {keptPins && (
          <p className="flex items-start gap-1.5 text-xs text-muted">
            <Pin className="mt-0.5 size-3.5 shrink-0" aria-hidden />
            <span>
              {RUN_PANEL.keepsResults(keptPins.names)}
              {partial.quote && `: ${reusedWords(partial.quote)}`}.
            </span>
          </p>
        )}
        <RunPrice quote={quote} limit={limit} />
        {quote?.nodes.map((node) => (
          <Considered key={node.id} title={nameOf(node.id)} choice={node} />
        ))}
        {refused?.trouble.remedies.includes("see-credits") !== true && <Affordable quote={quote} limit={limit.limit} />}
        {running && <p className="text-xs text-muted">{RUN_PANEL.runInProgress}</p>}
      </form>
      {!run && <LastRun onShow={(executionId) => watchRun(slug, executionId, () => afterRun(client))} />}
      {run && (
        <>
          <hr />
          <RunView
            run={run}
            again={{
              again: { ...again, reuse: keptPins?.again.reuse ?? [] },
              revision: etag,
              before: () => document.flush(),
              onQuote,
              isUnchanged: isUnchanged(run),
              onStarted: follow,
            }}
          />
        </>
      )}
      <RecentRuns activeId={run?.executionId} />
    </div>
  );
};
