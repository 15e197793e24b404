import { FileQuestion, FileText } from "lucide-react";
import { isOwnMedia } from "./url";
import { classes } from "../ui/classes";
import type { OutputFile } from "./files-in";
import { Peaks } from "./peaks";
import { Still } from "./still";
import { VideoPreview } from "./video";

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

/** A still of anything that was made: a picture, a video's first picture, how loud a sound is, words of a text. */
export const Thumb = ({ file, text, label, width, className = "", whole = false }: ThumbProps) => {
  const fit = whole ? "object-contain" : "object-cover";
  if (file === undefined)
    return (
      <span
        className={classes("flex items-center justify-center overflow-hidden p-1 text-[9px] leading-tight text-(--on-media)/75", className)}
      >
        {text === undefined ? <FileText className="size-4" aria-label={label} role="img" /> : text.slice(0, LETTERS)}
      </span>
    );
  const sign = (
    <span className={classes("flex items-center justify-center text-(--on-media)/75", className)}>
      <FileQuestion className="size-5" aria-label={label} role="img" />
    </span>
  );
  if (!isOwnMedia(file.url) || file.family === undefined) return sign;
  if (file.family === "image")
    return <Still url={file.url} width={width} label={label} className={classes(fit, className)} isPicture otherwise={sign} />;
  if (file.family === "audio")
    return (
      <span className={classes("flex items-center justify-center text-(--port-audio)", className)}>
        <Peaks url={file.url} label={label} />
      </span>
    );
  return <VideoPreview url={file.url} width={width} label={label} className={className} fit={fit} />;
};
