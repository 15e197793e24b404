import { FileQuestion } from "lucide-react";
import { isOwnMedia } from "../api/media-url";
import type { OutputFile } from "./outputs";
import { Still } from "./still";
import { view } from "./viewer/store";

export interface MediaViewProps {
  file: OutputFile;
  label: string;
  className?: string;
  /** In device pixels, of an image that is shown small. */
  width?: number;
}

/** Of a picture of a result, on a fine screen. */
const GALLERY_WIDTH = 768;

/** A file to see or hear: our own are shown, others are links. */
export const MediaView = ({ file: { url, family }, label, className = "", width }: MediaViewProps) => {
  if (!isOwnMedia(url) || family === undefined)
    return (
      <a
        href={url}
        target="_blank"
        rel="noopener noreferrer"
        className="flex items-center gap-2 p-3 text-sm text-accent-text underline wrap-anywhere"
      >
        <FileQuestion className="size-4 shrink-0" aria-hidden /> {url}
      </a>
    );
  const whole = <img src={url} alt={label} loading="lazy" className={className} />;
  if (family === "image" && width !== undefined)
    return <Still url={url} width={width} label={label} className={className} isPicture otherwise={whole} />;
  if (family === "image") return whole;
  if (family === "video") return <video src={url} controls preload="metadata" aria-label={label} className={className} />;
  return <audio src={url} controls preload="metadata" aria-label={label} className="w-full" />;
};

/** Views the files of a result large. */
const viewFiles = (files: readonly OutputFile[], index: number): void =>
  view(
    [
      {
        id: files[0]!.url,
        title: "Result",
        items: files.map((file, at) => ({ id: `${file.url} ${at}`, file, text: undefined, title: `Result ${at + 1}`, facts: [] })),
      },
    ],
    { index },
  );

/** All files of a result. */
export const Gallery = ({ files }: { files: readonly OutputFile[] }) => (
  <ul className="grid grid-cols-[repeat(auto-fill,minmax(9rem,1fr))] gap-2">
    {files.map((file, index) => (
      <li
        key={`${file.url} ${index}`}
        className={`min-w-0 overflow-hidden rounded-xl border bg-sunken ${file.family === "audio" || files.length === 1 ? "col-span-full" : ""}`}
      >
        {file.family === "image" && isOwnMedia(file.url) ? (
          <button
            type="button"
            aria-label={`View result ${index + 1}`}
            className="block w-full cursor-zoom-in"
            onClick={() => viewFiles(files, index)}
          >
            <MediaView file={file} label={`Result ${index + 1}`} className="mx-auto max-h-80 w-full object-contain" width={GALLERY_WIDTH} />
          </button>
        ) : (
          <MediaView file={file} label={`Result ${index + 1}`} className="mx-auto max-h-80 w-full object-contain" />
        )}
        <div className="border-t px-2.5 py-1.5 text-xs">
          <a href={file.url} target="_blank" rel="noopener noreferrer" className="text-accent-text underline underline-offset-2">
            Open file {index + 1}
          </a>
        </div>
      </li>
    ))}
  </ul>
);
