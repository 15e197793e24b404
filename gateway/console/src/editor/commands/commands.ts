import type { Alignment } from "../../canvas/geometry";
import { isRemark } from "../../canvas/kinds";
import { nodeById } from "../../document/graph";
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
import type { Editor } from "../context";
import { innerSlug } from "../inspector/inner/ports";
import { frameSelection, withFrameContents } from "./frame-actions";
import { bypass, collapse, rename } from "./node-actions";
import { pin } from "../pins/pin";
import { viewNode } from "./view-node";

/** Effects of commands besides changes to the graph. */
export interface Stage {
  /** @param atOnce without moving there */
  fit(nodeIds?: readonly string[], atOnce?: boolean): void;
  zoom(to: "in" | "out" | "whole"): void;
  /** Centre of the view on the board. */
  middle(): { x: number; y: number };
  /** Opens the palette in the centre of the canvas. */
  openPalette(): void;
  /** Opens the palette beside the selected node, for its first output. */
  addAfter(): void;
  paste(): void;
  /** Pastes the browser's clipboard data. */
  pasteFrom(data: DataTransfer): void;
  /** Opens the run panel; a second call starts the run. */
  run(): void;
  /** Focuses the settings of the selected node. */
  settings(): void;
  /** Opens another workflow. */
  open(slug: string): void;
  /** Opens a page about this workflow. */
  leave(page: "triggers" | "batch"): void;
}

export interface Command {
  id: string;
  title: string;
  group: "Edit" | "Select" | "Arrange" | "View" | "Run";
  /** Shortcuts: `Mod+Z`. The first is shown. */
  keys: readonly string[];
  /** Changes the workflow. */
  edits: boolean;
  run(editor: Editor, stage: Stage): void;
}

const command = (
  id: string,
  title: string,
  group: Command["group"],
  keys: readonly string[],
  run: Command["run"],
  edits = false,
): Command => ({ id, title, group, keys, run, edits });
const edit = (id: string, title: string, keys: readonly string[], run: Command["run"], group: Command["group"] = "Edit"): Command =>
  command(id, title, group, keys, run, true);

const alignments: readonly (readonly [Alignment, string])[] = [
  ["left", "Align left"],
  ["center", "Align centres"],
  ["right", "Align right"],
  ["top", "Align top"],
  ["middle", "Align middles"],
  ["bottom", "Align bottom"],
  ["row", "Space out in a row"],
  ["column", "Space out in a column"],
];

/** Prepares a run up to the selected node; its price is shown first. */
const runToHere: Command["run"] = ({ document, ui }, stage) => {
  const { graph, selection } = document.store.getState();
  const [id, ...others] = [...selection.nodes];
  const node = id === undefined ? undefined : nodeById(graph, id);
  if (!node || others.length > 0) return complain("Choose the one node that the run should go to.");
  if (isRemark(node.type)) return complain("A note never runs.");
  ui.setState({ until: node.id });
  stage.run();
};

/** Views the outputs of the selected node, else of the first with any. */
const viewMade: Command["run"] = (editor) => {
  const { document, scene } = editor;
  const { shown } = scene.store.getState();
  const [chosen] = [...document.store.getState().selection.nodes];
  const made = (id: string): boolean => shown.get(id)?.items.some(({ status }) => status === "completed") === true;
  const nodeId = chosen !== undefined && made(chosen) ? chosen : [...shown.keys()].find(made);
  if (nodeId === undefined) return complain("Nothing was made yet. Run the workflow first.");
  viewNode(editor, nodeId, 0);
};

/** Saving is automatic; on request a notice confirms it. */
const save: Command["run"] = ({ document, canEdit }) => {
  if (!canEdit) return complain("This workflow is somebody else's: it can be looked at, run and copied.");
  void document.flush().then((saved) => (saved ? say("Everything is saved.") : complain("Not saved yet: it is tried again by itself.")));
};

const exportJson: Command["run"] = ({ document, slug }) =>
  void document
    .flush()
    .then(async () => (await import("../../features/workflows/export")).exportWorkflow(slug))
    .catch((error: unknown) => complain(messageOf(error)));

/** Opens the workflow of the selected workflow node. */
const openInner: Command["run"] = (editor, stage) => {
  const [node, ...others] = selectedNodes(editor);
  const slug = node && others.length === 0 ? innerSlug(node) : undefined;
  if (slug === undefined) return complain("Choose the one node that stands for a workflow.");
  stage.open(slug);
};

