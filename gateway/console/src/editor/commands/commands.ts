import type { Alignment } from "../../canvas/rects";
import { messageOf } from "../../api/client";
import { complain, say } from "../../ui/overlays/toast";
import {
  alignSelection,
  copySelection,
  deleteBridging,
  deleteSelection,
  duplicateSelection,
  neighbour,
  nudge,
  selectAll,
  tidy,
} from "./actions";
import { selectedNodes } from "../chosen";
import type { Command } from "./command";
import { frameSelection, withFrameContents } from "./frame-actions";
import { bypass, collapse, rename } from "./node-actions";
import { pin } from "../pins/pin";
import { openInner, runToHere, swap, sweep, touch, viewMade } from "./selected-node";
import { COMMON } from "../../messages/common";
import { COMMANDS_TEXTS } from "../../messages/editor/commands";
import { TOUCH } from "../../messages/editor/touch";

const command = (
  id: string,
  title: string,
  group: Command["group"],
  keys: readonly string[],
  run: Command["run"],
  edits = false,
): Command => ({ id, title, group, keys, run, edits });
const edit = (id: string, title: string, keys: readonly string[], run: Command["run"], group: Command["group"] = "edit"): Command =>
  command(id, title, group, keys, run, true);

const alignments: readonly (readonly [Alignment, string])[] = [
  ["left", COMMANDS_TEXTS.alignLeft],
  ["center", COMMANDS_TEXTS.alignCenters],
  ["right", COMMANDS_TEXTS.alignRight],
  ["top", COMMANDS_TEXTS.alignTop],
  ["middle", COMMANDS_TEXTS.alignMiddles],
  ["bottom", COMMANDS_TEXTS.alignBottom],
  ["row", COMMANDS_TEXTS.distributeHorizontally],
  ["column", COMMANDS_TEXTS.distributeVertically],
];

/** Saving is automatic. On request a notice confirms it. */
const save: Command["run"] = ({ document, canEdit }) => {
  if (!canEdit) return complain(COMMANDS_TEXTS.readOnlyHint);
  void document.flush().then((saved) => (saved ? say(COMMANDS_TEXTS.allSaved) : complain(COMMANDS_TEXTS.notSavedYet)));
};

const exportJson: Command["run"] = ({ document, slug }) =>
  void document
    .flush()
    .then(async () => (await import("../../features/workflows/export")).exportWorkflow(slug))
    .catch((error: unknown) => complain(messageOf(error)));

const STEP = 10;
const LEAP = 50;
const go =
  (direction: "left" | "right" | "up" | "down"): Command["run"] =>
  (editor, stage) => {
    const id = neighbour(editor, direction);
    if (id === undefined) return;
    editor.document.select([id]);
    stage.fit([id]);
  };

