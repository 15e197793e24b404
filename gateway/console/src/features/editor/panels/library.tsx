import type { MediaFile } from "@nodeloom/client";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { CheckCheck, Download, Pin, SquarePlus, Trash2, X } from "lucide-react";
import { useEffect, useMemo, useState, type DragEvent } from "react";
import { LoadFailure } from "../../../app/error-pages";
import { fileName, rememberFiles } from "../../../api/files";
import { request } from "../../../api/client";
import { useAction } from "../../../api/use-action";
import { fileTitle } from "../../../runs/file-title";
import { UploadButton } from "../../../runs/upload-button";
import { downloadAll } from "../../../runs/viewer/download";
import { view } from "../../../runs/viewer/store";
import { Button, IconButton } from "../../../ui/button";
import { bytes } from "../../../ui/format";
import { Input } from "../../../ui/inputs/field";
import { Skeleton } from "../../../ui/notice";
import { addFileNodes, LIBRARY_DRAG } from "../commands/files";
import type { Stage } from "../commands/commands";
import { useEditor, useUi } from "../context";
import { KEPT_DAYS, Tile, viewerItem } from "./library-tile";

/** Files of one's own beside the canvas: made, uploaded, kept; found, dragged onto the canvas, viewed, deleted. */
const PAGE = 60;
const KINDS = [
  ["", "All"],
  ["image", "Pictures"],
  ["video", "Clips"],
  ["audio", "Sounds"],
] as const;
const ORIGINS = [
  ["", "Everything"],
  ["generated", "Made"],
  ["upload", "Uploaded"],
  ["kept", "Kept"],
] as const;
const useLibrary = () => {
  const pages = useInfiniteQuery({
    queryKey: ["media", "library"],
    queryFn: async ({ pageParam, signal }) =>
      (await request("listMedia", { query: { limit: PAGE, ...(pageParam === "" ? {} : { cursor: pageParam }) }, signal })).body,
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
  const files = useMemo(() => (pages.data?.pages ?? []).flatMap(({ rows }) => rows), [pages.data]);
  useEffect(() => rememberFiles(files), [files]);
  return { ...pages, files };
};

const fits = (file: MediaFile, { kind, origin, words }: { kind: string; origin: string; words: string }): boolean =>
  (kind === "" || file.contentType.startsWith(`${kind}/`)) &&
  (origin === "" || (origin === "kept" ? file.kept : file.origin === origin)) &&
  `${fileTitle(file)} ${file.contentType}`.toLowerCase().includes(words.trim().toLowerCase());

const Chips = ({
  label,
  choices,
  chosen,
  onChoose,
}: {
  label: string;
  choices: readonly (readonly [string, string])[];
  chosen: string;
  onChoose: (choice: string) => void;
}) => (
  <div role="group" aria-label={label} className="flex flex-wrap gap-1">
    {choices.map(([value, title]) => (
      <button
        key={value}
        type="button"
        aria-pressed={chosen === value}
        className="rounded-full border px-2.5 py-0.5 text-xs aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent-text"
        onClick={() => onChoose(value)}
      >
        {title}
      </button>
    ))}
  </div>
);

/** What can be done with the files that are chosen. */
const Chosen = ({ files, stage, onDone }: { files: readonly MediaFile[]; stage: Stage; onDone: () => void }) => {
  const editor = useEditor();
  const { busy, run } = useAction(["media"]);
  const choosing = useUi((state) => state.choosing);
  const add = (): void => {
    const [first] = files;
    if (choosing && first) {
      choosing(first);
      editor.ui.setState({ choosing: undefined, library: false });
    } else
      addFileNodes(
        editor,
        files.map(({ id }) => ({ id, name: fileName(id) })),
        stage.middle(),
      );
    onDone();
  };
  const remove = async (): Promise<void> => {
    const [one, many] = ["The file was deleted.", `${files.length} files were deleted.`];
    await run(
      async () => {
        for (const { id } of files) await request("deleteMedia", { params: { id } });
      },
      files.length === 1 ? one : many,
    );
    onDone();
  };
  const keep = (): Promise<unknown> =>
    run(async () => {
      for (const { id, kept } of files) if (!kept) await request("keepMedia", { params: { id } });
    }, "Kept until you delete them.");
  return (
    <div role="toolbar" aria-label="Chosen files" className="flex flex-wrap items-center gap-1 border-t p-2">
      <Button size="sm" variant="primary" icon={SquarePlus} onClick={add}>
        {choosing ? "Use it" : files.length === 1 ? "Add to the canvas" : `Add ${files.length}`}
      </Button>
      <IconButton icon={Download} size="sm" label="Download as ZIP" onClick={() => void downloadAll(files.map(viewerItem), "files")} />
      <IconButton icon={Pin} size="sm" label="Keep" disabled={busy || files.every(({ kept }) => kept)} onClick={() => void keep()} />
      <IconButton
        icon={Trash2}
        size="sm"
        label={files.length === 1 ? "Delete it" : `Delete ${files.length} files`}
        disabled={busy}
        onClick={() => void remove()}
      />
      <IconButton icon={X} size="sm" label="Choose none" onClick={onDone} />
    </div>
  );
};

export const Library = ({ stage }: { stage: Stage }) => {
  const editor = useEditor();
  const client = useQueryClient();
  const library = useLibrary();
  const choosing = useUi((state) => state.choosing);
  const [filter, setFilter] = useState({ kind: "", origin: "", words: "" });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const shown = library.files.filter((file) => fits(file, filter));
  const picked = shown.filter(({ id }) => chosen.has(id));
  const [page] = library.data?.pages ?? [];
  const close = (): void => editor.ui.setState({ library: false, choosing: undefined });
  const choose = (id: string, more: boolean): void => {
    const next = new Set(more && !choosing ? chosen : []);
    if (chosen.has(id) && (more || chosen.size === 1)) next.delete(id);
    else next.add(id);
    setChosen(next);
  };
  const drag =
    (file: MediaFile) =>
    (event: DragEvent): void => {
      const files = chosen.has(file.id) ? picked : [file];
      event.dataTransfer.setData(LIBRARY_DRAG, JSON.stringify(files.map(({ id }) => ({ id, name: fileName(id) }))));
      event.dataTransfer.effectAllowed = "copy";
    };
  return (
    <aside
      aria-label="Your files"
      className="absolute inset-y-0 left-0 z-10 flex w-76 flex-col border-r bg-surface shadow-high max-md:inset-x-0 max-md:top-auto max-md:z-30 max-md:h-[70%] max-md:w-full max-md:rounded-t-2xl max-md:border-t"
    >
      <header className="flex flex-col gap-2 border-b p-3">
        <div className="flex items-center gap-2">
          <h2 className="flex-1 font-semibold">{choosing ? "Choose a file" : "Your files"}</h2>
          <UploadButton
            accept="image/*,video/*,audio/*"
            label="Upload"
            onDone={() => void client.invalidateQueries({ queryKey: ["media"] })}
          />
          <IconButton icon={X} size="sm" label="Close your files" onClick={close} />
        </div>
        <Input
          type="search"
          aria-label="Search your files"
          placeholder="Search by name or kind"
          className="h-8!"
          value={filter.words}
          onChange={({ target }) => setFilter({ ...filter, words: target.value })}
        />
        <Chips label="Kind" choices={KINDS} chosen={filter.kind} onChoose={(kind) => setFilter({ ...filter, kind })} />
        <Chips label="How they came" choices={ORIGINS} chosen={filter.origin} onChoose={(origin) => setFilter({ ...filter, origin })} />
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto p-3">
        {library.isPending && <Skeleton lines={6} />}
        {library.isError && <LoadFailure error={library.error} retry={() => void library.refetch()} />}
        {library.data && shown.length === 0 && (
          <p className="py-8 text-center text-sm text-muted">
            {library.files.length === 0 ? "What you upload and what runs make appears here." : "No file fits."}
          </p>
        )}
        <ul className="grid grid-cols-3 gap-2" aria-label="Files">
          {shown.map((file, index) => (
            <Tile
              key={file.id}
              file={file}
              chosen={chosen.has(file.id)}
              onChoose={(more) => choose(file.id, more)}
              onDrag={drag(file)}
              onView={() => view([{ id: "library", title: "Your files", items: shown.map(viewerItem) }], { index })}
            />
          ))}
        </ul>
        {library.hasNextPage && (
          <Button size="sm" className="mt-3 w-full" busy={library.isFetchingNextPage} onClick={() => void library.fetchNextPage()}>
            Older
          </Button>
        )}
      </div>
      {picked.length > 0 ? (
        <Chosen files={picked} stage={stage} onDone={() => setChosen(new Set())} />
      ) : (
        <footer className="flex items-center gap-2 border-t p-3 text-xs text-faint tabular-nums">
          <span className="flex-1">
            {page && `${bytes(page.usedBytes)}${page.quotaBytes === null ? "" : ` of ${bytes(page.quotaBytes)}`} kept`} · made files stay{" "}
            {KEPT_DAYS} days
          </span>
          {shown.length > 0 && !choosing && (
            <IconButton icon={CheckCheck} size="sm" label="Choose all" onClick={() => setChosen(new Set(shown.map(({ id }) => id)))} />
          )}
        </footer>
      )}
    </aside>
  );
};
