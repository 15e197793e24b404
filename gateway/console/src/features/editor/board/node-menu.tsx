import { Menu as Base } from "@base-ui/react/menu";
import {
  Copy,
  CopyPlus,
  Ellipsis,
  FoldVertical,
  Frame,
  Link2,
  Milestone,
  Redo,
  TextCursor,
  Trash2,
  Unlink,
  type LucideIcon,
} from "lucide-react";
import { useMemo } from "react";
import { IconButton } from "../../../ui/button";
import { Menu, MenuPopup, type MenuEntries } from "../../../ui/overlays/menu";
import { commandById, type Stage } from "../commands/commands";
import { useEditor, useUi, type Editor } from "../context";

const ICONS: readonly (readonly [string, LucideIcon] | null)[] = [
  ["run-to-here", Milestone],
  null,
  ["copy", Copy],
  ["duplicate", CopyPlus],
  ["rename", TextCursor],
  ["bypass", Redo],
  ["collapse", FoldVertical],
  ["connect", Link2],
  ["frame", Frame],
  null,
  ["delete-join", Unlink],
  ["delete", Trash2],
];

/** What can be done with the chosen nodes, from the table of commands. */
const nodeEntries = (editor: Editor, stage: Stage): MenuEntries => {
  const locked = !editor.canEdit || editor.ui.getState().locked;
  const entries = ICONS.map((line) => {
    if (line === null) return null;
    const { id, title, keys, edits, run } = commandById(line[0]);
    if (edits && locked) return undefined;
    return { label: title, icon: line[1], keys: keys[0], danger: id === "delete", run: () => run(editor, stage) };
  }).filter((entry) => entry !== undefined);
  return entries.filter((entry, index) => entry !== null || (entries[index + 1] !== undefined && entries[index + 1] !== null));
};

/** The menu of a node as a button. */
export const NodeMenuButton = ({ stage }: { stage: Stage }) => {
  const editor = useEditor();
  return <Menu trigger={<IconButton icon={Ellipsis} label="What can be done with it" size="sm" />} entries={nodeEntries(editor, stage)} />;
};

/** The menu of a node where the pointer asked for it. */
export const NodeMenu = ({ stage }: { stage: Stage }) => {
  const editor = useEditor();
  const at = useUi((state) => state.nodeMenu);
  const anchor = useMemo(() => at && { getBoundingClientRect: () => new DOMRect(at.x, at.y, 0, 0) }, [at]);
  if (!at) return null;
  return (
    <Base.Root open modal={false} onOpenChange={(open) => !open && editor.ui.setState({ nodeMenu: undefined })}>
      <MenuPopup entries={nodeEntries(editor, stage)} align="start" anchor={anchor} />
    </Base.Root>
  );
};
