import type { MediaFile } from "@nodeloom/client";
import { useQueryClient } from "@tanstack/react-query";
import { CheckCheck, Download, Pin, SquarePlus, Trash2, X } from "lucide-react";
import { useState, type DragEvent } from "react";
import { LoadFailure } from "../../parts/error-pages";
import { fileName } from "../../api/files";
import { UploadButton } from "../../media/upload-button";
import { downloadAll } from "../../media/viewer/download";
import { view } from "../../media/viewer/store";
import { Button, IconButton } from "../../ui/button";
import { Skeleton } from "../../ui/notice";
import { addFileNodes, LIBRARY_DRAG } from "../commands/files";
import type { Stage } from "../commands/command";
import { useEditor, useUi } from "../context";
import { Tile, viewerItem } from "../../features/files/tile";
import { EVERYTHING, FileFilters, fits, isFiltered, keptWords, useFileActions } from "../../features/files/library";
import { useLibrary } from "../../media/use-library";
import { COMMON } from "../../messages/common";
import { LIBRARY } from "../../messages/editor/panels";
import { EVERY_FILE } from "../../ui/inputs/accept";

const Chosen = ({ files, stage, onDone }: { files: readonly MediaFile[]; stage: Stage; onDone: () => void }) => {
  const editor = useEditor();
  const { busy, remove, keep } = useFileActions(files, onDone);
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
  return (
    <div role="toolbar" aria-label={LIBRARY.selectedFiles} className="flex flex-wrap items-center gap-1 border-t p-2">
      <Button size="sm" variant="primary" icon={SquarePlus} onClick={add}>
        {choosing ? LIBRARY.useFile : files.length === 1 ? LIBRARY.addToCanvas : LIBRARY.add(files.length)}
      </Button>
      <IconButton
        icon={Download}
        size="sm"
        label={LIBRARY.downloadAsZip}
        onClick={() => void downloadAll(files.map(viewerItem), "files")}
      />
      <IconButton
        icon={Pin}
        size="sm"
        label={LIBRARY.keep}
        disabled={busy || files.every(({ kept }) => kept)}
        onClick={() => void keep()}
      />
      <IconButton
        icon={Trash2}
        size="sm"
        label={files.length === 1 ? LIBRARY.deleteFile : LIBRARY.deleteFiles(files.length)}
        disabled={busy}
        onClick={() => void remove()}
      />
      <IconButton icon={X} size="sm" label={LIBRARY.clearSelection} onClick={onDone} />
    </div>
  );
};

/** Own files beside the canvas: search, drag, view, delete. */
export const Library = ({ stage }: { stage: Stage }) => {
  const editor = useEditor();
  const client = useQueryClient();
  const choosing = useUi((state) => state.choosing);
  const [filter, setFilter] = useState(EVERYTHING);
  const library = useLibrary(filter);
  const [chosenIds, setChosen] = useState<ReadonlySet<string>>(new Set());
  const shownFiles = library.files.filter((file) => fits(file, filter));
  const picked = shownFiles.filter(({ id }) => chosenIds.has(id));
  const [page] = library.data?.pages ?? [];
  const close = (): void => editor.ui.setState({ library: false, choosing: undefined });
  const choose = (id: string, more: boolean): void => {
    const next = new Set(more && !choosing ? chosenIds : []);
    if (chosenIds.has(id) && (more || chosenIds.size === 1)) next.delete(id);
    else next.add(id);
    setChosen(next);
  };
  const drag =
    (file: MediaFile) =>
    (event: DragEvent): void => {
      const files = chosenIds.has(file.id) ? picked : [file];
      event.dataTransfer.setData(LIBRARY_DRAG, JSON.stringify(files.map(({ id }) => ({ id, name: fileName(id) }))));
      event.dataTransfer.effectAllowed = "copy";
    };
  return (
    <aside
      aria-label={LIBRARY.yourFiles}
      className="absolute inset-y-0 left-0 z-10 flex w-76 flex-col border-r bg-surface shadow-high max-md:inset-x-0 max-md:top-auto max-md:z-30 max-md:h-[70%] max-md:w-full max-md:rounded-t-2xl max-md:border-t"
    >
      <header className="flex flex-col gap-2 border-b p-3">
        <div className="flex items-center gap-2">
          <h2 className="flex-1 font-semibold">{choosing ? LIBRARY.chooseAFile : LIBRARY.yourFiles}</h2>
          <UploadButton accept={EVERY_FILE} label={COMMON.upload} onDone={() => void client.invalidateQueries({ queryKey: ["media"] })} />
          <IconButton icon={X} size="sm" label={LIBRARY.closeFiles} onClick={close} />
        </div>
        <FileFilters filter={filter} onChange={setFilter} />
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto p-3">
        {library.isPending && <Skeleton lines={6} />}
        {library.isError && <LoadFailure error={library.error} retry={() => void library.refetch()} />}
        {library.data && shownFiles.length === 0 && (
          <p className="py-8 text-center text-sm text-muted">{isFiltered(filter) ? LIBRARY.noMatchingFiles : LIBRARY.emptyHint}</p>
        )}
        <ul className="grid grid-cols-3 gap-2" aria-label={COMMON.files}>
          {shownFiles.map((file, index) => (
            <Tile
              key={file.id}
              file={file}
              chosen={chosenIds.has(file.id)}
              onChoose={(more) => choose(file.id, more)}
              onDrag={drag(file)}
              onView={() => view([{ id: "library", title: LIBRARY.yourFiles, items: shownFiles.map(viewerItem) }], { index })}
            />
          ))}
        </ul>
        {library.hasNextPage && (
          <Button size="sm" className="mt-3 w-full" busy={library.isFetchingNextPage} onClick={() => void library.fetchNextPage()}>
            {COMMON.older}
          </Button>
        )}
      </div>
      {picked.length > 0 ? (
        <Chosen files={picked} stage={stage} onDone={() => setChosen(new Set())} />
      ) : (
        <footer className="flex items-center gap-2 border-t p-3 text-xs text-faint tabular-nums">
          <span className="flex-1">{page && keptWords(page)}</span>
          {shownFiles.length > 0 && !choosing && (
            <IconButton
              icon={CheckCheck}
              size="sm"
              label={LIBRARY.selectAll}
              onClick={() => setChosen(new Set(shownFiles.map(({ id }) => id)))}
            />
          )}
        </footer>
      )}
    </aside>
  );
};
