import { BOUNDS } from "../../bounds";
import { MOST_SECONDS } from "@nodeloom/kernel";
import type { WorkFile } from "../../children/protocol";
import { InputError, type Job } from "../job";
import { demuxerOf, inputArguments } from "./formats";
import { checkWhole } from "./whole";
import { describedByFfmpeg, problemIn, runFfmpeg } from "./run";

/** Reads a file's streams from ffmpeg's log, because the downloaded copy has no ffprobe. */

export interface VideoStream {
  codec: string;
  pixelFormat: string;
  /** Displayed width, after rotation and with square pixels. */
  width: number;
  height: number;
  fps: number;
  hasSquarePixels: boolean;
  /** True if no rotation is needed. */
  isUpright: boolean;
  /** Color properties of HDR video (PQ and HLG). */
  hdr?: Hdr;
}
export interface Hdr {
  transfer: string;
  primaries: string;
  matrix: string;
}
export interface AudioStream {
  codec: string;
  sampleRate: number;
  channels: string;
}
export interface ProbeResult {
  seconds: number;
  video?: VideoStream;
  audio?: AudioStream;
}
export interface Source extends ProbeResult {
  port: string;
  path: string;
  demuxer: string;
}

const MAX_FPS = 120;
const DEFAULT_FPS = 25;
const QUARTER = 90;

const DURATION = /^ *Duration: (\d+):(\d\d):(\d\d(?:\.\d+)?)/m;
const STREAM = /^ *Stream #0:\d+(?:\D.*?)??: (Video|Audio): (.*)$/;
const SIZE = /, (\d{1,5})x(\d{1,5})(?:[ ,]|$)/;
const PIXEL_ASPECT = /SAR (\d+):(\d+)/;
/** Matches matrix, primaries and transfer. */
const HDR = /(?:([\w-]{1,30})\/([\w-]{1,30})\/)?(smpte2084|arib-std-b67)\b/;
const ESTIMATED = /Estimating duration from bitrate/;
const FPS = /, ([\d.]+k?) fps/;
const TBR = /, ([\d.]+k?) tbr/;
const ROTATION = /display ?matrix: rotation of (-?[\d.]+) degrees/i;
const SAMPLE_RATE = /, (\d+) Hz, ([^,]+)/;

const rateOf = (rateText: string | undefined): number =>
  rateText === undefined ? 0 : parseFloat(rateText) * (rateText.endsWith("k") ? 1_000 : 1);

/** Reads the color properties. HDR without stated primaries uses BT.2020. */
const hdrOf = (described: string): Hdr | undefined => {
  const [, matrix = "unknown", primaries = "unknown", transfer] = HDR.exec(described) ?? [];
  if (transfer === undefined) return undefined;
  return {
    transfer,
    primaries: primaries === "unknown" ? "bt2020" : primaries,
    matrix: matrix === "unknown" || matrix === "gbr" ? "bt2020nc" : matrix,
  };
};

const videoOf = (described: string, rotation: number): VideoStream => {
  const [codec = ""] = described.split(/[ ,]/);
  const pixelFormat = /^[^,(]*(?:\([^)]*\)\s*)*, ([a-z0-9]+)/.exec(described)?.[1] ?? "";
  const [, across = "0", down = "0"] = SIZE.exec(described) ?? [];
  const [, wide = "1", high = "1"] = PIXEL_ASPECT.exec(described) ?? [];
  const aspect = Number(wide) > 0 && Number(high) > 0 ? Number(wide) / Number(high) : 1;
  const [stored, height] = [Math.round(Number(across) * aspect), Number(down)];
  const isTurned = Math.abs(Math.round(rotation / QUARTER)) % 2 === 1;
  const rate = rateOf(FPS.exec(described)?.[1]) || rateOf(TBR.exec(described)?.[1]);
  const hdr = hdrOf(described);
  return {
    codec,
    pixelFormat,
    ...(isTurned ? { width: height, height: stored } : { width: stored, height }),
    fps: rate > 0 && rate <= MAX_FPS ? rate : DEFAULT_FPS,
    hasSquarePixels: aspect === 1,
    isUpright: rotation === 0 && aspect === 1,
    ...(hdr ? { hdr } : {}),
  };
};

