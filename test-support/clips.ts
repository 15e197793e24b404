import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ffmpegPath } from "./ffmpeg";

/** Videos and audio with known content at every time. */

const MOST_BYTES = 256 * 1_024 * 1_024;

/** Runs ffmpeg in a temporary folder with these files. @returns the content of `out` */
export const withFfmpeg = (args: readonly string[], out: string, files: Readonly<Record<string, Buffer>> = {}): Buffer => {
  const folder = mkdtempSync(join(tmpdir(), "nodeloom-clips-"));
  try {
    for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
    execFileSync(ffmpegPath(), ["-v", "error", "-y", ...args, out], { cwd: folder, maxBuffer: MOST_BYTES });
    return readFileSync(join(folder, out));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

export interface ClipOptions {
  seconds: number;
  size?: string;
  fps?: number;
  colour?: string;
  /** Frequency in Hz; without it there is no audio. */
  tone?: number;
  /** Codecs and container. */
  video?: readonly string[];
  audio?: readonly string[];
  extension?: string;
  more?: readonly string[];
}

const H264 = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"];
const AAC = ["-c:a", "aac"];

/** A video with one colour and one tone. */
export const clip = (options: ClipOptions): Buffer => {
  const { seconds, size = "160x90", fps = 25, colour = "red", tone, video = H264, audio = AAC, extension = "mp4", more = [] } = options;
  const pictures = ["-f", "lavfi", "-i", `color=c=${colour}:s=${size}:r=${fps}:d=${seconds}`];
  const sound = tone === undefined ? [] : ["-f", "lavfi", "-i", `sine=frequency=${tone}:duration=${seconds}:sample_rate=48000`];
  return withFfmpeg([...pictures, ...sound, ...video, ...(tone === undefined ? [] : audio), ...more], `out.${extension}`);
};

/** Audio with one tone. */
export const tone = (hertz: number, seconds: number, extension = "wav", more: readonly string[] = []): Buffer =>
  withFfmpeg(["-f", "lavfi", "-i", `sine=frequency=${hertz}:duration=${seconds}:sample_rate=48000`, ...more], `out.${extension}`);

/** RGB colour in the middle of the frame at a time. */
export const colourAt = (video: Buffer, seconds: number): number[] => {
  const crop = "crop=2:2:(iw-2)/2:(ih-2)/2,scale=1:1,format=rgb24";
  const raw = withFfmpeg(["-ss", String(seconds), "-i", "in", "-frames:v", "1", "-vf", crop, "-f", "rawvideo"], "out", { in: video });
  return [...raw];
};

/** The frame at a time, as PNG. */
export const pictureAt = (video: Buffer, seconds: number): Buffer =>
  withFfmpeg(["-ss", String(seconds), "-i", "in", "-frames:v", "1"], "out.png", { in: video });

const RATE = 48_000;
/** Samples from -1 to 1, at 48 kHz. */
export const samplesOf = (bytes: Buffer): Float32Array => {
  const raw = withFfmpeg(["-i", "in", "-map", "0:a:0", "-ac", "1", "-ar", String(RATE), "-f", "f32le"], "out", { in: bytes });
  return new Float32Array(raw.buffer, raw.byteOffset, Math.floor(raw.length / 4));
};

/** Root mean square between two times. */
export const levelBetween = (samples: Float32Array, from: number, to: number): number => {
  const part = samples.subarray(Math.round(from * RATE), Math.round(to * RATE));
  return Math.sqrt(part.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, part.length));
};

/** Times in seconds at which silence ends. */
export const onsetsOf = (samples: Float32Array, threshold = 0.02, silence = 0.2): number[] => {
  const onsets: number[] = [];
  let last = -Infinity;
  for (let at = 0; at < samples.length; at += 1) {
    if (Math.abs(samples[at]!) < threshold) continue;
    if (at / RATE - last > silence) onsets.push(at / RATE);
    last = at / RATE;
  }
  return onsets;
};

/** Times in seconds at which frames turn from dark to bright. */
export const flashesOf = (video: Buffer, fps: number): number[] => {
  const raw = withFfmpeg(["-i", "in", "-map", "0:v:0", "-vf", `fps=${fps},scale=1:1,format=gray`, "-f", "rawvideo"], "out", { in: video });
  return [...raw].flatMap((level, index) => (level > 128 && (raw[index - 1] ?? 0) <= 128 ? [index / fps] : []));
};

/** A dark clip with a flash and a beep of a tenth of a second. */
export const beep = (seconds: number, at: number, size = "160x90"): Buffer =>
  withFfmpeg(
    [
      ...[
        "-f",
        "lavfi",
        "-i",
        `color=c=black:s=${size}:r=25:d=${seconds},drawbox=c=white:t=fill:enable='between(t,${at - 0.001},${at + 0.099})'`,
      ],
      ...[
        "-f",
        "lavfi",
        "-i",
        `sine=frequency=1000:duration=${seconds}:sample_rate=44100,volume='if(between(t,${at},${at + 0.1}),1,0)':eval=frame`,
      ],
      ...[...H264, ...AAC],
    ],
    "out.mp4",
  );

/** Integrated loudness in LUFS, measured by ebur128. */
export const loudnessOf = (bytes: Buffer): number => {
  const folder = mkdtempSync(join(tmpdir(), "nodeloom-clips-"));
  try {
    writeFileSync(join(folder, "in"), bytes);
    const loudnessLog = execFileSync("sh", ["-c", `"${ffmpegPath()}" -hide_banner -nostats -i in -filter_complex ebur128 -f null - 2>&1`], {
      cwd: folder,
    }).toString();
    // The filter is initialized twice and prints an empty result first.
    return Number([...loudnessLog.matchAll(/Integrated loudness:\s+I:\s+(-?[\d.]+) LUFS/g)].at(-1)?.[1]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
