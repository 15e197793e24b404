import type { StoredText } from "./types";

/** Batches that run the tests of a workflow. */

export interface TestOutcome {
  passed: boolean;
  /** Price of all its calls in millicredits, including reused calls. */
  millicredits: number;
  durationMs: number | null;
  /** Charge for the calls that measured it; absent if there were none. */
  measuring?: number;
}

/** Measurements of a test's run. */
export interface ItemMeasurements {
  /** JSON of `Measurements`. */
  json: string;
  /** Executions of judges and of text recognition. */
  runs: string[];
  /** Charge of these executions in millicredits. */
  millicredits: number;
  /** False while some measurements are missing. */
  isOver: boolean;
}

/** Set if the batch runs the tests of a workflow: one item for each test, in order. */
export interface BatchTest {
  slug: string;
  /** JSON array of the tests at the time of the batch. */
  tests: StoredText;
  /** Equal tests have equal digests. Empty if the outcome says nothing about a version: with settings, or with inputs of earlier runs. */
  digest: string;
  /** JSON object: settings by node id, over those of the tested graph; absent if none. */
  settingsJson?: string;
  /** Set if the tests are the inputs of earlier runs. */
  isRecentRuns?: true;
  /** Id of the comparison batch, which runs the same tests on another version. It ends first, because this batch reuses its calls. */
  against?: string;
  /** Set on the comparison batch: id of the batch that is compared with it. */
  of?: string;
  /** When the last item had ended, and the measurements began; absent before, and if nothing is measured. */
  measuringSince?: Date;
  /** Outcomes in the order of the tests; set at the end of the batch. */
  outcomes?: TestOutcome[];
}
