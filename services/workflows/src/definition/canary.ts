/** A canary of an alias: a version that gets a share of the runs, until it is promoted or rolled back. */

/** Settings of a canary as its owner sends them. */
export interface CanarySettings {
  version: number;
  /** Share of the runs, from 1 to 50. */
  percent: number;
  /** Number of its runs after which it can be promoted. */
  minRuns: number;
  /** The most that its runs can cost together. */
  maxMillicredits?: number | undefined;
}

export interface Canary extends CanarySettings {
  /** Identifies its results, and selects its runs. */
  id: string;
  startedAt: Date;
  startedBy: string;
}

/** Sums over the counted runs of one version. Cost and time are those of completed runs. */
export interface Arm {
  runs: number;
  failed: number;
  millicredits: number;
  durationMs: number;
}

export interface CanaryOutcome {
  outcome: "promoted" | "rolled_back";
  /** Why it was rolled back; empty if it was promoted. */
  reason: "" | "errors" | "cost" | "time" | "max_credits";
  /** Confidence, from 0 to 1, that it is worse. */
  confidence: number;
  endedAt: Date;
  base: Arm;
  canary: Arm;
}

export interface EndedCanary extends CanaryOutcome {
  id: string;
  version: number;
}

export const sameSettings = (one: CanarySettings, other: CanarySettings): boolean =>
  one.version === other.version &&
  one.percent === other.percent &&
  one.minRuns === other.minRuns &&
  one.maxMillicredits === other.maxMillicredits;
