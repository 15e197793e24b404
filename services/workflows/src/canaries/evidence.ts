/**
 * Evidence that a canary's runs are worse than the runs of its alias's version.
 *
 * The hash of a run's id selects its arm, so that each run is a canary's with a known probability, whatever its inputs are. If the canary
 * is not worse, a bad value therefore doesn't point to the canary. Each metric bets on the opposite: every run multiplies its _e-value_.
 * Its expected value stays at most 1 as long as the canary is not worse, so by Ville's inequality it reaches 1/α with a probability of at
 * most α, however often it is looked at, and for any distribution, base rate or trend.
 *
 * Sources: P. Grünwald, A. Henzi, T. Lardy, "Anytime-Valid Tests of Conditional Independence Under Model-X", Journal of the American
 * Statistical Association 119 (2024), for bets on a randomized arm; E. L. Lehmann, "The Power of Rank Tests", Annals of Mathematical
 * Statistics 24 (1953), for the alternatives; A. Ramdas, P. Grünwald, V. Vovk, G. Shafer, "Game-Theoretic Statistics and Safe Anytime-Valid
 * Inference", Statistical Science 38 (2023), for mixtures and averages of e-values.
 */

export const METRICS = ["errors", "cost", "time"] as const;
export type Metric = (typeof METRICS)[number];

/** A counted run. */
export interface ObservedRun {
  isCanary: boolean;
  isFailed: boolean;
  millicredits: number;
  durationMs: number;
}

export interface MetricEvidence {
  /** The last values of the alias's version. A canary's value is ranked among them. */
  reference: number[];
  /** Logarithms of the e-values, one per alternative. */
  logs: number[];
}

export type Evidence = Record<Metric, MetricEvidence>;

/** Maximum values of a reference. */
const REFERENCE = 100;
/** Alternatives: a canary's values are distributed like the highest of this many values of the alias's version. */
const ALTERNATIVES = [2, 4, 8, 16] as const;
/** A single good value can't end the search for a difference. */
const LEAST_RATIO = 0.2;
/** Factor by which a canary's values can be higher and are still not worse. */
const TOLERANCE: Readonly<Record<Metric, number>> = { errors: 1, cost: 1.1, time: 1.15 };
/** Shares of the metrics in the decision. Errors need the most runs. */
const WEIGHTS: Readonly<Record<Metric, number>> = { errors: 0.5, cost: 0.25, time: 0.25 };

/** Probability of rolling back a canary that isn't worse: at most this. */
export const FALSE_ALARMS = 0.05;
/** Above this confidence in any metric, a canary isn't promoted yet. */
const MOST_DOUBT = 2 / 3;

export const noEvidence = (): Evidence => {
  const metric = (): MetricEvidence => ({ reference: [], logs: ALTERNATIVES.map(() => 0) });
  return { errors: metric(), cost: metric(), time: metric() };
};

/**
 * Adds a value. The value's rank among the reference, ties included, is an interval of quantiles; `ratio` is the density of the alternative
 * there. It doesn't decrease with the value, on which the bound on the expected value depends.
 */
const add = ({ reference, logs }: MetricEvidence, value: number, isCanary: boolean, share: number, tolerance: number): MetricEvidence => {
  const ranked = isCanary ? value / tolerance : value;
  let [below, ties] = [0, 0];
  for (const known of reference)
    if (known < ranked) below += 1;
    else if (known === ranked) ties += 1;
  const size = reference.length + 1;
  const [from, to] = [below / size, (below + ties + 1) / size];
  const nextLogs = ALTERNATIVES.map((power, index) => {
    const ratio = Math.max(LEAST_RATIO, (to ** power - from ** power) / (to - from));
    return logs[index]! + Math.log((isCanary ? ratio : 1) / (share * ratio + 1 - share));
  });
  return { logs: nextLogs, reference: isCanary ? reference : [...reference, value].slice(-REFERENCE) };
};

/** Adds a run. Cost and time of failed runs aren't compared. @param share probability that a run is the canary's */
export const observe = (evidence: Evidence, run: ObservedRun, share: number): Evidence => {
  const { isCanary, isFailed, millicredits, durationMs } = run;
  const added = (metric: Metric, value: number): MetricEvidence => add(evidence[metric], value, isCanary, share, TOLERANCE[metric]);
  return {
    errors: added("errors", Number(isFailed)),
    cost: isFailed ? evidence.cost : added("cost", millicredits),
    time: isFailed ? evidence.time : added("time", durationMs),
  };
};

const eValue = ({ logs }: MetricEvidence): number => logs.reduce((sum, log) => sum + Math.exp(log), 0) / logs.length;
const confidenceOf = (value: number): number => Math.max(0, 1 - 1 / value);

/** Confidence, from 0 to 1, that the canary is worse in one metric. */
export const confidences = (evidence: Evidence): Record<Metric, number> => {
  const of = (metric: Metric): number => confidenceOf(eValue(evidence[metric]));
  return { errors: of("errors"), cost: of("cost"), time: of("time") };
};

/** The average of the e-values is an e-value, so all metrics together have one bound on false alarms. */
const averageOf = (evidence: Evidence): number => METRICS.reduce((sum, metric) => sum + WEIGHTS[metric] * eValue(evidence[metric]), 0);

/** Confidence, from 0 to 1, that the canary is worse in any metric. */
export const confidenceIn = (evidence: Evidence): number => confidenceOf(averageOf(evidence));

export type Verdict = { outcome: "rolled_back"; reason: Metric; confidence: number } | { outcome: "promoted"; confidence: number };

/**
 * Decides a canary, if its runs suffice.
 * @param runs counted runs of the canary
 */
export const verdictOf = (evidence: Evidence, runs: number, minRuns: number): Verdict | undefined => {
  const confidence = confidenceIn(evidence);
  const byMetric = confidences(evidence);
  const worst = METRICS.reduce((most, metric) => (byMetric[metric] > byMetric[most] ? metric : most));
  // A version that fails more has fewer runs whose cost and time can be compared.
  const reason = byMetric.errors >= MOST_DOUBT ? "errors" : worst;
  if (averageOf(evidence) >= 1 / FALSE_ALARMS) return { outcome: "rolled_back", reason, confidence };
  return runs >= minRuns && byMetric[worst] < MOST_DOUBT ? { outcome: "promoted", confidence } : undefined;
};