/** Compares several settings of the selected node. */
const sweep: Command["run"] = (editor) => {
  const [node, ...others] = selectedNodes(editor);
  if (!node || others.length > 0 || isRemark(node.type)) return complain("Choose the one node whose settings are tried.");
  editor.ui.setState({ overlay: "sweep" });
};

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
  edit("add", "Add a node", ["/", "Space"], (_editor, stage) => stage.openPalette()),
  edit("add-after", "Add a node after the chosen one", ["A"], (_editor, stage) => stage.addAfter()),
  command("view", "View what it made", "View", ["V"], viewMade),
  edit("library", "Files…", ["Shift+F"], ({ ui }) => ui.setState(({ library }) => ({ library: !library }))),
  command("open-inner", "Open its workflow", "View", ["O"], openInner),
  command("settings", "Edit its settings", "Edit", ["Enter"], (_editor, stage) => stage.settings()),
  command("save", "Save now", "Edit", ["Mod+S"], save),
  command("export", "Export as JSON", "Edit", [], exportJson),
  edit("undo", "Undo", ["Mod+Z"], ({ document }) => document.undo()),
  edit("redo", "Redo", ["Mod+Shift+Z", "Mod+Y"], ({ document }) => document.redo()),
  command("copy", "Copy", "Edit", ["Mod+C"], (editor) => void copySelection(editor)),
  edit("cut", "Cut", ["Mod+X"], (editor) => {
    // Nodes on a frame are included.
    editor.document.select(withFrameContents(editor, selectedNodes(editor)).map(({ id }) => id));
    void copySelection(editor).then((copied) => copied && deleteSelection(editor));
  }),
  edit("paste", "Paste", ["Mod+V"], (_editor, stage) => stage.paste()),
  edit("duplicate", "Duplicate", ["Mod+D"], duplicateSelection),
  edit("delete", "Delete", ["Backspace", "Delete"], deleteSelection),
  edit("delete-join", "Delete and join its links", ["Shift+Backspace"], deleteBridging),
  edit("rename", "Rename", ["F2"], rename),
  edit("bypass", "Bypass, or use again", ["B", "Mod+B", "D"], bypass),
  edit("pin", "Pin what it made, or let go", ["K"], pin),
  edit("collapse", "Collapse or open", ["Shift+C"], (editor) => collapse(editor)),
  edit("connect", "Connect to…", ["C"], ({ ui }) => ui.setState({ overlay: "connect" })),
  command("select-all", "Select all", "Select", ["Mod+A"], selectAll),
  command("select-none", "Select nothing", "Select", ["Escape"], ({ document, ui }) => {
    document.select([]);
    ui.setState({ palette: undefined, lasso: false });
  }),
  command("lasso", "Lasso", "Select", ["L"], ({ ui }) => ui.setState(({ lasso }) => ({ lasso: !lasso }))),
  command("find", "Find a node", "Select", ["Mod+F"], ({ ui }) => ui.setState({ overlay: "find" })),
  command("go-left", "Go to the node before", "Select", ["Alt+ArrowLeft"], go("left")),
  command("go-right", "Go to the node after", "Select", ["Alt+ArrowRight"], go("right")),
  command("go-up", "Go to the node above", "Select", ["Alt+ArrowUp"], go("up")),
  command("go-down", "Go to the node below", "Select", ["Alt+ArrowDown"], go("down")),
  edit("left", "Move left", ["ArrowLeft"], (editor) => nudge(editor, { x: -STEP, y: 0 }), "Arrange"),
  edit("right", "Move right", ["ArrowRight"], (editor) => nudge(editor, { x: STEP, y: 0 }), "Arrange"),
  edit("up", "Move up", ["ArrowUp"], (editor) => nudge(editor, { x: 0, y: -STEP }), "Arrange"),
  edit("down", "Move down", ["ArrowDown"], (editor) => nudge(editor, { x: 0, y: STEP }), "Arrange"),
  edit("leap-left", "Move far left", ["Shift+ArrowLeft"], (editor) => nudge(editor, { x: -LEAP, y: 0 }), "Arrange"),
  edit("leap-right", "Move far right", ["Shift+ArrowRight"], (editor) => nudge(editor, { x: LEAP, y: 0 }), "Arrange"),
  edit("frame", "Frame the selection", ["Mod+G"], frameSelection, "Arrange"),
  edit("subgraph", "Make a workflow of it", ["Mod+Shift+G", "Alt+X"], ({ ui }) => ui.setState({ overlay: "subgraph" }), "Arrange"),
  edit("tidy", "Tidy up", ["Shift+T"], (editor, stage) => void tidy(editor, stage.fit), "Arrange"),
  ...alignments.map(([how, title]) => edit(`align-${how}`, title, [], (editor) => alignSelection(editor, how), "Arrange")),
  command("lock", "Lock or unlock the canvas", "View", ["Shift+L"], ({ ui }) => ui.setState(({ locked }) => ({ locked: !locked }))),
  command("fit", "Show everything", "View", ["Shift+1", "F"], (_editor, stage) => stage.fit()),
  command("fit-selection", "Show the selection", "View", ["Shift+2"], ({ document }, stage) =>
    stage.fit([...document.store.getState().selection.nodes]),
  ),
  command("zoom-in", "Zoom in", "View", ["+", "="], (_editor, stage) => stage.zoom("in")),
  command("zoom-out", "Zoom out", "View", ["-"], (_editor, stage) => stage.zoom("out")),
  command("zoom-whole", "Zoom to 100 %", "View", ["0"], (_editor, stage) => stage.zoom("whole")),
  command("panel", "Show or hide the side panel", "View", ["P"], ({ ui }) => ui.setState(({ panelOpen }) => ({ panelOpen: !panelOpen }))),
  command("problems", "Show problems", "View", ["Shift+P"], ({ ui }) => ui.setState({ panel: "problems", panelOpen: true })),
  command("commands", "All commands", "View", ["Mod+K"], ({ ui }) => ui.setState({ overlay: "commands" })),
  command("help", "Keyboard shortcuts", "View", ["?"], ({ ui }) => ui.setState({ overlay: "help" })),
  command("run", "Inputs and price…", "Run", ["Mod+Enter"], ({ ui }, stage) => {
    const { panel, panelOpen } = ui.getState();
    // From the run panel, its own target runs.
    if (panel !== "run" || !panelOpen) ui.setState({ until: undefined });
    stage.run();
  }),
  edit("sweep", "Try variations", ["E"], sweep, "Run"),
  command("run-to-here", "Run to here", "Run", ["Mod+Shift+Enter"], runToHere),
  edit("versions", "Publish, versions…", ["Shift+V"], ({ ui }) => ui.setState({ overlay: "versions" }), "Run"),
  command("api", "Use as API", "Run", [], ({ ui }) => ui.setState({ overlay: "api" })),
  command("batch", "Run with a table…", "Run", [], (_editor, stage) => stage.leave("batch")),
  command("triggers", "Schedules and hooks…", "Run", [], (_editor, stage) => stage.leave("triggers")),
  edit("app", "Publish as an app…", [], ({ ui }) => ui.setState({ overlay: "app" }), "Run"),
  command("sharing", "Settings and sharing…", "View", [], ({ ui }) => ui.setState({ overlay: "settings" })),
];

