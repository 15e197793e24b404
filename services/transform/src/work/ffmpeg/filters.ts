import type { Source, VideoStream } from "./probe";
import { even, SAMPLE_RATE, decimalText } from "./make";

/** Parts of filter graphs. A label in brackets names a stream. */

export interface Frame {
  width: number;
  height: number;
  fps: number;
}

/** The frame size and rate of a video. Other videos are converted to them. */
export const frameOf = ({ width, height, fps }: VideoStream): Frame => ({ width: even(width), height: even(height), fps });

/** Converts a duration to whole frames. */
export const wholeFrames = (seconds: number, { fps }: Pick<Frame, "fps">): number => Math.max(1, Math.round(seconds * fps));

/** Gives every result the same color properties, because decoders must not see a change between consecutive clips. */
export const COLOURS =
  "scale=out_range=tv:out_color_matrix=bt709,setparams=range=tv:colorspace=bt709:color_primaries=bt709:color_trc=bt709,format=yuv420p";

/** Compresses HDR highlights. Diffuse white (203 cd/m², ITU-R BT.2408) stays white. */
const TONE_MAPPED =
  "zscale=transfer=linear:npl=203,format=gbrpf32le,zscale=primaries=bt709,tonemap=mobius:desat=0,zscale=transfer=bt709:matrix=bt709:range=tv,format=yuv420p";

/** Filters for the displayed picture, with square pixels and SDR brightness. They start a filter chain and can be empty. */
export const asShown = ({ width, height, hasSquarePixels, hdr }: VideoStream): string => {
  const toned = hdr ? `setparams=color_primaries=${hdr.primaries}:color_trc=${hdr.transfer}:colorspace=${hdr.matrix},${TONE_MAPPED},` : "";
  return hasSquarePixels ? toned : `${toned}scale=${width}:${height}:flags=bicubic,setsar=1,`;
};

/** Filter for a frame rate. A video that is shorter than one frame at this rate keeps its picture. */
export const framesAt = (fps: number): string => `fps=${decimalText(fps)}:eof_action=pass`;

/** Scales into a frame. If the aspect ratio differs, bars are added. */
export const fitted = (video: VideoStream, { width, height, fps }: Frame): string =>
  `${asShown(video)}scale=${width}:${height}:force_original_aspect_ratio=decrease:flags=bicubic,pad=${width}:${height}:-1:-1:color=black,setsar=1,${framesAt(fps)},${COLOURS}`;

/** Filters for an exact number of frames. If there are too few, the last one is repeated. */
export const lasting = (frames: number, { fps }: Pick<Frame, "fps">): string =>
  `tpad=stop_mode=clone:stop=${frames},trim=end_frame=${frames},setpts=N/(${decimalText(fps)}*TB)`;

/** Audio of an exact duration in the common format; silence if the source has no audio. */
export const sound = (index: number, source: Pick<Source, "audio">, seconds: number, label: string, more = ""): string => {
  const length = `atrim=duration=${decimalText(seconds)},asetpts=PTS-STARTPTS`;
  if (!source.audio) return `anullsrc=r=${SAMPLE_RATE}:cl=stereo,${length}${more}[${label}]`;
  return `[${index}:a:0]aresample=${SAMPLE_RATE}:async=1:first_pts=0,aformat=sample_fmts=fltp:channel_layouts=stereo,apad,${length}${more}[${label}]`;
};
