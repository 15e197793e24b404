import type { Source, VideoStream } from "./probe";
import { even, SAMPLE_RATE, shown } from "./make";

/** Parts of filter graphs. A label in brackets names a stream. */

export interface Frame {
  width: number;
  height: number;
  fps: number;
}

/** The frame size and rate that a video sets for the others. */
export const frameOf = ({ width, height, fps }: VideoStream): Frame => ({ width: even(width), height: even(height), fps });

/** A duration in whole frames. */
export const wholeFrames = (seconds: number, { fps }: Pick<Frame, "fps">): number => Math.max(1, Math.round(seconds * fps));

/** Same colors for every result: decoders must not see a change between consecutive clips. */
export const COLOURS =
  "scale=out_range=tv:out_color_matrix=bt709,setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709,format=yuv420p";

/** Rolls off HDR peaks. Below them, diffuse white stays white (203 cd/m², ITU-R BT.2408). */
const TONE_MAPPED =
  "zscale=transfer=linear:npl=203,format=gbrpf32le,zscale=primaries=bt709,tonemap=mobius:desat=0,zscale=transfer=bt709:matrix=bt709:range=tv,format=yuv420p";

/** Displayed picture: square pixels and SDR brightness. The start of each filter chain, or empty. */
export const asShown = ({ width, height, hasSquarePixels, hdr }: VideoStream): string => {
  const toned = hdr ? `setparams=color_primaries=${hdr.primaries}:color_trc=${hdr.transfer}:colorspace=${hdr.matrix},${TONE_MAPPED},` : "";
  return hasSquarePixels ? toned : `${toned}scale=${width}:${height}:flags=bicubic,setsar=1,`;
};

/** Scales into a frame, with bars if the aspect ratio differs. */
export const fitted = (video: VideoStream, { width, height, fps }: Frame): string =>
  `${asShown(video)}scale=${width}:${height}:force_original_aspect_ratio=decrease:flags=bicubic,pad=${width}:${height}:-1:-1:color=black,setsar=1,fps=${shown(fps)},${COLOURS}`;

/** Exactly this many frames; the last one is repeated if there are too few. */
export const lasting = (frames: number, { fps }: Pick<Frame, "fps">): string =>
  `tpad=stop_mode=clone:stop=${frames},trim=end_frame=${frames},setpts=N/(${shown(fps)}*TB)`;

/** Audio of exactly this duration in the common format; silence if there is none. */
export const sound = (index: number, source: Pick<Source, "audio">, seconds: number, label: string, more = ""): string => {
  const length = `atrim=duration=${shown(seconds)},asetpts=PTS-STARTPTS`;
  if (!source.audio) return `anullsrc=r=${SAMPLE_RATE}:cl=stereo,${length}${more}[${label}]`;
  return `[${index}:a:0]aresample=${SAMPLE_RATE}:async=1:first_pts=0,aformat=sample_fmts=fltp:channel_layouts=stereo,apad,${length}${more}[${label}]`;
};
