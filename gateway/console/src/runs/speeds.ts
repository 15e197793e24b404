import type { NodeProgress } from "./live";

/** Durations of models' calls in this browser. No other source has them before a run. */

const KEY = "nodeloom.speeds";
/** Maximum durations stored for each model, and maximum models. */
const EACH = 5;
const MODELS = 100;

type Speeds = Record<string, number[]>;

const read = (): Speeds => {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return typeof stored === "object" && stored !== null ? (stored as Speeds) : {};
  } catch {
    return {};
  }
};

/** Milliseconds of one item of a completed node; undefined if another run made it. */
export const itemMs = ({ status, durationMs, items, reusedFrom, calls }: NodeProgress): number | undefined => {
  const isReused = reusedFrom !== undefined || calls?.some((call) => call.reusedFrom !== undefined) === true;
  if (status !== "completed" || durationMs === null || durationMs <= 0 || isReused) return undefined;
  return durationMs / Math.max(1, items ?? 1);
};

/** Stores durations of a finished run. @param durations durations by model, in milliseconds */
export const rememberSpeeds = (durations: readonly (readonly [model: string, ms: number])[]): void => {
  const speeds = read();
  for (const [model, ms] of durations)
    speeds[model] = [...(Array.isArray(speeds[model]) ? speeds[model] : []), Math.round(ms)].slice(-EACH);
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(Object.entries(speeds).slice(-MODELS))));
  } catch {
    // Without storage, speeds are unknown.
  }
};

/** Median of the last durations in milliseconds; undefined for a model that hasn't run in this browser. */
export const speedOf = (model: string): number | undefined => {
  const durations = read()[model];
  const sorted = Array.isArray(durations) ? durations.filter((ms) => typeof ms === "number").sort((a, b) => a - b) : [];
  return sorted[sorted.length >> 1];
};
