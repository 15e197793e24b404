import { spawn } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "./engine";

/** Finds ffmpeg and decodes audio with it, in a model's process. */

export const ffmpegIn = async (folder: string): Promise<string> => {
  const name = (await readdir(folder)).find((file) => file.startsWith("ffmpeg"));
  if (name === undefined) throw new Error(`${folder} holds no ffmpeg`);
  return join(folder, name);
};

/**
 * Audio and video containers, as in `demuxerOf` of the transform service. Playlists are excluded, because they refer to other files and
 * URLs.
 */
const CONTAINERS = "mov,matroska,avi,mpegts,ogg,mp3,wav,flac,aac,aiff,amr";
const SAMPLE_BYTES = Float32Array.BYTES_PER_ELEMENT;
const CPU_SECONDS = 120;
const MEMORY_KB = 2_097_152;
/** Sets limits and then replaces the shell with the program. */
const BOUNDED = `ulimit -t ${CPU_SECONDS}; ulimit -v ${MEMORY_KB}; ulimit -c 0; exec "$0" "$@"`;
const LOG_CHARACTERS = 2_000;
const SHOWN_CHARACTERS = 200;

/** Returns the last line of a log without memory addresses and paths. */
const lastLine = (log: string): string => {
  const line = log.trim().split("\n").at(-1) ?? "";
  const at = line.lastIndexOf("] ") + 1;
  return line
    .slice(at)
    .replace(/file:\S+: ?/g, "")
    .trim()
    .slice(0, SHOWN_CHARACTERS);
};

export interface Decoding {
  ffmpeg: string;
  sampleRate: number;
  /** Maximum duration that is decoded. */
  maxSeconds: number;
}

/**
 * Decodes the first audio track of an audio or video file to mono samples from -1 to 1.
 * @throws InputError if the file can't be read or has no audio
 */
export const decodeSound = async (path: string, { ffmpeg, sampleRate, maxSeconds }: Decoding): Promise<Float32Array> => {
  const input = ["-protocol_whitelist", "file,pipe", "-format_whitelist", CONTAINERS, "-i", `file:${path}`];
  const output = ["-map", "0:a:0", "-ac", "1", "-ar", String(sampleRate), "-t", String(maxSeconds), "-f", "f32le", "pipe:1"];
  const args = ["-hide_banner", "-nostdin", "-loglevel", "error", "-threads", "1", ...input, ...output];
  const child = spawn("sh", ["-c", BOUNDED, ffmpeg, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const chunks: Buffer[] = [];
  let log = "";
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (piece: Buffer) => (log = (log + piece.toString()).slice(-LOG_CHARACTERS)));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const bytes = Buffer.concat(chunks);
  if (/matches no streams/.test(log)) throw new InputError("the file has no sound");
  // If the end of a file is damaged, the audio before it is used.
  if (code !== 0 && bytes.length === 0) throw new InputError(`the sound can't be read: ${lastLine(log) || "its format is not known"}`);
  const samples = new Float32Array(Math.floor(bytes.length / SAMPLE_BYTES));
  bytes.copy(Buffer.from(samples.buffer));
  return samples;
};
