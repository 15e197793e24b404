import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { AAC, H264, makeMp4, open } from "../ffmpeg/make";
import { fitted, frameOf } from "../ffmpeg/filters";
import { inputArguments } from "../ffmpeg/formats";
import { openVideo } from "../ffmpeg/probe";
import { FONT_FILES, FONT_NAME } from "../images/text";
import { fileAt, inFolder, InputError, number, text, type Job, type Operation } from "../job";
import { asAss, asSrt, cuesOfText, cuesOfWords, readWords, type Cue } from "./cues";

/** Captions on a video's pictures, or as a track. */

const FONTS = "fonts";
const CAPTIONS = "captions.ass";

const cuesOf = (job: Job, seconds: number): Cue[] => {
  const characters = number(job, "maxCharacters");
  const { words } = job.settings;
  const isGiven = words !== undefined && words !== null && !(Array.isArray(words) && words.length === 0);
  const cues = isGiven ? cuesOfWords(readWords(words), characters) : cuesOfText(text(job, "text"), seconds, characters);
  const within = cues.filter(({ start }) => start < seconds).map((cue) => ({ ...cue, end: Math.min(cue.end, seconds) }));
  if (within.length === 0) throw new InputError("words: there is nothing to show within the video");
  return within;
};

export const captions: Operation = async (job) => {
  const source = await openVideo(job, fileAt(job, "video"));
  const cues = cuesOf(job, source.seconds);
  const frame = frameOf(source.video);
  const isAac = source.audio?.codec === "aac" && source.demuxer === "mov";
  const sound = ["-map", "0:a:0?", ...(isAac ? ["-c:a", "copy"] : AAC)];
  if (text(job, "mode") === "track") {
    const path = inFolder(job, "captions.srt");
    await writeFile(path, asSrt(cues));
    const isCopy = source.video.codec === "h264" && source.demuxer === "mov";
    const picture = isCopy ? ["-map", "0:V:0", "-c:v", "copy"] : ["-map", "0:V:0", "-vf", fitted(frame), ...H264];
    const track = ["-map", "1:s:0", "-c:s", "mov_text", "-metadata:s:s:0", "language=und", "-disposition:s:0", "default"];
    return makeMp4(job, [...open(source), ...inputArguments(path, "srt"), ...picture, ...sound, ...track]);
  }
  const style = {
    ...frame,
    font: FONT_NAME,
    size: number(job, "size") * frame.height,
    colour: text(job, "colour"),
    position: text(job, "position"),
  };
  await writeFile(inFolder(job, CAPTIONS), asAss(cues, style));
  await mkdir(inFolder(job, FONTS), { recursive: true });
  await copyFile(FONT_FILES.bold, inFolder(job, `${FONTS}/bold.ttf`));
  // ffmpeg runs in the folder of the operation: no path has to be written into a filter.
  const filter = `${fitted(frame)},ass=${CAPTIONS}:fontsdir=${FONTS}`;
  return makeMp4(job, [...open(source), "-map", "0:V:0", "-vf", filter, ...H264, ...sound]);
};
