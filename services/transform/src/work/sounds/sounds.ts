import type { WorkResult } from "../../children/protocol";
import { described, makeFile, open, SAMPLE_RATE, decimalText } from "../ffmpeg/make";
import { ffmpeg } from "../ffmpeg/make";
import { openAudio, type Source } from "../ffmpeg/probe";
import { fileAt, filesAt, InputError, isOn, number, numberOf, text, type Job, type Operation } from "../job";
import { rangeOf } from "../videos/edit";
import { DUCKED, MIXED } from "../videos/mux";

const BITRATE = 192;
/**
 * Difference between Vorbis qualities, in kilobits per second of stereo. The encoder rejects bit rates that mono or a low sample rate can't
 * reach.
 */
const VORBIS_STEP = 32;
const STEREO = `aresample=${SAMPLE_RATE}:async=1:first_pts=0,aformat=sample_fmts=fltp:channel_layouts=stereo`;

interface Format {
  extension: string;
  demuxer: string;
  /** Returns arguments for codec and container. @param bitrate in kilobits per second */
  args: (bitrate: number) => string[];
}
const FORMATS: Readonly<Record<string, Format>> = {
  mp3: { extension: "mp3", demuxer: "mp3", args: (bitrate) => ["-c:a", "libmp3lame", "-b:a", `${bitrate}k`, "-f", "mp3"] },
  m4a: {
    extension: "m4a",
    demuxer: "mov",
    args: (bitrate) => ["-c:a", "aac", "-b:a", `${bitrate}k`, "-movflags", "+faststart", "-f", "ipod"],
  },
  wav: { extension: "wav", demuxer: "wav", args: () => ["-c:a", "pcm_s16le", "-f", "wav"] },
  flac: { extension: "flac", demuxer: "flac", args: () => ["-c:a", "flac", "-f", "flac"] },
  ogg: {
    extension: "ogg",
    demuxer: "ogg",
    args: (bitrate) => ["-c:a", "libvorbis", "-q:a", (bitrate / VORBIS_STEP).toFixed(2), "-f", "ogg"],
  },
};

/** Encodes audio from inputs and filters. */
const makeSound = async (job: Job, args: readonly string[], bitrate = BITRATE): Promise<WorkResult> => {
  const format = FORMATS[text(job, "format")] ?? FORMATS.mp3!;
  const path = await makeFile(job, `out.${format.extension}`, [...args, "-vn", ...format.args(bitrate)]);
  const { durationSeconds } = await described(job, path, format.demuxer);
  return { path, ...(durationSeconds === undefined ? {} : { durationSeconds }) };
};

const filtered = (filter: string, label = "a"): string[] => ["-filter_complex", filter, "-map", `[${label}]`];
const ending = (fade: number, seconds: number): string =>
  fade > 0 ? `,afade=t=out:st=${decimalText(Math.max(0, seconds - fade))}:d=${decimalText(Math.min(fade, seconds))}` : "";

const openAll = async (job: Job): Promise<Source[]> => {
  const sources: Source[] = [];
  for (const [index, file] of filesAt(job, "audios").entries()) sources.push(await openAudio(job, { ...file, port: `audios.${index}` }));
  return sources;
};

export const concat: Operation = async (job) => {
  const sources = await openAll(job);
  const [gap, fade] = [number(job, "gapSeconds"), number(job, "crossfadeSeconds")];
  if (gap > 0 && fade > 0) throw new InputError("crossfadeSeconds: sounds can't fade into each other with a gap between them");
  const shortest = Math.min(...sources.map(({ seconds }) => seconds));
  if (2 * fade > shortest && sources.length > 1)
    throw new InputError(`crossfadeSeconds: is longer than half of the shortest sound (${decimalText(shortest)} s)`);
  const isLast = (index: number): boolean => index === sources.length - 1;
  const parts = sources.map(
    (_, index) => `[${index}:a:0]${STEREO}${gap > 0 && !isLast(index) ? `,apad=pad_dur=${decimalText(gap)}` : ""}[p${index}]`,
  );
  let last = "p0";
  if (fade > 0)
    for (let index = 1; index < sources.length; index += 1) {
      parts.push(`[${last}][p${index}]acrossfade=d=${decimalText(fade)}:c1=tri:c2=tri[x${index}]`);
      last = `x${index}`;
    }
  else {
    parts.push(`${sources.map((_, index) => `[p${index}]`).join("")}concat=n=${sources.length}:v=0:a=1[joined]`);
    last = "joined";
  }
  return makeSound(job, [...sources.flatMap((source) => open(source)), ...filtered(parts.join(";"), last)]);
};

