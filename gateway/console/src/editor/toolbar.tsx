import { Link } from "@tanstack/react-router";
import {
  ArrowLeft,
  CircleCheck,
  CloudAlert,
  CloudUpload,
  Images,
  Lasso as LassoIcon,
  LayoutGrid,
  Lock,
  LockOpen,
  Maximize,
  PanelRight,
  Plus,
  Redo2,
  Share2,
  TriangleAlert,
  Undo2,
  ZoomIn,
  ZoomOut,
} from "lucide-react";
import { useEffect, useState } from "react";
import type { WriteFailure, WriteState } from "../document/write-queue";
import { commandById, type Stage } from "./commands/commands";
import { endSession } from "../api/session";
import { Button, IconButton } from "../ui/button";
import { Badge } from "../ui/badge";
import { classes } from "../ui/classes";
import { useTitle } from "../ui/use-title";
import { useDocument, useEditor, useScene, useUi } from "./context";
import { ToolbarMenu } from "./toolbar-menu";
import { VersionButton } from "./versions/version-button";
import { Play } from "lucide-react";

const MS = 1_000;

const useSecondsUntil = (at: number | undefined): number | undefined => {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (at === undefined) return undefined;
    const timer = setInterval(() => setNow(Date.now()), MS);
    return () => clearInterval(timer);
  }, [at]);
  return at === undefined ? undefined : Math.max(0, Math.ceil((at - now) / MS));
};

/** Whether what is on the canvas is saved; where it isn't, why, and what can be done. */
const SaveState = () => {
  const { canEdit } = useEditor();
  const write = useDocument((state) => state.write);
  if (!canEdit) return <Badge>Read only</Badge>;
  const words = "flex items-center gap-1.5 text-xs whitespace-nowrap";
  switch (write.kind) {
    case "saved":
      return (
        <span role="status" className={classes(words, "text-faint")}>
          <CircleCheck className="size-3.5" aria-hidden /> <span className="max-sm:sr-only">Saved</span>
        </span>
      );
    case "unsaved":
    case "saving":
      return (
        <span role="status" className={classes(words, "text-faint")}>
          <CloudUpload className="size-3.5" aria-hidden /> <span className="max-sm:sr-only">Saving…</span>
        </span>
      );
    default:
      return (
        <span className={classes(words, "text-bad")}>
          <CloudAlert className="size-3.5 shrink-0" aria-hidden /> <span className="max-sm:sr-only">Not saved</span>
        </span>
      );
  }
};

const FAILURES: ReadonlySet<WriteState["kind"]> = new Set<WriteState["kind"]>(["unreachable", "signed-out", "refused", "conflict"]);

/** Why the workflow is not saved, and what can be done, under the bar. */
export const SaveFailure = () => {
  const { document, canEdit } = useEditor();
  const write = useDocument((state) => state.write);
  // While it is tried again, what was said stays.
  const [shown, setShown] = useState<WriteFailure & { retryAt?: number }>();
  useEffect(() => {
    if ("message" in write) setShown(write);
    else if (write.kind === "saved") setShown(undefined);
  }, [write]);
  const seconds = useSecondsUntil(write.kind === "unreachable" ? write.retryAt : undefined);
  if (!canEdit || !shown) return null;
  return (
    <div role="alert" className="flex flex-wrap items-center gap-x-3 gap-y-1.5 border-b bg-bad-soft px-3 py-2 text-[13px] text-bad">
      <CloudAlert className="size-4 shrink-0" aria-hidden />
      <span className="min-w-0 flex-1 wrap-anywhere">
        <b className="font-semibold">Not saved.</b> {shown.message} Kept in this browser.
        {seconds !== undefined && seconds > 0 && ` Trying again in ${seconds} s.`}
      </span>
      {shown.kind === "signed-out" ? (
        <Button size="sm" onClick={endSession}>
          Sign in
        </Button>
      ) : (
        <Button size="sm" busy={!FAILURES.has(write.kind)} onClick={() => document.retry()}>
          Try now
        </Button>
      )}
    </div>
  );
};

const History = () => {
  const { document } = useEditor();
  const undone = useDocument(({ history }) => history.past.at(-1)?.label);
  const redone = useDocument(({ history }) => history.future.at(-1)?.label);
  return (
    <span className="flex max-sm:hidden">
      <IconButton
        icon={Undo2}
        label={undone === undefined ? "Nothing to undo" : `Undo: ${undone}`}
        keys="Mod+Z"
        disabled={undone === undefined}
        onClick={() => document.undo()}
      />
      <IconButton
        icon={Redo2}
        label={redone === undefined ? "Nothing to redo" : `Redo: ${redone}`}
        keys="Mod+Shift+Z"
        disabled={redone === undefined}
        onClick={() => document.redo()}
      />
    </span>
  );
};

