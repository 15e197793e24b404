import { spawn, type ChildProcess } from "node:child_process";
import { BOUNDS } from "../../bounds";
import { InputError } from "../job";

/** Runs ffmpeg with system limits on memory, time and file size. */

const KB = 1_024;
const BLOCK_BYTES = 512;
/** Sets limits and then replaces the shell with the program. macOS has no limit on address space. */
const BOUNDED = `ulimit -t ${BOUNDS.ffmpegCpuSeconds}; ulimit -f ${BOUNDS.outputBytes / BLOCK_BYTES}; ulimit -c 0; ulimit -v ${
  BOUNDS.ffmpegMemoryBytes / KB
} 2>/dev/null; exec "$0" "$@"`;
const ALWAYS = ["-hide_banner", "-nostdin", "-nostats", "-loglevel", "info", "-y"];
/** Maximum characters of a log line that are kept before paths are removed from it. */
const MAX_LINE_CHARS = 2_000;
const PRINTED_CHARACTERS = 256 * 1_024;
const MB = 1_024 * 1_024;

const SIGNALS: Readonly<Partial<Record<NodeJS.Signals, string>>> = {
  SIGXFSZ: `the result would be larger than ${BOUNDS.outputBytes / MB} MB`,
  SIGXCPU: `it takes more than ${BOUNDS.ffmpegCpuSeconds} s of a processor`,
  SIGKILL: `it takes more than ${BOUNDS.ffmpegCpuSeconds} s of a processor, or more memory than there is`,
};

const running = new Set<ChildProcess>();
/** Kills all running ffmpeg processes. */
export const endFfmpeg = (): void => {
  for (const child of running) child.kill("SIGKILL");
};

export interface FfmpegOutput {
  log: string;
  /** Pipe output of ffmpeg, if requested. */
  output: Buffer;
}

export interface FfmpegOptions {
  program: string;
  folder: string;
  /** Maximum bytes that are kept from the pipe. Without it, the pipe isn't read. */
  pipeBytes?: number;
}

const started = ({ program, folder, pipeBytes }: FfmpegOptions, args: readonly string[]): ChildProcess =>
  spawn("sh", ["-c", BOUNDED, program, ...ALWAYS, ...args], {
    cwd: folder,
    env: { HOME: folder, LANG: "C.UTF-8" },
    stdio: ["ignore", pipeBytes === undefined ? "ignore" : "pipe", "pipe"],
  });

/** @returns the exit code, or the signal that ended the process */
const finished = async (options: FfmpegOptions, args: readonly string[]): Promise<FfmpegOutput & { how: number | NodeJS.Signals }> => {
  const child = started(options, args);
  running.add(child);
  const chunks: Buffer[] = [];
  let [log, bytes] = ["", 0];
  child.stderr?.on("data", (piece: Buffer) => {
    // The start of the log describes the files, the end describes the failure.
    log += piece.toString();
    if (log.length > PRINTED_CHARACTERS) log = log.slice(0, PRINTED_CHARACTERS / 2) + log.slice(-PRINTED_CHARACTERS / 2);
  });
  child.stdout?.on("data", (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > (options.pipeBytes ?? 0)) child.kill("SIGKILL");
    else chunks.push(piece);
  });
  try {
    const how = await new Promise<number | NodeJS.Signals>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => resolve(signal ?? code ?? 1));
    });
    return { log, output: Buffer.concat(chunks), how };
  } finally {
    running.delete(child);
  }
};

const SIGNAL_BASE = 128;
const SIGNAL_NUMBERS: Readonly<Record<number, NodeJS.Signals>> = { 9: "SIGKILL", 24: "SIGXCPU", 25: "SIGXFSZ" };
const signalOf = (how: number | NodeJS.Signals): NodeJS.Signals | undefined =>
  typeof how === "string" ? how : SIGNAL_NUMBERS[how - SIGNAL_BASE];

const NOISE =
  /^(Conversion failed|Exiting|At least one output|\[out#|Error while (filtering|processing)|Error opening (input|output) files?|Nothing was written|Task finished)/i;

/** Returns the log line with the problem, without paths and memory addresses. */
export const problemIn = (log: string): string => {
  const lines = log
    .trim()
    .split(/\r?\n/)
    .filter((line) => /error|invalid|could not|cannot|failed|not found|unknown|moov|no such|does not/i.test(line));
  const line = lines.findLast((one) => !NOISE.test(one)) ?? lines.at(-1) ?? "it gives no result";
  return line
    .slice(0, MAX_LINE_CHARS)
    .replace(/\[[^\][]*@ 0x[0-9a-f]+\]\s*/gi, "")
    .replace(/file:\S*\//g, "")
    .slice(0, 200)
    .trim();
};

/** @throws InputError with the problem */
export const runFfmpeg = async (options: FfmpegOptions, args: readonly string[]): Promise<FfmpegOutput> => {
  const { how, ...printed } = await finished(options, args);
  if (how === 0) return printed;
  const signal = signalOf(how);
  if (/File too large/i.test(printed.log)) throw new InputError(SIGNALS.SIGXFSZ!);
  if (/Cannot allocate memory/i.test(printed.log)) throw new InputError("it needs more memory than an operation can have");
  throw new InputError((signal && SIGNALS[signal]) ?? problemIn(printed.log));
};

/** Returns ffmpeg's description of its inputs. Without an output, ffmpeg always exits with an error. */
export const describedByFfmpeg = async (options: FfmpegOptions, args: readonly string[]): Promise<string> =>
  (await finished(options, args)).log;
