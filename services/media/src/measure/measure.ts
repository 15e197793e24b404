/** measure/: how large a picture is and how long a video or a sound takes, by the headers of its file. */

import { join } from "node:path";
import { eventCounter } from "@nodeloom/platform";
import { Piscina } from "piscina";

/** In pixels, as it is shown, and milliseconds. */
export interface Measured {
  width?: number;
  height?: number;
  durationMs?: number;
  /** It was taken for a video, and has a sound alone. */
  isSound?: boolean;
}

/** Files that may wait for the thread; how long one may wait for it, and take; and its heap. */
export const MEASURING = { waiting: 1_000, maxWaitMs: 10_000, maxTaskMs: 2_000, heapMb: 128, idleMs: 60_000 } as const;
/** What a header may say and be believed: a picture larger than that, or a sound of a year, is none. */
const MAX_SIDE = 1_000_000;
const MAX_DURATION_MS = 366 * 24 * 60 * 60 * 1_000;

/** Where the built thread lies, whether this runs from src/ or dist/. */
const THREAD = join(__dirname, "..", "..", "dist", "measure", "thread.js");
const MEASURED = /^(?:image|video|audio)\//;

const unmeasured = eventCounter("nodeloom.media.unmeasured", "files whose size or duration could not be read");

const within = (value: number | undefined, min: number, max: number): number | undefined =>
  value !== undefined && Number.isInteger(value) && value >= min && value <= max ? value : undefined;

const believable = ({ width, height, durationMs, isSound = false }: Measured): Measured => {
  const [wide, high] = [within(width, 1, MAX_SIDE), within(height, 1, MAX_SIDE)];
  const length = within(durationMs, 1, MAX_DURATION_MS);
  return {
    ...(wide === undefined || high === undefined ? {} : { width: wide, height: high }),
    ...(length === undefined ? {} : { durationMs: length }),
    ...(isSound ? { isSound } : {}),
  };
};

export interface Measure {
  /** What can't be read in time is left out. */
  measure(path: string, contentType: string): Promise<Measured>;
  stop(): Promise<void>;
}

/** Measures in a thread with a heap and a time of its own: no file holds or ends the process. A thread that passed its limits is replaced. */
export const createMeasure = (limits: Partial<Record<keyof typeof MEASURING, number>> & { script?: string } = {}): Measure => {
  const { waiting, maxWaitMs, maxTaskMs, heapMb, idleMs, script = THREAD } = { ...MEASURING, ...limits };
  const pool = new Piscina<{ path: string; contentType: string; id: number }, Measured>({
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
  /** What starts the clock of a file, by its number, when the thread begins it. */
  const clocks = new Map<number, () => void>();
  pool.on("message", (id: number) => clocks.get(id)?.());
  let begun = 0;

  const onThread = async (path: string, contentType: string): Promise<Measured> => {
    const id = (begun += 1);
    const late = new AbortController();
    const abortIn = (ms: number): NodeJS.Timeout => setTimeout(() => late.abort(), ms);
    let timer = abortIn(maxWaitMs);
    clocks.set(id, () => {
      clearTimeout(timer);
      timer = abortIn(maxTaskMs);
    });
    try {
      return await pool.run({ path, contentType, id }, { name: "measure", signal: late.signal });
    } finally {
      clearTimeout(timer);
      clocks.delete(id);
    }
  };

  return {
    measure: async (path, contentType) => {
      if (!MEASURED.test(contentType)) return {};
      try {
        return believable(await onThread(path, contentType));
      } catch {
        unmeasured({ family: contentType.split("/")[0]! });
        return {};
      }
    },
    stop: () => pool.destroy(),
  };
};
