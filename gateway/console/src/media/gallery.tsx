import { Download, FileArchive } from "lucide-react";
import { isOwnMedia, unsigned } from "./url";
import { Button, IconButton } from "../ui/button";
import { MaskView } from "./mask-view";
import { MediaView } from "./media-view";
import type { OutputFile } from "./files-in";
import { downloadAll, downloadItem } from "./viewer/download";
import { view, type ViewerItem } from "./viewer/store";
import { COMMON } from "../messages/common";
import { GALLERY } from "../messages/media";

/** Width of result pictures in device pixels, for a high-resolution screen. */
const GALLERY_WIDTH = 768;

/** Known prompts by the addresses of their files. */
export type Prompts = ReadonlyMap<string, string>;

const viewedWith =
  (prompts: Prompts | undefined) =>
  (file: OutputFile, at: number): ViewerItem => ({
    prompt: prompts?.get(unsigned(file.url)),
    id: `${file.url} ${at}`,
    file,
    text: undefined,
    title: GALLERY.result(at + 1),
    facts: file.format === undefined ? [] : [[COMMON.file, file.format]],
  });

export const Gallery = ({ files, prompts }: { files: readonly OutputFile[]; prompts?: Prompts | undefined }) => {
  const viewed = viewedWith(prompts);
  const viewFiles = (index: number): void => view([{ id: files[0]!.url, title: COMMON.result, items: files.map(viewed) }], { index });
  return (
    <div className="flex flex-col gap-2">
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(9rem,1fr))] gap-2">
        {files.map((file, index) => (
          <li
            key={`${file.url} ${index}`}
            className={`min-w-0 overflow-hidden rounded-xl border bg-sunken ${file.family === "audio" || files.length === 1 ? "col-span-full" : ""}`}
          >
            {file.family === "image" && isOwnMedia(file.url) ? (
              <button
                type="button"
                aria-label={GALLERY.viewResult(index + 1)}
                className="block w-full cursor-zoom-in"
                onClick={() => viewFiles(index)}
              >
                {file.isMask === true ? (
                  <MaskView file={file} label={GALLERY.resultNumber(index + 1)} className="h-80 w-full" width={GALLERY_WIDTH} whole />
                ) : (
                  <MediaView
                    file={file}
                    label={GALLERY.resultNumber(index + 1)}
                    className="mx-auto max-h-80 w-full object-contain"
                    width={GALLERY_WIDTH}
                  />
                )}
              </button>
            ) : (
              <MediaView file={file} label={GALLERY.resultNumber(index + 1)} className="mx-auto max-h-80 w-full object-contain" />
            )}
            <div className="flex min-h-9 items-center justify-between gap-2 border-t pr-1 pl-2.5 text-xs">
              <a
                href={file.url}
                target="_blank"
                rel="noopener noreferrer"
                aria-label={GALLERY.openFile(index + 1)}
                className="text-accent-text underline underline-offset-2 pointer-coarse:-ml-2 pointer-coarse:inline-flex pointer-coarse:min-h-11 pointer-coarse:min-w-11 pointer-coarse:items-center pointer-coarse:px-2"
              >
                {GALLERY.open}
              </a>
              {isOwnMedia(file.url) && (
                <IconButton
                  icon={Download}
                  size="sm"
                  label={GALLERY.downloadFile(index + 1)}
                  onClick={() => void downloadItem(viewed(file, index))}
                />
              )}
            </div>
          </li>
        ))}
      </ul>
      {files.length > 1 && files.every(({ url }) => isOwnMedia(url)) && (
        <Button size="sm" icon={FileArchive} className="self-start" onClick={() => void downloadAll(files.map(viewed), "result")}>
          {GALLERY.downloadAll}
        </Button>
      )}
    </div>
  );
};
