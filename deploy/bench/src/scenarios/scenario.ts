import type { ApiClient } from "../http";
import type { Metric } from "../metrics";
import type { LocalPlatform } from "../platform";

/** How long and how often is measured. */
export interface Extent {
  /** Of each side. */
  rounds: number;
  roundMs: number;
  warmUpMs: number;
  /** Runs per round where runs are counted, not timed. */
  runs: number;
}

/** What a scenario works with. */
export interface Bench {
  local: LocalPlatform;
  /** The API as the enterprise account, which has no rate limit. */
  api: ApiClient;
  /** The key behind `api`. */
  key: string;
  extent: Extent;
  /** An address that answers HTTP requests, and that HTTP nodes may call where the platform was started for this. */
  target: string;
  /** Aborts when the bench is called off or out of time. */
  signal: AbortSignal;
  /** Says what is being measured. */
  note(text: string): void;
}

export interface Scenario {
  title: string;
  /** @throws Error when it could not be measured; a missed target is no error */
  measure(bench: Bench): Promise<Metric[]>;
}