/** Parses ffmpeg's description of its first input. */
export const readDescription = (log: string): ProbeResult => {
  const [, hours = "0", minutes = "0", seconds = "0"] = DURATION.exec(log) ?? [];
  const probed: ProbeResult = { seconds: Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds) };
  const lines = log.split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    const [, kind, described = ""] = STREAM.exec(line) ?? [];
    // A cover image isn't a video stream.
    if (kind === "Video" && !probed.video && !described.includes("(attached pic)")) {
      const next = lines.slice(index + 1).findIndex((one) => STREAM.test(one));
      const own = lines.slice(index, next < 0 ? undefined : index + 1 + next).join("\n");
      probed.video = videoOf(described, Number(ROTATION.exec(own)?.[1] ?? 0));
    }
    if (kind === "Audio" && !probed.audio) {
      const [, sampleRate = "0", channels = ""] = SAMPLE_RATE.exec(described) ?? [];
      probed.audio = { codec: described.split(/[ ,]/)[0] ?? "", sampleRate: Number(sampleRate), channels: channels.trim() };
    }
  }
  return probed;
};

const LAST_TIME = /time=(\d+):(\d\d):(\d\d(?:\.\d+)?)/g;

/** Duration of a file or of some of its streams, measured by reading them. Used for containers that don't store it. */
export const countedSeconds = async (job: Job, args: readonly string[], streams = "0"): Promise<number> => {
  const { log } = await runFfmpeg({ program: job.ffmpeg, folder: job.folder }, [
    ...args,
    "-map",
    streams,
    "-c",
    "copy",
    "-stats",
    "-f",
    "null",
    "-",
  ]);
  const [, hours = "0", minutes = "0", seconds = "0"] = [...log.matchAll(LAST_TIME)].at(-1) ?? [];
  return Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
};

/** Opens an input file. @throws InputError if it can't be read or is too large or too long */
export const openSource = async (job: Job, file: WorkFile): Promise<Source> => {
  const demuxer = demuxerOf(file);
  await checkWhole(file, demuxer);
  const args = inputArguments(file.path, demuxer);
  const log = await describedByFfmpeg({ program: job.ffmpeg, folder: job.folder }, args);
  const probed = readDescription(log);
  const { port } = file;
  const { video, audio } = probed;
  if (!video && !audio) throw new InputError(`${port}: the file can't be read: ${problemIn(log)}`);
  if (video && (video.width < 1 || video.height < 1)) throw new InputError(`${port}: the size of its pictures is not known`);
  if (video && video.width * video.height > BOUNDS.videoPixels)
    throw new InputError(`${port}: its pictures of ${video.width} × ${video.height} are larger than ${BOUNDS.videoPixels} pixels`);
  const isKnown = probed.seconds > 0 && !ESTIMATED.test(log);
  const seconds = isKnown ? probed.seconds : await countedSeconds(job, args);
  if (seconds > MOST_SECONDS) throw new InputError(`${port}: it lasts ${Math.round(seconds)} s, and may last ${MOST_SECONDS} s`);
  if (seconds <= 0) throw new InputError(`${port}: there is nothing in it`);
  return { port, path: file.path, demuxer, ...probed, seconds };
};

/** @throws InputError if the file has no video stream */
export const openVideo = async (job: Job, file: WorkFile): Promise<Source & { video: VideoStream }> => {
  const source = await openSource(job, file);
  if (!source.video) throw new InputError(`${file.port}: it has no video`);
  return source as Source & { video: VideoStream };
};

/** @throws InputError if the file has no audio stream */
export const openAudio = async (job: Job, file: WorkFile): Promise<Source & { audio: AudioStream }> => {
  const source = await openSource(job, file);
  if (!source.audio) throw new InputError(`${file.port}: it has no sound`);
  return source as Source & { audio: AudioStream };
};
