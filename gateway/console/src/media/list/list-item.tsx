import { ArrowRight, X } from "lucide-react";
import { useState, type DragEvent, type KeyboardEvent } from "react";
import { IconButton } from "../../ui/button";
import { classes } from "../../ui/classes";
import { useKnownFile } from "../file-value";
import { Thumb } from "../thumb";
import { FILE_LIST } from "../../messages/file-list";

/** Marks a drag of an item of this list. */
const ITEM_DRAG = "application/x-nodeloom-list-item";

interface ListItemProps {
  reference: string;
  index: number;
  count: number;
  isExample: boolean;
  move: (from: number, to: number, title: string) => void;
  remove: (title: string) => void;
}

const KEYS: Readonly<Record<string, (index: number, count: number) => number>> = {
  ArrowLeft: (index) => index - 1,
  ArrowUp: (index) => index - 1,
  ArrowRight: (index) => index + 1,
  ArrowDown: (index) => index + 1,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** A file of a list, which is moved by dragging, by its buttons, or by Alt and an arrow key. */
export const ListItem = ({ reference, index, count, isExample, move, remove }: ListItemProps) => {
  const knownFile = useKnownFile(reference, isExample);
  const title = knownFile?.title ?? (isExample ? FILE_LIST.exampleFile : reference);
  const [isOver, setOver] = useState(false);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      return remove(title);
    }
    const to = KEYS[event.key]?.(index, count);
    if (to === undefined || !event.altKey) return;
    event.preventDefault();
    if (to >= 0 && to < count && to !== index) move(index, to, title);
  };
  const drop = (event: DragEvent): void => {
    const from = event.dataTransfer.getData(ITEM_DRAG);
    setOver(false);
    if (from === "") return;
    event.preventDefault();
    event.stopPropagation();
    if (Number(from) !== index) move(Number(from), index, event.dataTransfer.getData("text/plain"));
  };
  return (
    <li
      draggable
      className={classes("flex min-w-0 cursor-grab flex-col rounded-lg border bg-surface", isOver && "outline-2 outline-accent")}
      onDragStart={(event) => {
        event.dataTransfer.setData(ITEM_DRAG, String(index));
        event.dataTransfer.setData("text/plain", title);
        event.dataTransfer.effectAllowed = "move";
      }}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes(ITEM_DRAG)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <div
        role="img"
        tabIndex={0}
        data-item={index}
        aria-label={FILE_LIST.position(title, index + 1, count)}
        className="aspect-square overflow-hidden rounded-t-lg bg-(--media)"
        onKeyDown={onKeyDown}
      >
        <Thumb file={knownFile?.file} text={knownFile ? undefined : title} label="" width={200} className="size-full" />
      </div>
      <div className="flex items-center justify-between">
        <IconButton
          icon={ArrowRight}
          className="rotate-180"
          size="sm"
          label={FILE_LIST.moveEarlier(title)}
          disabled={index === 0}
          onClick={() => move(index, index - 1, title)}
        />
        <IconButton icon={X} size="sm" label={FILE_LIST.remove(title)} onClick={() => remove(title)} />
        <IconButton
          icon={ArrowRight}
          size="sm"
          label={FILE_LIST.moveLater(title)}
          disabled={index === count - 1}
          onClick={() => move(index, index + 1, title)}
        />
      </div>
    </li>
  );
};