/** All commands, for menus, the command palette, shortcuts and help. */
export const COMMANDS: readonly Command[] = [
  edit("add", COMMON.addNode, ["/", "Space"], (_editor, stage) => stage.openPalette()),
  edit("add-after", COMMANDS_TEXTS.addNodeAfterSelected, ["A"], (_editor, stage) => stage.addAfter()),
  command("view", COMMANDS_TEXTS.viewResults, "view", ["V"], viewMade),
  edit("library", COMMANDS_TEXTS.files, ["Shift+F"], ({ ui }) => ui.setState(({ library }) => ({ library: !library }))),
  command("open-inner", COMMANDS_TEXTS.openInnerWorkflow, "view", ["O"], openInner),
  command("settings", COMMANDS_TEXTS.editSettings, "edit", ["Enter"], (_editor, stage) => stage.settings()),
  edit("touch", TOUCH.editBoth, ["T"], touch),
  command("save", COMMANDS_TEXTS.saveNow, "edit", ["Mod+S"], save),
  command("export", COMMANDS_TEXTS.exportAsJson, "edit", [], exportJson),
  edit("undo", COMMANDS_TEXTS.undo, ["Mod+Z"], ({ document }) => document.undo()),
  edit("redo", COMMANDS_TEXTS.redo, ["Mod+Shift+Z", "Mod+Y"], ({ document }) => document.redo()),
  command("copy", COMMANDS_TEXTS.copy, "edit", ["Mod+C"], (editor) => void copySelection(editor)),
  edit("cut", COMMANDS_TEXTS.cut, ["Mod+X"], (editor) => {
    // Nodes on a frame are included.
    editor.document.select(withFrameContents(editor, selectedNodes(editor)).map(({ id }) => id));
    void copySelection(editor).then((copied) => copied && deleteSelection(editor));
  }),
  edit("paste", COMMANDS_TEXTS.paste, ["Mod+V"], (_editor, stage) => stage.paste()),
  edit("duplicate", COMMANDS_TEXTS.duplicate, ["Mod+D"], duplicateSelection),
  edit("delete", "Delete", ["Backspace", "Delete"], deleteSelection),
  edit("delete-join", COMMANDS_TEXTS.deleteAndReconnect, ["Shift+Backspace"], deleteBridging),
  edit("rename", COMMON.rename, ["F2"], rename),
  edit("bypass", COMMANDS_TEXTS.bypassOrRestore, ["B", "Mod+B", "D"], bypass),
  edit("pin", COMMANDS_TEXTS.pinOrUnpinResult, ["K"], pin),
  edit("collapse", COMMANDS_TEXTS.collapseOrExpand, ["Shift+C"], (editor) => collapse(editor)),
  edit("connect", COMMANDS_TEXTS.connectTo, ["C"], ({ ui }) => ui.setState({ overlay: "connect" })),
  command("select-all", COMMANDS_TEXTS.selectAll, "select", ["Mod+A"], selectAll),
  command("select-none", COMMANDS_TEXTS.clearSelection, "select", ["Escape"], ({ document, ui }) => {
    document.select([]);
    ui.setState({ palette: undefined, lasso: false });
  }),
  command("lasso", COMMANDS_TEXTS.lasso, "select", ["L"], ({ ui }) => ui.setState(({ lasso }) => ({ lasso: !lasso }))),
  command("find", COMMANDS_TEXTS.findANode, "select", ["Mod+F"], ({ ui }) => ui.setState({ overlay: "find" })),
  command("go-left", COMMANDS_TEXTS.goToPreviousNode, "select", ["Alt+ArrowLeft"], go("left")),
  command("go-right", COMMANDS_TEXTS.goToNextNode, "select", ["Alt+ArrowRight"], go("right")),
  command("go-up", COMMANDS_TEXTS.goToNodeAbove, "select", ["Alt+ArrowUp"], go("up")),
  command("go-down", COMMANDS_TEXTS.goToNodeBelow, "select", ["Alt+ArrowDown"], go("down")),
  edit("left", COMMANDS_TEXTS.moveLeft, ["ArrowLeft"], (editor) => nudge(editor, { x: -STEP, y: 0 }), "arrange"),
  edit("right", COMMANDS_TEXTS.moveRight, ["ArrowRight"], (editor) => nudge(editor, { x: STEP, y: 0 }), "arrange"),
  edit("up", COMMANDS_TEXTS.moveUp, ["ArrowUp"], (editor) => nudge(editor, { x: 0, y: -STEP }), "arrange"),
  edit("down", COMMANDS_TEXTS.moveDown, ["ArrowDown"], (editor) => nudge(editor, { x: 0, y: STEP }), "arrange"),
  edit("leap-left", COMMANDS_TEXTS.moveLeftFar, ["Shift+ArrowLeft"], (editor) => nudge(editor, { x: -LEAP, y: 0 }), "arrange"),
  edit("leap-right", COMMANDS_TEXTS.moveRightFar, ["Shift+ArrowRight"], (editor) => nudge(editor, { x: LEAP, y: 0 }), "arrange"),
  edit("frame", COMMANDS_TEXTS.frameTheSelection, ["Mod+G"], frameSelection, "arrange"),
  edit("subgraph", COMMANDS_TEXTS.convertToWorkflow, ["Mod+Shift+G", "Alt+X"], ({ ui }) => ui.setState({ overlay: "subgraph" }), "arrange"),
  edit("tidy", COMMANDS_TEXTS.tidyUp, ["Shift+T"], (editor, stage) => void tidy(editor, stage.fit), "arrange"),
  ...alignments.map(([how, title]) => edit(`align-${how}`, title, [], (editor) => alignSelection(editor, how), "arrange")),
  command("lock", COMMANDS_TEXTS.lockOrUnlockCanvas, "view", ["Shift+L"], ({ ui }) => ui.setState(({ locked }) => ({ locked: !locked }))),
  command("fit", COMMANDS_TEXTS.fitToScreen, "view", ["Shift+1", "F"], (_editor, stage) => stage.fit()),
  command("fit-selection", COMMANDS_TEXTS.fitSelection, "view", ["Shift+2"], ({ document }, stage) =>
    stage.fit([...document.store.getState().selection.nodes]),
  ),
  command("zoom-in", COMMANDS_TEXTS.zoomIn, "view", ["+", "="], (_editor, stage) => stage.zoom("in")),
  command("zoom-out", COMMANDS_TEXTS.zoomOut, "view", ["-"], (_editor, stage) => stage.zoom("out")),
  command("zoom-whole", COMMANDS_TEXTS.zoomToFullSize, "view", ["0"], (_editor, stage) => stage.zoom("whole")),
  command("panel", COMMANDS_TEXTS.showOrHideSidePanel, "view", ["P"], ({ ui }) =>
    ui.setState(({ panelOpen }) => ({ panelOpen: !panelOpen })),
  ),
  edit("assistant", COMMANDS_TEXTS.askTheAssistant, ["Shift+A"], (_editor, stage) => stage.assist()),
  command("problems", COMMANDS_TEXTS.showProblems, "view", ["Shift+P"], ({ ui }) => ui.setState({ panel: "problems", panelOpen: true })),
  command("commands", COMMANDS_TEXTS.allCommands, "view", ["Mod+K"], ({ ui }) => ui.setState({ overlay: "commands" })),
  command("help", COMMANDS_TEXTS.keyboardShortcuts, "view", ["?"], ({ ui }) => ui.setState({ overlay: "help" })),
  command("run", COMMANDS_TEXTS.inputsAndPrice, "run", ["Mod+Enter"], ({ ui }, stage) => {
    const { panel, panelOpen } = ui.getState();
    // From the run panel, Run keeps the panel's target.
    if (panel !== "run" || !panelOpen) ui.setState({ until: undefined });
    stage.run();
  }),
  edit("sweep", COMMANDS_TEXTS.tryVariations, ["E"], sweep, "run"),
  edit("swap", COMMANDS_TEXTS.tryAnotherModel, ["Shift+M"], swap, "run"),
  command("run-to-here", COMMANDS_TEXTS.runToThisNode, "run", ["Mod+Shift+Enter"], runToHere),
  edit("versions", COMMANDS_TEXTS.publishAndVersions, ["Shift+V"], ({ ui }) => ui.setState({ overlay: "versions" }), "run"),
  edit("tests", COMMANDS_TEXTS.tests, [], ({ ui }) => ui.setState({ overlay: "tests" }), "run"),
  command("api", COMMANDS_TEXTS.useAsApi, "run", [], ({ ui }) => ui.setState({ overlay: "api" })),
  command("batch", COMMANDS_TEXTS.runWithATable, "run", [], (_editor, stage) => stage.leave("batch")),
  command("triggers", COMMANDS_TEXTS.schedulesAndHooks, "run", [], (_editor, stage) => stage.leave("triggers")),
  edit("app", COMMANDS_TEXTS.publishAsAnApp, [], ({ ui }) => ui.setState({ overlay: "app" }), "run"),
  command("sharing", COMMANDS_TEXTS.settingsAndSharing, "view", [], ({ ui }) => ui.setState({ overlay: "settings" })),
];

