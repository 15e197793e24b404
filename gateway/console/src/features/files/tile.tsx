import type { MediaFile } from "@nodeloom/client";
import { Expand } from "lucide-react";
import type { DragEvent } from "react";
import { fileName } from "../../api/files";
import { fileTitle } from "../../media/file-title";
import { fileOf } from "../../media/files-in";
import { Thumb } from "../../media/thumb";
import type { ViewerItem } from "../../media/viewer/store";
import { IconButton } from "../../ui/button";
import { classes } from "../../ui/classes";
import { ago, bytes } from "../../ui/format";
import { COMMON } from "../../messages/common";
import { TILE } from "../../messages/files";

export const KEPT_DAYS = 90;
const DAY_MS = 86_400_000;
const SOON_DAYS = 14;

/** Time until a file expires, if it expires soon. */
const leavesIn = ({ origin, kept, createdAt }: MediaFile): string | undefined => {
  if (origin !== "generated" || kept || createdAt === null) return undefined;
  const days = Math.ceil((Date.parse(createdAt) + KEPT_DAYS * DAY_MS - Date.now()) / DAY_MS);
  return days > SOON_DAYS ? undefined : TILE.expires(Math.max(0, days));
};

export const viewerItem = (file: MediaFile): ViewerItem => ({
  id: file.id,
  file: fileOf(file),
  text: undefined,
  title: fileTitle(file),
  facts: [
    [COMMON.source, file.origin === "generated" ? TILE.run : COMMON.upload],
    [TILE.size, bytes(file.bytes)],
    [TILE.kept, file.kept || file.origin === "upload" ? TILE.keptUntilDeleted : TILE.keptForDays(KEPT_DAYS)],
  ],
});

interface TileProps {
  file: MediaFile;
  chosen: boolean;
  onChoose: (more: boolean) => void;
  /** Set if the file can be dragged. */
  onDrag?: (event: DragEvent) => void;
  onView: () => void;
}

/** A file with picture, name and expiry. */
export const Tile = ({ file, chosen, onChoose, onDrag, onView }: TileProps) => {
  const leaves = leavesIn(file);
  return (
    <li className="group relative min-w-0" draggable={onDrag !== undefined} onDragStart={onDrag}>
      <button
        type="button"
        aria-pressed={chosen}
        aria-label={`${fileTitle(file)}, ${file.contentType}`}
        className={classes("block aspect-square w-full overflow-hidden rounded-lg bg-(--media)", chosen && "outline-3 outline-accent")}
        onClick={(event) => onChoose(event.shiftKey || event.metaKey || event.ctrlKey)}
        onDoubleClick={onView}
      >
        <Thumb file={fileOf(file)} label="" width={200} className="size-full" />
      </button>
      <span className="mt-0.5 block truncate text-[11px] text-muted" title={fileTitle(file)}>
        {fileName(file.id) ?? file.title ?? (file.createdAt === null ? fileTitle(file) : ago(file.createdAt))}
      </span>
      {leaves !== undefined && <span className="block truncate text-[11px] text-warn">{leaves}</span>}
      <IconButton
        icon={Expand}
        size="sm"
        label={TILE.view(fileTitle(file))}
        className="absolute! top-1 right-1 size-6! bg-surface/85! opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
        onClick={onView}
      />
    </li>
  );
};
