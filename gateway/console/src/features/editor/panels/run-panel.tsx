import { inputFields, savedValues, upToNode } from "@nodeloom/kernel/graph";
import { useQueryClient } from "@tanstack/react-query";
import { Code2, Milestone, Play, X } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { afterRun } from "../../../api/queries";
import { kernelGraph, nodeById } from "../../../document/graph";
import { isOver, useLive, watchRun } from "../../../runs/live";
import { Affordable } from "../../../runs/affordable";
import { refusalOf, startRun, useQuote, type Refusal, type RunTarget } from "../../../runs/request";
import { priceOf, RunPrice, useLimit } from "../../../runs/run-price";
import { initialValues, RunForm, sentInputs } from "../../../runs/run-form";
import { TroubleNotice } from "../../../runs/trouble/trouble-notice";
import { Button, IconButton } from "../../../ui/button";
import { Notice } from "../../../ui/notice";
import { RunView } from "./run-view";
import { useDocument, useEditor, useUi } from "../context";
import { rememberPrints } from "../scene/fingerprints";
import { nodeTitle } from "../titles";

/** What Run means here: the draft that is on the canvas; of a template of somebody else, what everybody runs. */
const useTarget = (): RunTarget => {
  const { slug, canEdit } = useEditor();
  const until = useUi((state) => state.until);
  return useMemo(() => ({ workflow: slug, until, ...(canEdit ? { version: "draft" as const } : {}) }), [slug, canEdit, until]);
};

/** Has the canvas follow a run that was started. */
const useFollow = () => {
  const { slug, document } = useEditor();
  const client = useQueryClient();
  return (executionId: string, graph = document.store.getState().graph): void => {
    rememberPrints(slug, executionId, graph);
    watchRun(slug, executionId, () => afterRun(client));
    afterRun(client);
  };
};

/** Starts a run of what is on the canvas: saved first, answered at once, followed by its events. */
const useStart = (target: RunTarget, inputs: () => Record<string, unknown>, limit: number | null) => {
  const { document } = useEditor();
  const follow = useFollow();
  const [starting, setStarting] = useState(false);
  const [refused, setRefused] = useState<Refusal>();
  const start = async (): Promise<void> => {
    setStarting(true);
    setRefused(undefined);
    try {
      if (!(await document.flush())) throw new Error("The workflow is not saved yet, so it was not run. See beside its name why.");
      const { graph } = document.store.getState();
      follow(await startRun(target, inputs(), limit), graph);
    } catch (error) {
      setRefused(refusalOf(error));
    } finally {
      setStarting(false);
    }
  };
  return { start, starting, refused };
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
  const { slug, me, ui, document, canEdit } = useEditor();
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
  // Of what is somebody else's, all of it runs.
  const again = { inputs, ...(canEdit ? { version: "draft", ...(until === undefined ? {} : { until }) } : {}) };
  const follow = useFollow();
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
          <RunView run={run} again={{ again, revision: etag, before: () => document.flush(), onStarted: follow }} />
        </>
      )}
    </div>
  );
};
