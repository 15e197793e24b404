/** Nearest-rank percentile. @throws RangeError without samples */
export const percentile = (samples: readonly number[], share: number): number => {
  if (samples.length === 0) throw new RangeError("there are no samples");
  const sorted = Float64Array.from(samples).sort();
  const rank = Math.ceil(share * sorted.length);
  return sorted[Math.min(sorted.length, Math.max(1, rank)) - 1]!;
};

/** Middle value, or the mean of the two middle ones. @throws RangeError without values */
export const median = (values: readonly number[]): number => {
  if (values.length === 0) throw new RangeError("there are no values");
  const sorted = Float64Array.from(values).sort();
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

/** Samples of one round of load. */
export interface Sample {
  latenciesMs: number[];
  /** From the first request to the last response. */
  seconds: number;
}

export interface Figures {
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  perSecond: number;
}

export const figuresOf = ({ latenciesMs, seconds }: Sample): Figures => ({
  p50Ms: percentile(latenciesMs, 0.5),
  p95Ms: percentile(latenciesMs, 0.95),
  p99Ms: percentile(latenciesMs, 0.99),
  perSecond: latenciesMs.length / seconds,
});

/** Medians of each figure over several rounds, so that one disturbed round has no effect. */
export const medianFigures = (rounds: readonly Figures[]): Figures => ({
  p50Ms: median(rounds.map(({ p50Ms }) => p50Ms)),
  p95Ms: median(rounds.map(({ p95Ms }) => p95Ms)),
  p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
  perSecond: median(rounds.map(({ perSecond }) => perSecond)),
});

/** Combines the samples of rounds, for events that are rare in a single one. */
export const pooled = (rounds: readonly Sample[]): Sample => ({
  latenciesMs: rounds.flatMap(({ latenciesMs }) => latenciesMs),
  seconds: rounds.reduce((sum, { seconds }) => sum + seconds, 0),
});

export type Side = "ours" | "bare";
export type Sides<T> = Record<Side, T>;

/** Alternates the side that starts, so that a warm machine favours neither. */
export const sideOrder = (round: number): readonly Side[] => (round % 2 === 0 ? ["ours", "bare"] : ["bare", "ours"]);

/** Runs rounds of both sides alternately. */
export const alternate = async <T>(rounds: number, run: Readonly<Sides<() => Promise<T>>>): Promise<Sides<T[]>> => {
  const results: Sides<T[]> = { ours: [], bare: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const side of sideOrder(round)) results[side].push(await run[side]());
  }
  return results;
};
