import type { Source, VideoStream } from "./probe";
import { even, SAMPLE_RATE, shown } from "./make";

/** Pieces of filter graphs. A label in brackets names what flows. */

export interface Frame {
  width: number;
  height: number;
  fps: number;
}

/** The frame that a video gives the others. */
export const frameOf = ({ width, height, fps }: VideoStream): Frame => ({ width: even(width), height: even(height), fps });

/** A length as whole pictures. */
export const wholeFrames = (seconds: number, { fps }: Pick<Frame, "fps">): number => Math.max(1, Math.round(seconds * fps));

/** The colours of every result: clips that follow one another must not differ in what decoders are told of them. */
export const COLOURS =
  "scale=out_range=tv:out_color_matrix=bt709,setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709,format=yuv420p";

/** Peaks of HDR are rolled off; below them, the white of a page is white (203 cd/m², ITU-R BT.2408). */
const TONE_MAPPED =
  "zscale=transfer=linear:npl=203,format=gbrpf32le,zscale=primaries=bt709,tonemap=mobius:desat=0,zscale=transfer=bt709:matrix=bt709:range=tv,format=yuv420p";

/** Pictures as they are shown, with square pixels and the brightness that every screen has: the beginning of each chain, or empty. */
export const asShown = ({ width, height, hasSquarePixels, hdr }: VideoStream): string => {
  const toned = hdr ? `setparams=color_primaries=${hdr.primaries}:color_trc=${hdr.transfer}:colorspace=${hdr.matrix},${TONE_MAPPED},` : "";
  return hasSquarePixels ? toned : `${toned}scale=${width}:${height}:flags=bicubic,setsar=1,`;
};

/** Fits pictures into a frame, with bars where their aspect is another. */
export const fitted = (video: VideoStream, { width, height, fps }: Frame): string =>
  `${asShown(video)}scale=${width}:${height}:force_original_aspect_ratio=decrease:flags=bicubic,pad=${width}:${height}:-1:-1:color=black,setsar=1,fps=${shown(fps)},${COLOURS}`;

/** Pictures of exactly that length: the last one stays where there are too few. */
export const lasting = (frames: number, { fps }: Pick<Frame, "fps">): string =>
  `tpad=stop_mode=clone:stop=${frames},trim=end_frame=${frames},setpts=N/(${shown(fps)}*TB)`;

/** Sound of exactly that length, in the form that all others have; silence where there is none. */
export const sound = (index: number, source: Pick<Source, "audio">, seconds: number, label: string, more = ""): string => {
  const length = `atrim=duration=${shown(seconds)},asetpts=PTS-STARTPTS`;
  if (!source.audio) return `anullsrc=r=${SAMPLE_RATE}:cl=stereo,${length}${more}[${label}]`;
  return `[${index}:a:0]aresample=${SAMPLE_RATE}:async=1:first_pts=0,aformat=sample_fmts=fltp:channel_layouts=stereo,apad,${length}${more}[${label}]`;
};
