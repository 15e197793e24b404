import { Menu as Base } from "@base-ui/react/menu";
import { useReactFlow } from "@xyflow/react";
import {
  ArrowLeftRight,
  ClipboardPaste,
  FileDown,
  Copy,
  Crop,
  CopyPlus,
  Ellipsis,
  FoldVertical,
  Frame,
  Grid3x3,
  Group,
  Images,
  LayoutGrid,
  Link2,
  Maximize,
  Milestone,
  Pin,
  Play,
  Plus,
  Redo,
  SquareArrowOutUpRight,
  SquareDashedMousePointer,
  StickyNote,
  TextCursor,
  Trash2,
  Unlink,
  type LucideIcon,
} from "lucide-react";
import { useMemo } from "react";
import { IconButton } from "../../ui/button";
import { Menu, MenuPopup, type MenuEntries } from "../../ui/overlays/menu";
import { commandById } from "../commands/commands";
import type { Stage } from "../commands/command";
import { kindOf, REMARK } from "../../canvas/kinds";
import type { Point } from "../../document/edit";
import { selectedNodes } from "../chosen";
import { addFromPalette } from "../commands/new-nodes";
import { useEditor, useUi, type Editor } from "../context";
import { innerSlug } from "../inspector/inner/ports";
import { touchedBy } from "../touch/touchable";
import { COMMON } from "../../messages/common";
import { NODE_MENU } from "../../messages/editor/board";

const ON_NODES: readonly (readonly [string, LucideIcon] | null)[] = [
  ["run-to-here", Milestone],
  ["touch", Crop],
  ["sweep", Grid3x3],
  ["swap", ArrowLeftRight],
  ["open-inner", SquareArrowOutUpRight],
  null,
  ["copy", Copy],
  ["duplicate", CopyPlus],
  ["rename", TextCursor],
  ["bypass", Redo],
  ["pin", Pin],
  ["collapse", FoldVertical],
  ["connect", Link2],
  ["frame", Frame],
  ["subgraph", Group],
  null,
  ["delete-join", Unlink],
  ["delete", Trash2],
];

const ON_BOARD: typeof ON_NODES = [
  ["paste", ClipboardPaste],
  ["library", Images],
  null,
  ["select-all", SquareDashedMousePointer],
  ["tidy", LayoutGrid],
  ["fit", Maximize],
  null,
  ["run", Play],
  ["export", FileDown],
];

/** True if an entry applies to the selection. */
const suits = (editor: Editor, id: string): boolean => {
  const nodes = selectedNodes(editor);
  if (id === "open-inner") return nodes.length === 1 && innerSlug(nodes[0]!) !== undefined;
  if (id === "touch") return nodes.length === 1 && touchedBy(nodes[0]!) !== undefined;
  if (id === "swap") return nodes.length === 1 && kindOf(nodes[0]!.type).modality !== undefined;
  if (id === "sweep") return nodes.length === 1 && kindOf(nodes[0]!.type).runs;
  return true;
};

const isLocked = (editor: Editor): boolean => !editor.canEdit || editor.ui.getState().locked;

/** Commands as menu entries, without commands that don't apply. */
const entriesOf = (editor: Editor, stage: Stage, lines: typeof ON_NODES): MenuEntries => {
  const entries = lines
    .map((line) => {
      if (line === null) return null;
      const { id, title, keys, edits, run } = commandById(line[0]);
      if ((edits && isLocked(editor)) || !suits(editor, id)) return undefined;
      return { label: title, icon: line[1], keys: keys[0], danger: id === "delete", run: () => run(editor, stage) };
    })
    .filter((entry) => entry !== undefined);
  return entries.filter((entry, index) => entry !== null || (entries[index + 1] !== undefined && entries[index + 1] !== null));
};

/** Commands for the selected nodes. */
const nodeEntries = (editor: Editor, stage: Stage): MenuEntries => entriesOf(editor, stage, ON_NODES);

/** Commands for an empty spot; new nodes appear at the pointer. */
const boardEntries = (editor: Editor, stage: Stage, at: Point, place: Point): MenuEntries => {
  const adding = [
    { label: COMMON.addNode, icon: Plus, keys: "/", run: () => editor.ui.setState({ palette: { at, place } }) },
    { label: NODE_MENU.addANote, icon: StickyNote, run: () => addFromPalette(editor, REMARK, { at, place }) },
  ];
  return [...(isLocked(editor) ? [] : adding), ...entriesOf(editor, stage, ON_BOARD)];
};

export const NodeMenuButton = ({ stage }: { stage: Stage }) => {
  const editor = useEditor();
  return <Menu trigger={<IconButton icon={Ellipsis} label={COMMON.actions} size="sm" />} entries={nodeEntries(editor, stage)} />;
};

/** Context menu of nodes, or of the canvas without a selection. */
export const NodeMenu = ({ stage }: { stage: Stage }) => {
  const editor = useEditor();
  const at = useUi((state) => state.nodeMenu);
  const { screenToFlowPosition } = useReactFlow();
  const anchor = useMemo(() => at && { getBoundingClientRect: () => new DOMRect(at.x, at.y, 0, 0) }, [at]);
  if (!at) return null;
  const isOfNodes = selectedNodes(editor).length > 0;
  const entries = isOfNodes ? nodeEntries(editor, stage) : boardEntries(editor, stage, at, screenToFlowPosition(at));
  return (
    <Base.Root open modal={false} onOpenChange={(open) => !open && editor.ui.setState({ nodeMenu: undefined })}>
      <MenuPopup entries={entries} align="start" anchor={anchor} />
    </Base.Root>
  );
};