const ProblemsButton = () => {
  const { ui } = useEditor();
  const judgement = useScene((state) => state.judgement);
  const fresh = useUi((state) => state.fresh);
  const issues = judgement.issues.filter(({ nodeId }) => nodeId === null || !fresh.has(nodeId));
  const warned = Object.keys(judgement.warnings).filter((id) => !fresh.has(id)).length;
  if (issues.length + warned === 0) return null;
  const count = issues.length > 0 ? issues.length : warned;
  return (
    <button
      type="button"
      className={classes(
        "flex h-7 items-center gap-1.5 rounded-lg px-2 text-xs font-medium",
        issues.length > 0 ? "bg-bad-soft text-bad" : "bg-warn-soft text-warn",
      )}
      onClick={() => ui.setState({ panel: "problems", panelOpen: true })}
    >
      <TriangleAlert className="size-3.5" aria-hidden />
      {count}{" "}
      <span className="max-sm:sr-only">
        {issues.length > 0 ? (count === 1 ? "problem" : "problems") : count === 1 ? "warning" : "warnings"}
      </span>
    </button>
  );
};

/** The bar over the canvas: where one is, whether it is saved, and Run. */
export const Toolbar = ({ stage }: { stage: Stage }) => {
  const editor = useEditor();
  const { ui, canEdit } = editor;
  const name = useDocument((state) => state.meta.name);
  useTitle(name);
  const panelOpen = useUi((state) => state.panelOpen);
  const entry = (id: string) => {
    const { title, keys, run } = commandById(id);
    return { label: title, ...(keys[0] === undefined ? {} : { keys: keys[0] }), run: () => run(editor, stage) };
  };
  return (
    <header className="flex h-13 shrink-0 items-center gap-2 border-b bg-surface px-2 sm:px-3">
      <Link
        to="/"
        aria-label="Back to your workflows"
        className="inline-flex size-9 shrink-0 items-center justify-center rounded-lg text-muted hover:bg-hover md:hidden"
      >
        <ArrowLeft className="size-4" aria-hidden />
      </Link>
      <h1 className="min-w-0 truncate font-semibold" title={name}>
        {canEdit ? (
          <button type="button" className="max-w-full truncate rounded-md px-1 hover:bg-hover" onClick={entry("sharing").run}>
            {name}
          </button>
        ) : (
          name
        )}
      </h1>
      <SaveState />
      <div className="ml-auto flex items-center gap-1">
        <ProblemsButton />
        {canEdit && <VersionButton />}
        {canEdit && <History />}
        <ToolbarMenu stage={stage} />
        <IconButton
          icon={Share2}
          label="Settings and sharing"
          className="max-sm:hidden"
          onClick={() => ui.setState({ overlay: "settings" })}
        />
        <IconButton
          icon={PanelRight}
          label={panelOpen ? "Hide the side panel" : "Show the side panel"}
          keys="P"
          active={panelOpen}
          onClick={() => ui.setState({ panelOpen: !panelOpen })}
        />
        <Button variant="primary" icon={Play} onClick={entry("run").run}>
          Run
        </Button>
      </div>
    </header>
  );
};

/** Buttons in the canvas's corner. */
export const BoardTools = ({ stage }: { stage: Stage }) => {
  const editor = useEditor();
  const locked = useUi((state) => state.locked);
  const lasso = useUi((state) => state.lasso);
  const library = useUi((state) => state.library);
  return (
    <div
      className="absolute bottom-3 left-3 z-10 flex flex-col gap-0.5 rounded-xl border bg-surface p-1 shadow-panel"
      role="toolbar"
      aria-label="Canvas"
    >
      {editor.canEdit && <IconButton icon={Plus} label="Add a node" keys="/" size="sm" tipSide="right" onClick={stage.openPalette} />}
      {editor.canEdit && (
        <IconButton
          icon={LayoutGrid}
          label="Tidy up"
          keys="Shift+T"
          size="sm"
          tipSide="right"
          onClick={() => commandById("tidy").run(editor, stage)}
        />
      )}
      {editor.canEdit && (
        <IconButton
          icon={Images}
          label="Your files"
          keys="Shift+F"
          size="sm"
          active={library}
          tipSide="right"
          onClick={() => commandById("library").run(editor, stage)}
        />
      )}
      <IconButton
        icon={LassoIcon}
        label="Lasso: draw around nodes"
        keys="L"
        size="sm"
        active={lasso}
        tipSide="right"
        onClick={() => commandById("lasso").run(editor, stage)}
      />
      <IconButton icon={ZoomIn} label="Zoom in" keys="+" size="sm" tipSide="right" onClick={() => stage.zoom("in")} />
      <IconButton icon={ZoomOut} label="Zoom out" keys="-" size="sm" tipSide="right" onClick={() => stage.zoom("out")} />
      <IconButton icon={Maximize} label="Show everything" keys="Shift+1" size="sm" tipSide="right" onClick={() => stage.fit()} />
      {editor.canEdit && (
        <IconButton
          icon={locked ? Lock : LockOpen}
          label={locked ? "Unlock the canvas" : "Lock the canvas"}
          size="sm"
          active={locked}
          tipSide="right"
          onClick={() => editor.ui.setState({ locked: !locked })}
        />
      )}
    </div>
  );
};
