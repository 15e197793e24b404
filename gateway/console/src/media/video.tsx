import { ChevronLeft, ChevronRight, Play, Repeat } from "lucide-react";
import { useRef, useState, type ComponentProps } from "react";
import { IconButton } from "../ui/button";
import { classes } from "../ui/classes";
import { Still } from "./still";

/** Every way in which a video is shown. */
const WAYS = {
  player: { controls: true, playsInline: true, preload: "metadata" },
  /** Without sound, again and again, started by hand. */
  sample: { controls: true, muted: true, loop: true, playsInline: true, preload: "metadata" },
  moving: { autoPlay: true, muted: true, loop: true, playsInline: true },
} as const;
export type VideoWay = keyof typeof WAYS;

export interface VideoProps extends Omit<ComponentProps<"video">, "src"> {
  url: string;
  label: string;
  way: VideoWay;
}

export const Video = ({ url, label, way, ...rest }: VideoProps) => <video src={url} aria-label={label} {...WAYS[way]} {...rest} />;

export interface VideoPreviewProps {
  url: string;
  width: number;
  label: string;
  className: string;
  fit: string;
}

/** A video's first picture; it plays while it is pointed at. */
export const VideoPreview = ({ url, width, label, className, fit }: VideoPreviewProps) => {
  const [isPlaying, setPlaying] = useState(false);
  const clip = (
    <Video
      way="moving"
      url={url}
      label={label}
      autoPlay={isPlaying}
      preload="metadata"
      className={classes("absolute inset-0 size-full", fit)}
    />
  );
  return (
    <span className={classes("relative block", className)} onPointerEnter={() => setPlaying(true)} onPointerLeave={() => setPlaying(false)}>
      <Still url={url} width={width} label={label} className={classes("size-full", fit)} isPicture={false} otherwise={clip} />
      {isPlaying && clip}
      <Play className="absolute right-1 bottom-1 size-3.5 fill-(--on-media) text-(--on-media)/90 drop-shadow" aria-hidden />
    </span>
  );
};

/** Files don't say how many frames a second they have; most clips have 24 or more. */
const FRAME_S = 1 / 24;

/** A video with steps of a frame, and in a loop. */
export const VideoClip = ({ url, label }: { url: string; label: string }) => {
  const video = useRef<HTMLVideoElement>(null);
  const [loop, setLoop] = useState(true);
  const stepBy = (by: 1 | -1): void => {
    const player = video.current;
    if (!player) return;
    player.pause();
    player.currentTime = Math.min(player.duration || 0, Math.max(0, player.currentTime + by * FRAME_S));
  };
  return (
    <div className="flex size-full flex-col items-center justify-center gap-2">
      <Video way="moving" ref={video} url={url} label={label} controls loop={loop} className="min-h-0 max-w-full flex-1 object-contain" />
      <div className="viewer-bar" role="toolbar" aria-label="Clip">
        <IconButton icon={ChevronLeft} size="sm" label="A frame back" onClick={() => stepBy(-1)} />
        <IconButton icon={ChevronRight} size="sm" label="A frame on" onClick={() => stepBy(1)} />
        <IconButton icon={Repeat} size="sm" label="Play in a loop" active={loop} onClick={() => setLoop(!loop)} />
      </div>
    </div>
  );
};