const PLAIN: Readonly<Record<string, string>> = { " ": "Space" };

/** @throws when there is no such command */
export const commandById = (id: string): Command => {
  const found = COMMANDS.find((one) => one.id === id);
  if (!found) throw new Error(`there is no command ${id}`);
  return found;
};

/** Shortcut of a key press in the table's notation. */
export const shortcutOf = (event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">): string => {
  const key = PLAIN[event.key] ?? (event.key.length === 1 ? event.key.toUpperCase() : event.key);
  const isLetter = /^[A-Z0-9]$/.test(key) || key.length > 1;
  // For signs such as "?" Shift is part of the sign; for letters it is a modifier.
  return [event.ctrlKey || event.metaKey ? "Mod" : "", event.altKey ? "Alt" : "", event.shiftKey && isLetter ? "Shift" : "", key]
    .filter(Boolean)
    .join("+");
};

const BY_KEYS = new Map(COMMANDS.flatMap((one) => one.keys.map((keys) => [keys, one] as const)));
/** On most keyboards Shift with a digit types another sign. */
const SHIFTED: Readonly<Record<string, string>> = { "!": "Shift+1", "@": "Shift+2", '"': "Shift+2" };

export const commandFor = (event: KeyboardEvent): Command | undefined =>
  BY_KEYS.get(shortcutOf(event)) ?? BY_KEYS.get(SHIFTED[event.key] ?? "");
