import { writeFile } from "node:fs/promises";
import { AAC, copyPictures, H264, makeClip, makeMp4, open, decimalText } from "../ffmpeg/make";
import { fitted, frameOf, lasting, sound, wholeFrames, type Frame } from "../ffmpeg/filters";
import { inputArguments } from "../ffmpeg/formats";
import { openVideo, type Source, type VideoStream } from "../ffmpeg/probe";
import { filesAt, inFolder, InputError, number, text, type Job, type Operation } from "../job";

/** Joins videos. The first one sets the frame size. */

type Clip = Source & { video: VideoStream };

const PARAMETER_BYTES = 64 * 1_024;
/** Demuxers that a list of clips can open. */
const CLIP_FORMATS = "concat,mov,mp4,m4a,3gp,3g2,mj2";

/** Extracts a clip's video and its decoder parameters. The audio is omitted, because its start would shift the frames. */
const pictures = async (job: Job, clip: Clip, name: string): Promise<{ path: string; parameters: string }> => {
  const args = [
    "-map",
    "0:V:0",
    "-c",
    "copy",
    "-bsf:v",
    "h264_mp4toannexb,filter_units=pass_types=7-8",
    "-frames:v",
    "1",
    "-f",
    "h264",
    "pipe:1",
  ];
  const { path, output } = await copyPictures(job, name, open(clip), args, PARAMETER_BYTES);
  return { path, parameters: output.toString("hex") };
};

const looksAlike = (one: VideoStream, other: VideoStream): boolean =>
  one.codec === other.codec &&
  one.pixelFormat === other.pixelFormat &&
  one.width === other.width &&
  one.height === other.height &&
  one.fps === other.fps &&
  one.hdr?.transfer === other.hdr?.transfer;

/** Copies the video streams of all clips. Returns undefined if they can't be joined without encoding. */
const copied = async (job: Job, clips: readonly Clip[]): Promise<string[] | undefined> => {
  const [first] = clips;
  if (!first || first.video.codec !== "h264") return undefined;
  if (!clips.every(({ video, demuxer }) => demuxer === "mov" && video.isUpright && looksAlike(video, first.video))) return undefined;
  const paths: string[] = [];
  let lastParameters = "";
  for (const [index, clip] of clips.entries()) {
    const { path, parameters } = await pictures(job, clip, `clip-${index}.mp4`);
    if (parameters === "" || (lastParameters !== "" && parameters !== lastParameters)) return undefined;
    lastParameters = parameters;
    paths.push(path);
  }
  return paths;
};

/** Joins copied video streams. Audio is encoded again and cut to the exact length of each clip's video. */
const joined = async (job: Job, clips: readonly Clip[], paths: readonly string[], lengths: readonly number[]) => {
  const list = paths.map((path, index) => `file 'file:${path}'\nduration ${decimalText(lengths[index]!)}\n`).join("");
  const listPath = inFolder(job, "clips.txt");
  await writeFile(listPath, `ffconcat version 1.0\n${list}`);
  const sounds = clips.map((clip, index) => sound(index + 1, clip, lengths[index]!, `a${index}`));
  const filter = [...sounds, `${clips.map((_, index) => `[a${index}]`).join("")}concat=n=${clips.length}:v=0:a=1[a]`].join(";");
  return makeMp4(job, [
    ...["-format_whitelist", CLIP_FORMATS, "-safe", "0"],
    ...inputArguments(listPath, "concat"),
    ...clips.flatMap((clip) => open(clip)),
    ...["-filter_complex", filter, "-map", "0:v:0", "-map", "[a]", "-c:v", "copy", ...AAC],
  ]);
};

const cut = async (job: Job, clips: readonly Clip[], frame: Frame) => {
  const frames = clips.map(({ seconds }) => wholeFrames(seconds, frame));
  const lengths = frames.map((count) => count / frame.fps);
  const asTheyAre = await copied(job, clips);
  if (asTheyAre) return joined(job, clips, asTheyAre, lengths);
  const paths: string[] = [];
  for (const [index, clip] of clips.entries()) {
    const filter = `[0:V:0]${fitted(clip.video, frame)},${lasting(frames[index]!, frame)}[v]`;
    paths.push(await makeClip(job, `clip-${index}.mp4`, [...open(clip), "-filter_complex", filter, "-map", "[v]"]));
  }
  return joined(job, clips, paths, lengths);
};

/** Joins clips with crossfades, so that they overlap for the duration of a fade. */
const faded = async (job: Job, clips: readonly Clip[], frame: Frame) => {
  const fade = wholeFrames(number(job, "fadeSeconds"), frame) / frame.fps;
  const frames = clips.map(({ seconds }) => wholeFrames(seconds, frame));
  const shortest = Math.min(...frames) / frame.fps;
  if (2 * fade > shortest)
    throw new InputError(`a fade of ${decimalText(fade)} s is longer than half of the shortest video (${decimalText(shortest)} s)`);
  const filters = clips.flatMap((clip, index) => [
    `[${index}:V:0]${fitted(clip.video, frame)},${lasting(frames[index]!, frame)}[v${index}]`,
    sound(index, clip, frames[index]! / frame.fps, `a${index}`),
  ]);
  let [video, audio, at] = ["v0", "a0", 0];
  for (let index = 1; index < clips.length; index += 1) {
    at += frames[index - 1]! / frame.fps - fade;
    filters.push(
      `[${video}][v${index}]xfade=transition=fade:duration=${decimalText(fade)}:offset=${decimalText(at)}[x${index}]`,
      `[${audio}][a${index}]acrossfade=d=${decimalText(fade)}:c1=tri:c2=tri[y${index}]`,
    );
    [video, audio] = [`x${index}`, `y${index}`];
  }
  return makeMp4(job, [
    ...clips.flatMap((clip) => open(clip)),
    ...["-filter_complex", filters.join(";"), "-map", `[${video}]`, "-map", `[${audio}]`, ...H264, ...AAC],
  ]);
};

export const concat: Operation = async (job) => {
  const clips: Clip[] = [];
  for (const [index, file] of filesAt(job, "videos").entries()) clips.push(await openVideo(job, { ...file, port: `videos.${index}` }));
  const [first] = clips;
  if (!first) throw new InputError("videos: is needed");
  const frame = frameOf(first.video);
  return text(job, "transition") === "fade" && clips.length > 1 ? faded(job, clips, frame) : cut(job, clips, frame);
};
