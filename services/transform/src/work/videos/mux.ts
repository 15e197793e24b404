import { AAC, H264, makeMp4, open, decimalText } from "../ffmpeg/make";
import { fitted, frameOf, lasting, sound, wholeFrames } from "../ffmpeg/filters";
import { openAudio, openVideo } from "../ffmpeg/probe";
import { fileAt, InputError, isOn, number, text, type Operation } from "../job";

/** Lowers the volume of the first stream while the second is loud, with a fast attack and a slow release. */
export const DUCKED = "sidechaincompress=threshold=0.02:ratio=12:attack=15:release=400:makeup=1";
/** Mixes streams at their own loudness. Only peaks that would clip are lowered. */
export const MIXED = (count: number): string => `amix=inputs=${count}:duration=longest:normalize=0,alimiter=limit=0.97:level=0`;

/** Adds audio to a video. */
export const mux: Operation = async (job) => {
  const video = await openVideo(job, fileAt(job, "video"));
  const audio = await openAudio(job, fileAt(job, "audio"));
  const frame = frameOf(video.video);
  const both = [video.seconds, audio.seconds];
  const lengths = { video: video.seconds, audio: audio.seconds, shortest: Math.min(...both), longest: Math.max(...both) };
  const wantedSeconds = lengths[text(job, "length") as keyof typeof lengths];
  const frames = wholeFrames(wantedSeconds, frame);
  const seconds = frames / frame.fps;
  const isLooped = isOn(job, "loop");
  const keepsPictures = frames <= wholeFrames(video.seconds, frame);
  // The video stream isn't encoded again if it is unchanged.
  const isCopy = keepsPictures && frames === wholeFrames(video.seconds, frame) && video.video.codec === "h264" && video.demuxer === "mov";
  const again = (isShorter: boolean): string[] => (isLooped && isShorter ? ["-stream_loop", "-1"] : []);
  const fade = Math.min(number(job, "fadeSeconds"), seconds);
  const ending = fade > 0 ? `,afade=t=out:st=${decimalText(seconds - fade)}:d=${decimalText(fade)}` : "";
  const filters = [sound(1, audio, seconds, "added", `,volume=${decimalText(number(job, "volume"))}${ending}`)];
  if (!isCopy) filters.push(`[0:V:0]${fitted(video.video, frame)},${lasting(frames, frame)}[v]`);
  const original = text(job, "original");
  if (original === "duck" && !video.audio) throw new InputError("original: the video has no sound, so `duck` has no effect on it");
  const hasOwn = original !== "drop" && video.audio !== undefined;
  if (hasOwn) filters.push(sound(0, video, seconds, "own"));
  if (hasOwn && original === "duck")
    filters.push(`[own]asplit[speech][key]`, `[added][key]${DUCKED}[lowered]`, `[speech][lowered]${MIXED(2)}[a]`);
  else if (hasOwn) filters.push(`[own][added]${MIXED(2)}[a]`);
  const audioLabel = hasOwn ? "[a]" : "[added]";
  return makeMp4(job, [
    ...open(video, ...again(video.seconds < seconds)),
    ...open(audio, ...again(audio.seconds < seconds)),
    ...["-filter_complex", filters.join(";"), "-map", isCopy ? "0:V:0" : "[v]", "-map", audioLabel],
    ...(isCopy ? ["-c:v", "copy"] : H264),
    ...AAC,
    ...["-t", decimalText(seconds)],
  ]);
};
