/** Reads image sizes and durations from file headers, and sanitizes vectors. */

import { join } from "node:path";
import { DomainError, unavailable } from "@nodeloom/kernel";
import { eventCounter } from "@nodeloom/platform";
import { Piscina } from "piscina";
import { SVG_TYPE } from "../svg";

/** Displayed size in pixels, and duration in milliseconds. */
export interface Measurements {
  width?: number;
  height?: number;
  durationMs?: number;
  /** True for a video container that has only audio. */
  isSound?: boolean;
}

/** A sanitized vector, or the reason why it is refused. */
export type SanitizedVector = { svg: string; problem?: undefined } | { problem: string };

/** Bounds for queued tasks, waiting time, task time and the thread's heap. */
export const MEASURING = { waiting: 1_000, maxWaitMs: 10_000, maxTaskMs: 2_000, maxVectorMs: 10_000, heapMb: 128, idleMs: 60_000 } as const;
/** Larger values in headers are treated as invalid. They exceed the size of any image, or a year of audio. */
const MAX_SIDE = 1_000_000;
const MAX_DURATION_MS = 366 * 24 * 60 * 60 * 1_000;

const RETRY_AFTER_SECONDS = 5;

/** The compiled thread. The path is valid from both src/ and dist/. */
const THREAD = join(__dirname, "..", "..", "dist", "measure", "thread.js");
const MEASURED = /^(?:image|video|audio)\//;

const unmeasured = eventCounter("nodeloom.media.unmeasured", "files whose size or duration could not be read");

const within = (value: number | undefined, min: number, max: number): number | undefined =>
  value !== undefined && Number.isInteger(value) && value >= min && value <= max ? value : undefined;

const believable = ({ width, height, durationMs, isSound = false }: Measurements): Measurements => {
  const [wide, high] = [within(width, 1, MAX_SIDE), within(height, 1, MAX_SIDE)];
  const length = within(durationMs, 1, MAX_DURATION_MS);
  return {
    ...(wide === undefined || high === undefined ? {} : { width: wide, height: high }),
    ...(length === undefined ? {} : { durationMs: length }),
    ...(isSound ? { isSound } : {}),
  };
};

export interface Measure {
  /** Measures a file. Values that can't be read before the deadline are omitted. */
  measure(path: string, contentType: string): Promise<Measurements>;
  /**
   * Returns a vector (SVG) without anything that could run, load or multiply.
   * @throws DomainError UNSUPPORTED_MEDIA_TYPE with the reason, or SERVICE_UNAVAILABLE if it can't be read before the deadline
   */
  sanitize(path: string): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Measures files in a thread with its own heap and deadline, so that no file can block or crash the process. If the thread exceeds a limit,
 * it is replaced.
 */
export const createMeasure = (limits: Partial<Record<keyof typeof MEASURING, number>> & { script?: string } = {}): Measure => {
  const { waiting, maxWaitMs, maxTaskMs, maxVectorMs, heapMb, idleMs, script = THREAD } = { ...MEASURING, ...limits };
  const pool = new Piscina<{ path: string; contentType: string; id: number }, Measurements | SanitizedVector>({
    filename: script,
    minThreads: 0,
    maxThreads: 1,
    maxQueue: waiting,
    idleTimeout: idleMs,
    env: {},
    execArgv: [],
    atomics: "disabled",
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  pool.on("error", () => undefined);
  /** Functions that start a file's deadline when the thread begins it, by file number. */
  const clocks = new Map<number, () => void>();
  pool.on("message", (id: number) => clocks.get(id)?.());
  let startedCount = 0;

  const onThread = async <T extends Measurements | SanitizedVector>(
    task: { path: string; contentType: string },
    { name, taskMs }: { name: "measure" | "sanitize"; taskMs: number },
  ): Promise<T> => {
    const id = (startedCount += 1);
    const late = new AbortController();
    const abortIn = (ms: number): NodeJS.Timeout => setTimeout(() => late.abort(), ms);
    let timer = abortIn(maxWaitMs);
    clocks.set(id, () => {
      clearTimeout(timer);
      timer = abortIn(taskMs);
    });
    try {
      return (await pool.run({ ...task, id }, { name, signal: late.signal })) as T;
    } finally {
      clearTimeout(timer);
      clocks.delete(id);
    }
  };

  return {
    measure: async (path, contentType) => {
      if (!MEASURED.test(contentType)) return {};
      try {
        return believable(await onThread({ path, contentType }, { name: "measure", taskMs: maxTaskMs }));
      } catch {
        unmeasured({ family: contentType.split("/")[0]! });
        return {};
      }
    },
    sanitize: async (path) => {
      const task = { path, contentType: SVG_TYPE };
      const sanitized = await onThread<SanitizedVector>(task, { name: "sanitize", taskMs: maxVectorMs }).catch(() => {
        throw unavailable("the vector image could not be checked in time", RETRY_AFTER_SECONDS);
      });
      if (sanitized.problem === undefined) return sanitized.svg;
      throw new DomainError("invalid", "UNSUPPORTED_MEDIA_TYPE", `the vector image ${sanitized.problem}`);
    },
    stop: () => pool.destroy(),
  };
};
