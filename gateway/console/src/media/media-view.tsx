import { FileQuestion } from "lucide-react";
import { isOwnMedia } from "./url";
import type { OutputFile } from "./files-in";
import { Still } from "./still";

export interface MediaViewProps {
  file: OutputFile;
  label: string;
  className?: string;
  /** In device pixels, of an image that is shown small. */
  width?: number;
}

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