export const mix: Operation = async (job) => {
  const sources = await openAll(job);
  const lengths = sources.map(({ seconds }) => seconds);
  const seconds = { longest: Math.max(...lengths), first: lengths[0]!, shortest: Math.min(...lengths) }[text(job, "length")]!;
  const volumes = Array.isArray(job.settings.volumes) ? (job.settings.volumes as number[]) : [];
  const isLooped = isOn(job, "loop");
  const parts = sources.map(
    (_, index) =>
      `[${index}:a:0]${STEREO},apad,atrim=duration=${decimalText(seconds)},asetpts=PTS-STARTPTS,volume=${decimalText(volumes[index] ?? 1)}[p${index}]`,
  );
  const others = sources.slice(1).map((_, index) => `[p${index + 1}]`);
  if (isOn(job, "duck")) {
    const under = others.length > 1 ? `${others.join("")}${MIXED(others.length)}` : `${others[0]}anull`;
    parts.push("[p0]asplit[speech][key]", `${under}[under]`, `[under][key]${DUCKED}[lowered]`, `[speech][lowered]${MIXED(2)}[mixed]`);
  } else parts.push(`[p0]${others.join("")}${MIXED(sources.length)}[mixed]`);
  parts.push(`[mixed]atrim=duration=${decimalText(seconds)}${ending(number(job, "fadeSeconds"), seconds)}[a]`);
  const again = (source: Source): string[] => (isLooped && source.seconds < seconds ? ["-stream_loop", "-1"] : []);
  return makeSound(job, [...sources.flatMap((source) => open(source, ...again(source))), ...filtered(parts.join(";"))]);
};

export const trim: Operation = async (job) => {
  const source = await openAudio(job, fileAt(job, "audio"));
  const { start, seconds } = rangeOf(job, source);
  const cut = `[0:a:0]atrim=start=${decimalText(start)}:duration=${decimalText(seconds)},asetpts=PTS-STARTPTS${ending(number(job, "fadeSeconds"), seconds)}[a]`;
  return makeSound(job, [...open(source), ...filtered(cut)]);
};

const MEASURED = /\{\s*"input_i"[^{}]*\}/;
/** Loudness below which audio counts as silence. */
const SILENCE_LUFS = -69;
const RANGE = 11;

/** Runs a filter chain that ends with `loudnorm`. @returns what that filter measured at its input @throws InputError, also for silence */
const measurementBy = async (job: Job, source: Source, filters: string): Promise<Record<string, string>> => {
  const filter = `[0:a:0]${filters}:print_format=json[a]`;
  const { log } = await ffmpeg(job, [...open(source), "-filter_complex", filter, "-map", "[a]", "-f", "null", "-"]);
  const measurement = MEASURED.exec(log)?.[0];
  if (measurement === undefined) throw new InputError(`${source.port}: its loudness can't be measured`);
  const values = JSON.parse(measurement) as Record<string, string>;
  if (!(Number(values.input_i) > SILENCE_LUFS)) throw new InputError(`${source.port}: it is silent, so it has no loudness`);
  return values;
};

/** Integrated loudness in LUFS (EBU R 128). @throws InputError, also for silence */
export const measuredLoudness = async (job: Job, source: Source): Promise<number> =>
  Number((await measurementBy(job, source, `aresample=${SAMPLE_RATE},loudnorm=I=-16`)).input_i);

export const loudness: Operation = async (job) => {
  const source = await openAudio(job, fileAt(job, "audio"));
  const aim = `loudnorm=I=${decimalText(number(job, "loudness"))}:TP=${decimalText(number(job, "peak"))}:LRA=${RANGE}`;
  const {
    input_i: i,
    input_tp: tp,
    input_lra: lra,
    input_thresh: threshold,
    target_offset: offset,
  } = await measurementBy(job, source, `${STEREO},${aim}`);
  const second = `${aim}:measured_I=${i}:measured_TP=${tp}:measured_LRA=${lra}:measured_thresh=${threshold}:offset=${offset}:linear=true`;
  return makeSound(job, [
    ...open(source),
    ...filtered(`[0:a:0]${STEREO},${second},aresample=${SAMPLE_RATE},aformat=sample_fmts=fltp:channel_layouts=stereo[a]`),
  ]);
};

export const convert: Operation = async (job) => {
  const source = await openAudio(job, fileAt(job, "audio"));
  const [rate, channels] = [numberOf(job, "sampleRate"), numberOf(job, "channels")];
  return makeSound(
    job,
    [
      ...open(source),
      ...["-map", "0:a:0"],
      ...(rate === undefined ? [] : ["-ar", String(rate)]),
      ...(channels === undefined ? [] : ["-ac", String(channels)]),
    ],
    number(job, "bitrate"),
  );
};
