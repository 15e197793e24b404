import { AudioLines, FileQuestion, FileText, Play } from "lucide-react";
import { useRef } from "react";
import { isOwnMedia } from "../api/media-url";
import { classes } from "../ui/classes";
import type { OutputFile } from "./outputs";
import { thumbnailUrl } from "./thumbnail";

export interface ThumbProps {
  file: OutputFile | undefined;
  text?: string | undefined;
  label: string;
  width: number;
  className?: string;
  /** Whole, with what is beside it; otherwise it fills its place. */
  whole?: boolean;
}

const LETTERS = 60;

/** A still of anything that was made: a picture, a video's first frame (it plays while pointed at), a sign for sound, words of a text. */
export const Thumb = ({ file, text, label, width, className = "", whole = false }: ThumbProps) => {
  const video = useRef<HTMLVideoElement>(null);
  const fit = whole ? "object-contain" : "object-cover";
  if (file === undefined)
    return (
      <span
        className={classes("flex items-center justify-center overflow-hidden p-1 text-[9px] leading-tight text-(--on-media)/75", className)}
      >
        {text === undefined ? <FileText className="size-4" aria-label={label} role="img" /> : text.slice(0, LETTERS)}
      </span>
    );
  if (!isOwnMedia(file.url) || file.family === undefined)
    return (
      <span className={classes("flex items-center justify-center text-(--on-media)/75", className)}>
        <FileQuestion className="size-5" aria-label={label} role="img" />
      </span>
    );
  if (file.family === "image")
    return (
      <img
        src={thumbnailUrl(file.url, width)}
        alt={label}
        loading="lazy"
        decoding="async"
        draggable={false}
        className={classes(fit, className)}
      />
    );
  if (file.family === "audio")
    return (
      <span className={classes("flex items-center justify-center text-(--port-audio)", className)}>
        <AudioLines className="size-6" aria-label={label} role="img" />
      </span>
    );
  return (
    <span
      className={classes("relative block", className)}
      onPointerEnter={() => void video.current?.play().catch(() => undefined)}
      onPointerLeave={() => video.current?.pause()}
    >
      <video
        ref={video}
        src={file.url}
        muted
        loop
        playsInline
        preload="metadata"
        aria-label={label}
        className={classes("size-full", fit)}
      />
      <Play className="absolute right-1 bottom-1 size-3.5 fill-(--on-media) text-(--on-media)/90 drop-shadow" aria-hidden />
    </span>
  );
};
