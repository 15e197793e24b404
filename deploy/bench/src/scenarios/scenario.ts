import type { ApiClient } from "../http";
import type { Metric } from "../metrics";
import type { LocalPlatform } from "../platform";

/** Length of a measurement, and number of measurements. */
export interface Extent {
  /** Number of rounds per side. */
  rounds: number;
  roundMs: number;
  warmUpMs: number;
  /** Runs per round if runs are counted, not timed. */
  runs: number;
}

/** Tools of a scenario. */
export interface Bench {
  local: LocalPlatform;
  /** API client of the enterprise account, which has no rate limit. */
  api: ApiClient;
  key: string;
  extent: Extent;
  /** Address that answers HTTP requests. HTTP nodes can call it if the platform was started for this. */
  target: string;
  /** Aborts when the benchmark is cancelled or exceeds its deadline. */
  signal: AbortSignal;
  note(text: string): void;
}

export interface Scenario {
  title: string;
  /** @throws Error if it couldn't be measured; a missed target isn't an error */
  measure(bench: Bench): Promise<Metric[]>;
}
