import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { cuesOfEntries, cuesOfText, cuesOfWords, readWords, type Cue, type TimedText } from "@nodeloom/kernel/captions";
import { AAC, H264, makeMp4, open } from "../ffmpeg/make";
import { fitted, frameOf, type Frame } from "../ffmpeg/filters";
import { inputArguments } from "../ffmpeg/formats";
import { openVideo } from "../ffmpeg/probe";
import { fontsOf, mainFont, runsOf } from "../fonts/fonts";
import { fileAt, inFolder, InputError, number, text, type Job, type Operation } from "../job";
import { asAss, asSrt } from "./cues";

/** Draws captions into a video or adds them as a track. */

const FONTS = "fonts";
const CAPTIONS = "captions.ass";

interface Captions {
  cues: Cue[];
  /** The input with the captions. `text` is used if there are no words. */
  port: "words" | "text";
}

/** @throws InputError */
const wordsOf = (value: unknown): TimedText[] => {
  const words = readWords(value);
  if (typeof words === "number") throw new InputError(`words.${words}: must be {text, start, end}, with times in seconds`);
  return words;
};

/** Silence has no captions, which isn't an error. @throws InputError if all captions start after the end of the video */
const captionsOf = (job: Job, seconds: number): Captions => {
  const characters = number(job, "maxCharacters");
  const { words } = job.settings;
  const captionText = text(job, "text");
  const isByWords = words !== undefined && words !== null && !(Array.isArray(words) && words.length === 0 && captionText !== "");
  const cuesOf = text(job, "grouping") === "none" ? cuesOfEntries : cuesOfWords;
  const cues = isByWords ? cuesOf(wordsOf(words), characters) : cuesOfText(captionText, seconds, characters);
  const within = cues.filter(({ start }) => start < seconds).map((cue) => ({ ...cue, end: Math.min(cue.end, seconds) }));
  if (within.length === 0 && cues.length > 0) throw new InputError("words: all of them come after the end of the video");
  return { cues: within, port: isByWords ? "words" : "text" };
};

/** Writes captions and their fonts to ffmpeg's folder. @returns the filter that draws the captions */
const drawCues = async (job: Job, { cues, port }: Captions, frame: Frame): Promise<string> => {
  const runs = new Map(cues.map((cue) => [cue.text, runsOf(cue.text, "bold", port)]));
  const font = mainFont("bold");
  const style = {
    ...frame,
    font,
    runsOf: (line: string) => runs.get(line) ?? [],
    size: number(job, "size"),
    colour: text(job, "colour"),
    position: text(job, "position"),
  };
  await writeFile(inFolder(job, CAPTIONS), asAss(cues, style));
  await mkdir(inFolder(job, FONTS), { recursive: true });
  for (const { path } of fontsOf([{ text: "", font }, ...[...runs.values()].flat()]))
    await copyFile(path, inFolder(job, `${FONTS}/${basename(path)}`));
  // Paths need no escaping in filters, because ffmpeg runs in the operation's folder.
  return `ass=${CAPTIONS}:fontsdir=${FONTS}`;
};

export const captions: Operation = async (job) => {
  const source = await openVideo(job, fileAt(job, "video"));
  const jobCaptions = captionsOf(job, source.seconds);
  const { cues } = jobCaptions;
  const frame = frameOf(source.video);
  const isTrack = text(job, "mode") === "track";
  const isMp4 = source.demuxer === "mov";
  const sound = ["-map", "0:a:0?", ...(source.audio?.codec === "aac" && isMp4 ? ["-c:a", "copy"] : AAC)];
  const isCopy = (isTrack || cues.length === 0) && source.video.codec === "h264" && isMp4;
  if (cues.length === 0 || isTrack) {
    const picture = isCopy ? ["-map", "0:V:0", "-c:v", "copy"] : ["-map", "0:V:0", "-vf", fitted(source.video, frame), ...H264];
    if (cues.length === 0) return makeMp4(job, [...open(source), ...picture, ...sound]);
    const path = inFolder(job, "captions.srt");
    await writeFile(path, asSrt(cues));
    const track = ["-map", "1:s:0", "-c:s", "mov_text", "-metadata:s:s:0", "language=und", "-disposition:s:0", "default"];
    return makeMp4(job, [...open(source), ...inputArguments(path, "srt"), ...picture, ...sound, ...track]);
  }
  const filter = `${fitted(source.video, frame)},${await drawCues(job, jobCaptions, frame)}`;
  return makeMp4(job, [...open(source), "-map", "0:V:0", "-vf", filter, ...H264, ...sound]);
};
