import {
  AppWindow,
  CalendarClock,
  CircleCheck,
  Command as CommandIcon,
  FileDown,
  Keyboard,
  Rocket,
  Search,
  Settings2,
  Table2,
} from "lucide-react";
import { IconButton } from "../ui/button";
import { Menu } from "../ui/overlays/menu";
import { commandById } from "./commands/commands";
import type { Stage } from "./commands/command";
import { useEditor } from "./context";
import { COMMON } from "../messages/common";

export const ToolbarMenu = ({ stage }: { stage: Stage }) => {
  const editor = useEditor();
  const { canEdit } = editor;
  const entry = (id: string) => {
    const { title, keys, run } = commandById(id);
    return { label: title, ...(keys[0] === undefined ? {} : { keys: keys[0] }), run: () => run(editor, stage) };
  };
  return (
    <Menu
      trigger={<IconButton icon={CommandIcon} label={COMMON.menu} />}
      entries={[
        ...(canEdit ? [entry("tidy"), entry("duplicate"), entry("paste"), null] : []),
        entry("find"),
        entry("fit"),
        null,
        ...(canEdit
          ? [
              { ...entry("versions"), icon: Rocket },
              { ...entry("tests"), icon: CircleCheck },
            ]
          : []),
        { ...entry("batch"), icon: Table2 },
        { ...entry("triggers"), icon: CalendarClock },
        ...(canEdit ? [{ ...entry("app"), icon: AppWindow }] : []),
        { ...entry("sharing"), icon: Settings2 },
        { ...entry("export"), icon: FileDown },
        null,
        { ...entry("commands"), icon: Search },
        { ...entry("help"), icon: Keyboard },
      ]}
    />
  );
};
