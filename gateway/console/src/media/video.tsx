import type { ComponentProps } from "react";

/** Presentations of videos. */
const WAYS = {
  player: { controls: true, playsInline: true, preload: "metadata" },
  /** Muted and looped, with a manual start. */
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

/** Width of a video's first frame, in device pixels. */
export const POSTER_PX = 768;
