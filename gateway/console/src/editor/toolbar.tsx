import { Link } from "@tanstack/react-router";
import {
  ArrowLeft,
  Images,
  Lasso as LassoIcon,
  LayoutGrid,
  Lock,
  LockOpen,
  Maximize,
  PanelRight,
  Play,
  Plus,
  Redo2,
  Share2,
  TriangleAlert,
  Undo2,
  ZoomIn,
  ZoomOut,
} from "lucide-react";
import { Suspense } from "react";
import { commandById } from "./commands/commands";
import type { Stage } from "./commands/command";
import { Button, IconButton, type IconButtonProps } from "../ui/button";
import { classes } from "../ui/classes";
import { isOver, useLive } from "../runs/live";
import { shareOfRun } from "../runs/share";
import { useTitle } from "../ui/use-title";
import { useDocument, useEditor, useScene, useUi } from "./context";
import { RunButton } from "./panels/lazy-panels";
import { SaveState } from "./save-state";
import { ToolbarMenu } from "./toolbar-menu";
import { UseIt } from "./use-it";
import { VersionButton } from "./versions/version-button";
import { COMMON } from "../messages/common";
import { TOOLBAR } from "../messages/editor/page";

const History = () => {
  const { document } = useEditor();
  const undone = useDocument(({ history }) => history.past.at(-1)?.label);
  const redone = useDocument(({ history }) => history.future.at(-1)?.label);
  return (
    <span className="flex max-sm:hidden">
      <IconButton
        icon={Undo2}
        label={undone === undefined ? TOOLBAR.nothingToUndo : TOOLBAR.undo(undone)}
        keys="Mod+Z"
        disabled={undone === undefined}
        onClick={() => document.undo()}
      />
      <IconButton
        icon={Redo2}
        label={redone === undefined ? TOOLBAR.nothingToRedo : TOOLBAR.redo(redone)}
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
        {issues.length > 0 ? (count === 1 ? TOOLBAR.problem : TOOLBAR.problems) : count === 1 ? TOOLBAR.warning : TOOLBAR.warnings}
      </span>
    </button>
  );
};

/** Shows the progress of a run in the title of the tab. */
const useRunTitle = (name: string): string => {
  const { slug } = useEditor();
  const percent = useLive(({ runs }) => {
    const run = runs[slug];
    if (!run || isOver(run) || run.nodes.size === 0) return undefined;
    return Math.floor((shareOfRun(run.nodes.values()) ?? 0) * 100);
  });
  return percent === undefined ? name : TOOLBAR.running(percent, name);
};

/** Toolbar of the canvas: location, save state and Run. */
export const Toolbar = ({ stage }: { stage: Stage }) => {
  const editor = useEditor();
  const { ui, canEdit } = editor;
  const name = useDocument((state) => state.meta.name);
  useTitle(useRunTitle(name));
  const panelOpen = useUi((state) => state.panelOpen);
  const entry = (id: string) => {
    const { title, keys, run } = commandById(id);
    return { label: title, ...(keys[0] === undefined ? {} : { keys: keys[0] }), run: () => run(editor, stage) };
  };
  return (
    // On a phone the name has a line of its own.
    <header className="flex min-h-13 shrink-0 items-center gap-2 border-b bg-surface px-2 max-sm:flex-wrap max-sm:gap-y-0 max-sm:pt-1 sm:px-3">
      <Link
        to="/"
        aria-label={TOOLBAR.backToWorkflows}
        className="inline-flex size-9 shrink-0 items-center justify-center rounded-lg text-muted hover:bg-hover md:hidden"
      >
        <ArrowLeft className="size-4" aria-hidden />
      </Link>
      <h1
        className="min-w-0 truncate font-semibold max-sm:order-last max-sm:basis-full max-sm:px-1 max-sm:pb-1 max-sm:text-sm"
        title={name}
      >
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
        <UseIt />
        <ToolbarMenu stage={stage} />
        <IconButton
          icon={Share2}
          label={TOOLBAR.settingsAndSharing}
          className="max-sm:hidden"
          onClick={() => ui.setState({ overlay: "settings" })}
        />
        <IconButton
          icon={PanelRight}
          label={panelOpen ? TOOLBAR.hideSidePanel : TOOLBAR.showSidePanel}
          keys="P"
          active={panelOpen}
          onClick={() => ui.setState({ panelOpen: !panelOpen })}
        />
        <Suspense
          fallback={
            <Button variant="primary" icon={Play} disabled>
              {TOOLBAR.run}
            </Button>
          }
        >
          <RunButton stage={stage} />
        </Suspense>
      </div>
    </header>
  );
};

interface Tool extends Pick<IconButtonProps, "icon" | "label" | "keys" | "active" | "disabled" | "className"> {
  /** Only for users who can change the workflow. */
  edits?: boolean;
  onClick: () => void;
}

export const BoardTools = ({ stage }: { stage: Stage }) => {
  const editor = useEditor();
  const locked = useUi((state) => state.locked);
  const lasso = useUi((state) => state.lasso);
  const library = useUi((state) => state.library);
  const canUndo = useDocument(({ history }) => history.past.length > 0);
  const runs = (id: string) => () => commandById(id).run(editor, stage);
  const tools: readonly Tool[] = [
    { icon: Plus, label: COMMON.addNode, keys: "/", edits: true, onClick: stage.openPalette },
    // On wide screens the toolbar has this button.
    { icon: Undo2, label: TOOLBAR.undoLast, keys: "Mod+Z", edits: true, disabled: !canUndo, className: "sm:hidden", onClick: runs("undo") },
    { icon: LayoutGrid, label: TOOLBAR.tidyUp, keys: "Shift+T", edits: true, onClick: runs("tidy") },
    { icon: Images, label: TOOLBAR.yourFiles, keys: "Shift+F", edits: true, active: library, onClick: runs("library") },
    { icon: LassoIcon, label: TOOLBAR.lasso, keys: "L", active: lasso, className: "max-sm:hidden", onClick: runs("lasso") },
    { icon: ZoomIn, label: TOOLBAR.zoomIn, keys: "+", onClick: () => stage.zoom("in") },
    { icon: ZoomOut, label: TOOLBAR.zoomOut, keys: "-", onClick: () => stage.zoom("out") },
    { icon: Maximize, label: TOOLBAR.fitToScreen, keys: "Shift+1", onClick: () => stage.fit() },
    {
      icon: locked ? Lock : LockOpen,
      label: locked ? TOOLBAR.unlockCanvas : TOOLBAR.lockCanvas,
      edits: true,
      active: locked,
      onClick: () => editor.ui.setState({ locked: !locked }),
    },
  ];
  return (
    <div
      className="absolute bottom-3 left-3 z-10 flex flex-col gap-0.5 max-sm:right-3 max-sm:flex-row max-sm:justify-between max-sm:gap-0 rounded-xl border bg-surface p-1 shadow-panel"
      role="toolbar"
      aria-label={TOOLBAR.canvas}
    >
      {tools.map(
        ({ edits = false, ...tool }, index) => (editor.canEdit || !edits) && <IconButton key={index} size="sm" tipSide="right" {...tool} />,
      )}
    </div>
  );
};
