import sharp from "sharp";
import { AAC, ffmpeg, described, even, H264, makeMp4, open, decimalText } from "../ffmpeg/make";
import { asShown, COLOURS, fitted, frameOf, framesAt } from "../ffmpeg/filters";
import { openVideo, type Source } from "../ffmpeg/probe";
import { lastPicture, pictureAt } from "./still";
import { fileAt, inFolder, InputError, isOn, number, numberOf, text, type Job, type Operation } from "../job";

const AUDIO = ["-map", "0:a:0?", ...AAC];

/** Returns the range defined by `start`, `end` and `seconds`. @throws InputError */
export const rangeOf = (job: Job, { port, seconds: whole }: Pick<Source, "port" | "seconds">): { start: number; seconds: number } => {
  const start = number(job, "start");
  if (start >= whole) throw new InputError(`start: ${port} ends at ${decimalText(whole)} s`);
  const [end, length] = [numberOf(job, "end"), numberOf(job, "seconds")];
  const until = length === undefined ? (end ?? whole) : start + length;
  if (until <= start) throw new InputError(`end: must be after start`);
  return { start, seconds: Math.min(whole, until) - start };
};

export const trim: Operation = async (job) => {
  const source = await openVideo(job, fileAt(job, "video"));
  const { start, seconds } = rangeOf(job, source);
  return makeMp4(job, [
    ...open(source, "-ss", decimalText(start), "-t", decimalText(seconds)),
    ...["-map", "0:V:0", "-vf", fitted(source.video, frameOf(source.video)), ...H264],
    ...["-af", "aresample=async=1:first_pts=0", ...AUDIO, "-t", decimalText(seconds)],
  ]);
};

export const frame: Operation = async (job) => {
  const source = await openVideo(job, fileAt(job, "video"));
  const at = number(job, "at");
  const isLast = isOn(job, "last");
  if (!isLast && at >= source.seconds) throw new InputError(`at: the video ends at ${decimalText(source.seconds)} s`);
  const path = isLast ? await lastPicture(job, source, "out.png") : await pictureAt(job, source, at, "out.png");
  const { width, height } = await sharp(path).metadata();
  return { path, width, height };
};

/** Returns a chain of tempo filters, because each filter supports only 0.5 to 100. */
const tempo = (speed: number): string => {
  const steps: number[] = [];
  let rest = speed;
  for (; rest < 0.5; rest /= 0.5) steps.push(0.5);
  return [...steps, rest].map((one) => `atempo=${decimalText(one)}`).join(",");
};

export const speed: Operation = async (job) => {
  const source = await openVideo(job, fileAt(job, "video"));
  const times = number(job, "speed");
  const picture = `[0:V:0]setpts=PTS/${decimalText(times)},${fitted(source.video, frameOf(source.video))}[v]`;
  // The gap before late audio is filled with silence first, so that the gap is also stretched.
  const filters = source.audio ? [picture, `[0:a:0]aresample=async=1:first_pts=0,${tempo(times)}[a]`] : [picture];
  const maps = source.audio ? ["-map", "[v]", "-map", "[a]", ...AAC] : ["-map", "[v]"];
  return makeMp4(job, [...open(source), "-filter_complex", filters.join(";"), ...maps, ...H264]);
};

export const resize: Operation = async (job) => {
  const source = await openVideo(job, fileAt(job, "video"));
  const own = frameOf(source.video);
  const [width, height] = [numberOf(job, "width"), numberOf(job, "height")];
  const fps = numberOf(job, "fps") ?? own.fps;
  const [w, h] = [
    even(width ?? (height === undefined ? own.width : (own.width * height) / own.height)),
    even(height ?? (width === undefined ? own.height : (own.height * width) / own.width)),
  ];
  const whole = `scale=${w}:${h}:force_original_aspect_ratio=decrease:force_divisible_by=2`;
  const scaled =
    width === undefined || height === undefined
      ? `scale=${w}:${h}`
      : {
          inside: whole,
          contain: `${whole},pad=${w}:${h}:-1:-1:color=black`,
          cover: `scale=${w}:${h}:force_original_aspect_ratio=increase,crop=${w}:${h}`,
        }[text(job, "fit")];
  return makeMp4(job, [
    ...open(source),
    ...["-map", "0:V:0", "-vf", `${asShown(source.video)}${scaled},setsar=1,${framesAt(fps)},${COLOURS}`, ...H264],
    ...AUDIO,
  ]);
};

export const gif: Operation = async (job) => {
  const source = await openVideo(job, fileAt(job, "video"));
  const { start, seconds } = rangeOf(job, source);
  const width = Math.min(number(job, "width"), source.video.width);
  const filter = `[0:V:0]${asShown(source.video)}${framesAt(number(job, "fps"))},scale=${width}:-1:flags=lanczos,setsar=1,split[one][two];[one]palettegen=stats_mode=full[palette];[two][palette]paletteuse=dither=bayer:bayer_scale=4`;
  const path = inFolder(job, "out.gif");
  await ffmpeg(job, [
    ...open(source, "-ss", decimalText(start), "-t", decimalText(seconds)),
    ...["-filter_complex", filter, "-fflags", "+bitexact", "-flags:v", "+bitexact", "-map_metadata", "-1", "-loop", "0", "-f", "gif", path],
  ]);
  const { width: across, height } = await described(job, path, "gif");
  return { path, ...(across === undefined ? {} : { width: across }), ...(height === undefined ? {} : { height }) };
};
