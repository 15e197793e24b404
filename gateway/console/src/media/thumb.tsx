import { Box, FileQuestion, FileText, LoaderCircle, Play } from "lucide-react";
import { useState } from "react";
import { isOwnMedia } from "./url";
import { classes } from "../ui/classes";
import type { OutputFile } from "./files-in";
import { Peaks } from "./peaks";
import { Still } from "./still";
import { Video } from "./video";

export interface ThumbProps {
  file: OutputFile | undefined;
  text?: string | undefined;
  label: string;
  width: number;
  className?: string;
  /** True to show the whole output beside other content; otherwise it fills its space. */
  fitsWhole?: boolean;
}

const LETTERS = 60;

interface PreviewProps {
  url: string;
  width: number;
  label: string;
  className: string;
  fit: string;
}

/** First frame of a video, which plays on hover, on a dark stage until it is there. */
const Preview = ({ url, width, label, className, fit }: PreviewProps) => {
  const [isPlaying, setPlaying] = useState(false);
  const [isThere, setThere] = useState(false);
  const clip = (
    <Video
      way="moving"
      url={url}
      label={label}
      autoPlay={isPlaying}
      preload="metadata"
      onLoadedData={() => setThere(true)}
      onError={() => setThere(true)}
      className={classes("absolute inset-0 size-full", fit)}
    />
  );
  return (
    <span
      className={classes("relative block", !isThere && "bg-(--media)", className)}
      onLoad={() => setThere(true)}
      onPointerEnter={() => setPlaying(true)}
      onPointerLeave={() => setPlaying(false)}
    >
      <Still url={url} width={width} label={label} className={classes("size-full", fit)} isPicture={false} otherwise={clip} />
      {isPlaying && clip}
      {!isThere && <LoaderCircle className="absolute inset-0 m-auto size-5 max-h-full animate-spin text-(--on-media)/75" aria-hidden />}
      <Play className="absolute right-1 bottom-1 size-3.5 fill-(--on-media) text-(--on-media)/90 drop-shadow" aria-hidden />
    </span>
  );
};

/** Preview of any output: picture, video frame, waveform or text. */
export const Thumb = ({ file, text, label, width, className = "", fitsWhole = false }: ThumbProps) => {
  const fit = fitsWhole ? "object-contain" : "object-cover";
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
    return (
      <Still
        url={file.url}
        width={width}
        label={label}
        className={classes(fit, className)}
        isPicture
        fitsWhole={fitsWhole}
        otherwise={sign}
      />
    );
  if (file.family === "model3d")
    return (
      <span className={classes("flex items-center justify-center text-(--port-model3d)", className)}>
        <Box className="size-1/2 max-h-12 max-w-12" {...(label === "" ? { "aria-hidden": true } : { "aria-label": label, role: "img" })} />
      </span>
    );
  if (file.family === "audio")
    return (
      <span className={classes("flex items-center justify-center text-(--port-audio)", className)}>
        <Peaks url={file.url} label={label} />
      </span>
    );
  return <Preview url={file.url} width={width} label={label} className={className} fit={fit} />;
};
