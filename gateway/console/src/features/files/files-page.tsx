import type { MediaFile } from "@nodeloom/client";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Download, FileCheck, Images, Pin, Route, Trash2, X } from "lucide-react";
import { useState } from "react";
import { messageOf, request } from "../../api/client";
import { LoadFailure } from "../../parts/error-pages";
import { UploadButton } from "../../media/upload-button";
import { downloadAll } from "../../media/viewer/download";
import { view } from "../../media/viewer/store";
import { Button, buttonClasses } from "../../ui/button";
import { Empty, Skeleton } from "../../ui/notice";
import { complain } from "../../ui/overlays/toast";
import { Page } from "../../ui/page";
import { EVERYTHING, FileFilters, fits, isFiltered, keptWords, useFileActions } from "./library";
import { useLibrary } from "../../media/use-library";
import { Tile, viewerItem } from "./tile";
import { COMMON } from "../../messages/common";
import { FILES_PAGE } from "../../messages/files";
import { EVERY_FILE } from "../../ui/inputs/accept";

const DAY = new Intl.DateTimeFormat("en", { weekday: "long", day: "numeric", month: "long", year: "numeric" });

/** Files grouped by day, in order. */
const byDay = (files: readonly MediaFile[]): Map<string, MediaFile[]> => {
  const days = new Map<string, MediaFile[]>();
  for (const file of files) {
    const day = file.createdAt === null ? FILES_PAGE.earlier : DAY.format(new Date(file.createdAt));
    days.set(day, [...(days.get(day) ?? []), file]);
  }
  return days;
};

const Chosen = ({ files, onDone }: { files: readonly MediaFile[]; onDone: () => void }) => {
  const navigate = useNavigate();
  const { busy, remove, keep } = useFileActions(files, onDone);
  const [only, ...others] = files;
  const openRun = async (id: string): Promise<void> => {
    try {
      const { body } = await request("getMediaProvenance", { params: { id } });
      if (body.executionId === null) return complain(FILES_PAGE.runExpired);
      await navigate({ to: "/executions/$id", params: { id: body.executionId } });
    } catch (error) {
      complain(messageOf(error));
    }
  };
  return (
    <div
      role="toolbar"
      aria-label={FILES_PAGE.selectedFiles}
      className="sticky bottom-4 z-10 mx-auto mt-6 flex w-fit max-w-full flex-wrap items-center gap-2 rounded-2xl border bg-surface p-2 shadow-high"
    >
      <span className="px-2 text-sm font-medium">{FILES_PAGE.filesChosen(files.length)}</span>
      {only && others.length === 0 && only.origin === "generated" && (
        <Button size="sm" icon={Route} onClick={() => void openRun(only.id)}>
          {FILES_PAGE.openRun}
        </Button>
      )}
      <Button size="sm" icon={Download} onClick={() => void downloadAll(files.map(viewerItem), "files")}>
        {COMMON.download}
      </Button>
      <Button size="sm" icon={Pin} disabled={busy || files.every(({ kept }) => kept)} onClick={() => void keep()}>
        {FILES_PAGE.keep}
      </Button>
      <Button size="sm" variant="danger" icon={Trash2} disabled={busy} onClick={() => void remove()}>
        {COMMON.delete}
      </Button>
      <Button size="sm" variant="ghost" icon={X} onClick={onDone}>
        {FILES_PAGE.clearSelection}
      </Button>
    </div>
  );
};

/** All files, day by day. */
export const FilesPage = () => {
  const client = useQueryClient();
  const [filter, setFilter] = useState(EVERYTHING);
  const library = useLibrary(filter);
  const [chosenIds, setChosen] = useState<ReadonlySet<string>>(new Set());
  const shownFiles = library.files.filter((file) => fits(file, filter));
  const picked = shownFiles.filter(({ id }) => chosenIds.has(id));
  const [page] = library.data?.pages ?? [];
  const choose = (id: string): void => {
    const next = new Set(chosenIds);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const open = (file: MediaFile): void =>
    view([{ id: "files", title: FILES_PAGE.yourFiles, items: shownFiles.map(viewerItem) }], { index: shownFiles.indexOf(file) });
  return (
    <Page
      title={COMMON.files}
      lead={page ? keptWords(page) : FILES_PAGE.subtitle}
      actions={
        <>
          <Link to="/verify" className={buttonClasses("secondary")}>
            <FileCheck className="size-4" aria-hidden />
            {FILES_PAGE.verify}
          </Link>
          <UploadButton
            accept={EVERY_FILE}
            label={COMMON.upload}
            size="md"
            onDone={() => void client.invalidateQueries({ queryKey: ["media"] })}
          />
        </>
      }
    >
      <div className="mb-5 flex flex-wrap gap-x-6 gap-y-2">
        <FileFilters filter={filter} onChange={setFilter} />
      </div>
      {library.isPending && <Skeleton lines={6} />}
      {library.isError && <LoadFailure error={library.error} retry={() => void library.refetch()} />}
      {library.data && shownFiles.length === 0 && (
        <Empty icon={Images} title={isFiltered(filter) ? FILES_PAGE.noMatchingFiles : FILES_PAGE.noFilesYet}>
          {!isFiltered(filter) ? FILES_PAGE.emptyHint : library.hasNextPage ? FILES_PAGE.olderMayMatch : FILES_PAGE.otherWords}
        </Empty>
      )}
      {[...byDay(shownFiles)].map(([day, files]) => (
        <section key={day} aria-label={day} className="mb-6">
          <h2 className="mb-2 text-sm font-semibold text-muted">{day}</h2>
          <ul className="grid grid-cols-[repeat(auto-fill,minmax(8.5rem,1fr))] gap-3" aria-label={FILES_PAGE.filesFrom(day)}>
            {files.map((file) => (
              <Tile key={file.id} file={file} chosen={chosenIds.has(file.id)} onChoose={() => choose(file.id)} onView={() => open(file)} />
            ))}
          </ul>
        </section>
      ))}
      {library.hasNextPage && (
        <Button className="w-full" busy={library.isFetchingNextPage} onClick={() => void library.fetchNextPage()}>
          {COMMON.older}
        </Button>
      )}
      {picked.length > 0 && <Chosen files={picked} onDone={() => setChosen(new Set())} />}
    </Page>
  );
};
