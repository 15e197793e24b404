import type { Folder } from "@nodeloom/client";
import { Link } from "@tanstack/react-router";
import { Ellipsis, Folder as FolderIcon, FolderOpen, House, Pencil, Trash2 } from "lucide-react";
import { useState, type DragEvent } from "react";
import { IconButton } from "../../ui/button";
import { classes } from "../../ui/classes";
import { Menu } from "../../ui/overlays/menu";
import { ConfirmDialog, PromptDialog } from "../../parts/form";
import type { WorkflowActions } from "./use-workflow-actions";
import { DRAGGED_WORKFLOW } from "./workflow-card";
import { COMMON } from "../../messages/common";
import { FOLDER_BAR } from "../../messages/workflows";

interface ChipProps {
  id: string | null;
  name: string;
  chosen: boolean;
  actions: WorkflowActions;
}

/** A folder as a link and a drop target. */
const FolderChip = ({ id, name, chosen, actions }: ChipProps) => {
  const [over, setOver] = useState(false);
  const [asking, setAsking] = useState<"rename" | "delete">();
  const accepts = (event: DragEvent): void => {
    if (!event.dataTransfer.types.includes(DRAGGED_WORKFLOW)) return;
    event.preventDefault();
    setOver(true);
  };
  const drop = (event: DragEvent): void => {
    setOver(false);
    const slug = event.dataTransfer.getData(DRAGGED_WORKFLOW);
    if (slug !== "") void actions.move(slug, id, id === null ? FOLDER_BAR.movedToTop : FOLDER_BAR.movedTo(name));
  };
  const Icon = id === null ? House : chosen ? FolderOpen : FolderIcon;
  return (
    <li
      onDragOver={accepts}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      className={classes(
        "flex max-w-64 items-center rounded-lg border bg-surface text-sm",
        chosen && "border-accent bg-accent-soft text-accent-text",
        over && "outline-2 outline-accent",
      )}
    >
      <Link
        to="/"
        search={{ folder: id ?? undefined }}
        aria-current={chosen ? "page" : undefined}
        className="flex min-w-0 items-center gap-2 px-3 py-1.5 font-medium pointer-coarse:min-h-11"
      >
        <Icon className="size-4 shrink-0" aria-hidden />
        <span className="truncate">{name}</span>
      </Link>
      {id !== null && (
        <Menu
          trigger={<IconButton icon={Ellipsis} size="sm" label={FOLDER_BAR.actionsForFolder(name)} />}
          entries={[
            { label: FOLDER_BAR.rename, icon: Pencil, run: () => setAsking("rename") },
            { label: COMMON.deleteMenu, icon: Trash2, danger: true, run: () => setAsking("delete") },
          ]}
        />
      )}
      {asking === "rename" && id !== null && (
        <PromptDialog
          title={FOLDER_BAR.renameFolder}
          label={COMMON.name}
          initial={name}
          action={COMMON.rename}
          submit={(to) => actions.renameFolder(id, to)}
          onClose={() => setAsking(undefined)}
        />
      )}
      {asking === "delete" && id !== null && (
        <ConfirmDialog
          title={FOLDER_BAR.deleteThisFolder}
          text={FOLDER_BAR.deleted(name)}
          action={COMMON.delete}
          submit={() => actions.deleteFolder(id)}
          onClose={() => setAsking(undefined)}
        />
      )}
    </li>
  );
};

export const FolderBar = ({
  folders,
  chosen,
  actions,
}: {
  folders: readonly Folder[];
  chosen: string | undefined;
  actions: WorkflowActions;
}) => (
  <ul aria-label={FOLDER_BAR.folders} className="mb-4 flex flex-wrap gap-2">
    <FolderChip id={null} name="Top level" chosen={chosen === undefined} actions={actions} />
    {folders.map(({ id, name }) => (
      <FolderChip key={id} id={id} name={name} chosen={chosen === id} actions={actions} />
    ))}
  </ul>
);