const PLAIN: Readonly<Record<string, string>> = { " ": "Space" };

/** @throws if the command doesn't exist */
export const commandById = (id: string): Command => {
  const namedCommand = COMMANDS.find((one) => one.id === id);
  if (!namedCommand) throw new Error(`there is no command ${id}`);
  return namedCommand;
};

/** Shortcut of a key press in the table's notation. */
export const shortcutOf = (event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">): string => {
  const key = PLAIN[event.key] ?? (event.key.length === 1 ? event.key.toUpperCase() : event.key);
  const isLetter = /^[A-Z0-9]$/.test(key) || key.length > 1;
  // Shift is part of a sign such as "?", but a modifier for letters.
  return [event.ctrlKey || event.metaKey ? "Mod" : "", event.altKey ? "Alt" : "", event.shiftKey && isLetter ? "Shift" : "", key]
    .filter(Boolean)
    .join("+");
};

const BY_KEYS = new Map(COMMANDS.flatMap((one) => one.keys.map((keys) => [keys, one] as const)));
/** Shift with a digit types another sign on most keyboards. */
const SHIFTED: Readonly<Record<string, string>> = { "!": "Shift+1", "@": "Shift+2", '"': "Shift+2" };

export const commandFor = (event: KeyboardEvent): Command | undefined =>
  BY_KEYS.get(shortcutOf(event)) ?? BY_KEYS.get(SHIFTED[event.key] ?? "");
