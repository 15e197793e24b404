import { useQueryClient } from "@tanstack/react-query";
import { ChevronDown, Dices, ListChecks, Play, RotateCcw } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { executionQuery } from "../../api/queries";
import { refusalTrouble } from "../../runs/trouble/trouble";
import { priceOf } from "../../runs/run-price";
import { Button } from "../../ui/button";
import { Menu } from "../../ui/overlays/menu";
import { takeRunOnOpen } from "../../runs/run-on-open";
import { complain, say } from "../../ui/overlays/toast";
import type { Stage } from "../commands/command";
import { useEditor } from "../context";
import { samePrints } from "../scene/fingerprints";
import { isAllReused, limitOf, quoteNow, sameInputs, startNext, useNextRun, type NextRun } from "./next-run";
import { setNewSeeds } from "./new-seed";
import { useFollow } from "./use-follow";
import { NOT_STARTED } from "../../messages/common";
import { RUN_BUTTON } from "../../messages/editor/running";

/** Share of the credits that a run pressed before its price was shown can cost without a second press. */
const UNSEEN_SHARE = 0.1;

/** Starts the next run at the accepted price, or shows why it can't start. */
const useStart = (next: NextRun, acceptedCredits: number, openForm: () => void) => {
  const { document, slug, ui } = useEditor();
  const client = useQueryClient();
  const follow = useFollow();
  const isUnchanged = async (base: string): Promise<boolean> => {
    const { inputs } = await client.ensureQueryData(executionQuery(base));
    return samePrints(slug, base, document.store.getState().graph) && sameInputs(inputs, next.inputs);
  };
  const start = async (startedRun: NextRun, accepted: number): Promise<void> => {
    if (!(await document.flush())) throw new Error(NOT_STARTED);
    const quote = await quoteNow(startedRun);
    const most = limitOf(quote);
    if (startedRun.base !== undefined && startedRun.isBaseLast && isAllReused(quote) && (await isUnchanged(startedRun.base)))
      return say(RUN_BUTTON.nothingChanged, {
        label: RUN_BUTTON.runAllNodesAgain,
        run: () => void attempt({ ...next, base: undefined }),
      });
    if (startedRun === next && (most ?? 0) > accepted) return say(RUN_BUTTON.costsMore(priceOf(quote) ?? "more"));
    const { graph } = document.store.getState();
    follow(await startNext(startedRun, most), graph);
    ui.setState({ until: undefined, panel: "run", panelOpen: true });
  };
  /** @param isShown true if the form already shows why the run can't start */
  const attempt = async (attemptedRun: NextRun, isShown = false, accepted = acceptedCredits): Promise<void> => {
    try {
      await start(attemptedRun, accepted);
    } catch (error) {
      const { title, advice } = refusalTrouble(error);
      if (!isShown) complain([title, advice].filter(Boolean).join(". "));
      openForm();
    }
  };
  return attempt;
};

/** A press that waits until the last run and the price are known. */
interface Press {
  /** Price in credits that the user saw elsewhere. */
  accepted?: number;
}

/** Runs the workflow with one click, at the price on the button in the corner. */
export const RunButton = ({ stage }: { stage: Stage }) => {
  const editor = useEditor();
  const { slug, me } = editor;
  const { next, quote, problem, empty, isCurrent } = useNextRun();
  const [busy, setBusy] = useState(false);
  const [press, setPress] = useState<Press>();
  const openForm = (): void => {
    editor.ui.setState({ until: undefined });
    stage.run();
  };
  const shownCredits = (quote && limitOf(quote)) ?? 0;
  const unseen = (me.credits.plan + me.credits.topUp) * UNSEEN_SHARE;
  const attempt = useStart(next, isCurrent ? shownCredits : Math.max(shownCredits, unseen), openForm);
  const latest = useRef({ next, attempt });
  useEffect(() => {
    latest.current = { next, attempt };
  });
  const run = async (nextRun: () => NextRun, accepted?: number): Promise<void> => {
    if (empty) return openForm();
    setBusy(true);
    try {
      // The problem can be that of the graph before the last change.
      await latest.current.attempt(nextRun(), problem !== undefined, accepted);
    } finally {
      setBusy(false);
    }
  };
  const isReady = empty || quote !== undefined || problem !== undefined;
  useEffect(() => {
    const accepted = takeRunOnOpen(slug);
    if (accepted !== undefined && me.user.approved) setPress({ accepted });
  }, [slug, me.user.approved]);
  useEffect(() => {
    if (!press || !isReady) return;
    setPress(undefined);
    void run(() => next, press.accepted);
  }, [press, isReady]);
  const price = priceOf(quote);
  const entries = [
    { label: RUN_BUTTON.inputsAndPrice, icon: ListChecks, keys: "Mod+Enter", run: openForm },
    { label: RUN_BUTTON.runAllNodesAgain, icon: RotateCcw, run: () => void run(() => ({ ...next, base: undefined })) },
    ...(editor.canEdit
      ? [
          {
            label: RUN_BUTTON.newSeed,
            icon: Dices,
            run: () => (setNewSeeds(editor) === 0 ? complain(RUN_BUTTON.noSeed) : void run(() => ({ ...latest.current.next }))),
          },
        ]
      : []),
  ];
  return (
    <span className="flex">
      <Button
        variant="primary"
        icon={Play}
        className="rounded-r-none"
        busy={busy || press !== undefined}
        disabled={!me.user.approved}
        data-testid="run-now"
        onClick={() => setPress({})}
      >
        {RUN_BUTTON.run}
        {quote && <span className="font-normal max-sm:hidden">· {price ?? RUN_BUTTON.free}</span>}
      </Button>
      <Menu
        trigger={
          <Button variant="primary" aria-label={RUN_BUTTON.moreRunOptions} className="rounded-l-none border-l border-page/25 px-1.5!">
            <ChevronDown className="size-4" aria-hidden />
          </Button>
        }
        entries={entries}
      />
    </span>
  );
};
