import { FileQuestion } from "lucide-react";
import { lazy, Suspense } from "react";
import type { OutputFile } from "./files-in";
import { Still } from "./still";
import { thumbnailUrl } from "./thumbnail";
import { isOwnMedia, unsigned } from "./url";
import { POSTER_PX, Video } from "./video";

/** With the library that draws 3D models, which no other view needs. */
const ModelView = lazy(async () => ({ default: (await import("./model3d/model-view")).ModelView }));

export interface MediaViewProps {
  file: OutputFile;
  label: string;
  className?: string;
  /** Width in device pixels, for small pictures. */
  width?: number;
  /** True for one of many on a page: sounds load only when they are played, and videos are muted. */
  isSample?: boolean;
}

/** A file to see or hear. The service's own files are embedded, others are links. */
export const MediaView = ({ file: { url, family }, label, className = "", width, isSample = false }: MediaViewProps) => {
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
  if (family === "video")
    return (
      <Video
        way={isSample ? "sample" : "player"}
        url={url}
        label={label}
        poster={thumbnailUrl(url, POSTER_PX)}
        // Without a height of its own, a video is invisible until its first frame is there.
        className={`aspect-[auto_16/9] bg-(--media) ${className}`}
      />
    );
  if (family === "audio")
    return <audio src={url} controls preload={isSample ? "none" : "metadata"} aria-label={label} className="w-full" />;
  if (family === "model3d")
    return (
      <Suspense fallback={<span className={`block aspect-square ${className}`} />}>
        <ModelView key={unsigned(url)} url={url} label={label} className={className} />
      </Suspense>
    );
  const whole = <img src={url} alt={label} loading="lazy" className={className} />;
  return width === undefined ? whole : <Still url={url} width={width} label={label} className={className} isPicture otherwise={whole} />;
};
