import { FolderOpen, Images, Upload } from "lucide-react";
import { useEffect, useId, useRef, useState, type DragEvent } from "react";
import { Button } from "../../ui/button";
import { classes } from "../../ui/classes";
import { chooserTypes } from "../../ui/inputs/accept";
import { complain } from "../../ui/overlays/toast";
import { COMMON } from "../../messages/common";
import { FILE_LIST } from "../../messages/file-list";
import { FILE_VALUE } from "../../messages/media";
import { FilePicker } from "./file-picker";
import { ListItem } from "./list-item";
import { uploadInOrder } from "./upload-in-order";

const USUAL_MOST = 50;
interface FileListProps {
  label: string;
  /** Media ids or addresses. */
  value: readonly string[];
  accept: string;
  error: string | undefined;
  /** Files of the workflow's author, which other users can't look up. */
  examples: readonly unknown[];
  most: number | undefined;
  onChange: (value: readonly string[]) => void;
}

/** Moves the item at an index to another one. */
const moved = (list: readonly string[], from: number, to: number): string[] => {
  const next = list.toSpliced(from, 1);
  next.splice(to, 0, list[from]!);
  return next;
};

const sameList = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((reference, index) => reference === other[index]);

/** Unique keys for references, which can repeat. */
const keysOf = (references: readonly string[]): string[] => {
  const counts = new Map<string, number>();
  return references.map((reference) => {
    const count = counts.get(reference) ?? 0;
    counts.set(reference, count + 1);
    return `${count} ${reference}`;
  });
};

/** A list of files: upload by dropping or choosing many at once, take from the library, reorder and remove. */
export const FileList = ({ label, value, accept, error, examples, most = USUAL_MOST, onChange }: FileListProps) => {
  const labelId = useId();
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  /** Item to focus after the list has changed. */
  const focused = useRef<number>(undefined);
  const latest = useRef(value);
  const [progress, setProgress] = useState<string>();
  const [isPicking, setPicking] = useState(false);
  const [isOver, setOver] = useState(false);
  const [news, setNews] = useState("");
  useEffect(() => {
    latest.current = value;
    if (focused.current === undefined) return;
    list.current?.querySelector<HTMLElement>(`[data-item="${focused.current}"]`)?.focus();
    focused.current = undefined;
  }, [value]);
  /** The first own files replace the examples. */
  const ownPart = (references: readonly string[]): readonly string[] => (sameList(references, examples) ? [] : references);
  const room = most - ownPart(value).length;

  const add = (ids: readonly string[]): void => {
    const own = ownPart(latest.current);
    const next = [...own, ...ids].slice(0, most);
    if (own.length + ids.length > most) complain(FILE_LIST.tooMany(most, label));
    if (own.length < latest.current.length) setNews(FILE_LIST.examplesReplaced);
    latest.current = next;
    onChange(next);
  };
  const upload = async (files: readonly File[]): Promise<void> => {
    if (files.length === 0 || progress !== undefined) return;
    if (files.length > room) complain(FILE_LIST.tooMany(most, label));
    const ids = await uploadInOrder(files.slice(0, room), accept, (index, count) => setProgress(FILE_LIST.uploading(index, count)));
    setProgress(undefined);
    if (ids.length > 0) add(ids);
  };
  const move = (from: number, to: number, title: string): void => {
    focused.current = to;
    setNews(FILE_LIST.moved(title, to + 1, value.length));
    onChange(moved(value, from, to));
  };
  const remove = (index: number, title: string): void => {
    focused.current = Math.min(index, value.length - 2);
    setNews(FILE_LIST.removed(title, value.length - 1));
    onChange(value.toSpliced(index, 1));
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    setOver(false);
    void upload([...event.dataTransfer.files]);
  };
  const keys = keysOf(value);
  return (
    <div role="group" aria-labelledby={labelId} className="flex min-w-0 flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span className="min-w-0 text-[13px] font-medium wrap-anywhere">
          <span id={labelId}>{label}</span> <span className="font-normal text-faint">{FILE_LIST.count(value.length, most)}</span>
        </span>
        <span className="flex flex-wrap gap-1">
          <Button size="sm" icon={FolderOpen} disabled={room <= 0} onClick={() => setPicking(true)}>
            {FILE_VALUE.choose}
          </Button>
          <Button size="sm" icon={Upload} busy={progress !== undefined} disabled={room <= 0} onClick={() => input.current?.click()}>
            {COMMON.upload}
          </Button>
        </span>
      </div>
      <input
        ref={input}
        type="file"
        multiple
        accept={chooserTypes(accept)}
        aria-label={label}
        className="hidden"
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          event.target.value = "";
          void upload(files);
        }}
      />
      <div
        data-drop
        className={classes(
          "rounded-xl border border-dashed p-2",
          isOver ? "border-accent bg-accent-soft" : error === undefined ? "border-line-strong/60" : "border-bad",
        )}
        onDragOver={(event) => {
          if (![...event.dataTransfer.items].some(({ kind }) => kind === "file")) return;
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        {value.length === 0 && (
          <button
            type="button"
            className="flex w-full flex-col items-center gap-1.5 rounded-lg px-4 py-5 text-center text-sm text-muted hover:bg-hover"
            onClick={() => input.current?.click()}
          >
            <Images className="size-5" aria-hidden />
            {FILE_LIST.drop}
          </button>
        )}
        {value.length > 0 && (
          <ul
            ref={list}
            aria-label={label}
            className="grid grid-cols-[repeat(auto-fill,minmax(5.5rem,1fr))] gap-2 pointer-coarse:grid-cols-[repeat(auto-fill,minmax(8.5rem,1fr))]"
          >
            {value.map((reference, index) => (
              <ListItem
                key={keys[index]}
                reference={reference}
                index={index}
                count={value.length}
                isExample={examples.includes(reference)}
                move={move}
                remove={(title) => remove(index, title)}
              />
            ))}
          </ul>
        )}
      </div>
      <p role="status" className={progress === undefined ? "sr-only" : "text-xs text-muted"}>
        {progress ?? news}
      </p>
      {error !== undefined && (
        <p role="alert" className="text-xs text-bad wrap-anywhere">
          {error}
        </p>
      )}
      {isPicking && <FilePicker label={label} accept={accept} most={room} onDone={add} onClose={() => setPicking(false)} />}
    </div>
  );
};
