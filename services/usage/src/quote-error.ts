/** Computes how far bills differ from their estimates. */

import type { CostPart } from "./store";

export const QUOTE_ERROR_RUNS = 100;

export interface QuoteError {
  /** Number of runs with a cost and an estimate. */
  runs: number;
  /** Percentiles of (bill − estimate) ÷ bill. Above 0, a run cost more than estimated. 0 if there are no runs. */
  p50: number;
  p90: number;
}

const DECIMALS = 10_000;

/** Nearest-rank percentile. */
const percentile = (sorted: readonly number[], share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;

export const quoteErrorOf = (costs: readonly CostPart[]): QuoteError => {
  const errors = costs
    .flatMap(({ millicredits, estimatedMillicredits }) =>
      millicredits > 0 && estimatedMillicredits !== undefined ? (millicredits - estimatedMillicredits) / millicredits : [],
    )
    .map((error) => Math.round(error * DECIMALS) / DECIMALS)
    .sort((a, b) => a - b);
  return { runs: errors.length, p50: percentile(errors, 0.5), p90: percentile(errors, 0.9) };
};
