import { confidenceIn, noEvidence, observe, verdictOf, type Evidence, type ObservedRun, type Verdict } from "../../src/canaries/evidence";

/** Mulberry32. Every simulation has a seed, so that failures can be repeated. */
const randomOf = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

type Random = () => number;
interface Behaviour {
  errorRate: number;
  price: (random: Random) => number;
  duration: (random: Random) => number;
}

const gaussian = (random: Random): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const constant = () => 10_000;
const twoPrices = (random: Random): number => (random() < 0.8 ? 10_000 : 25_000);
const manyPrices = (random: Random): number => Math.round(10_000 * Math.exp(0.5 * gaussian(random)));
const usual = (random: Random): number => 4_000 * Math.exp(0.5 * gaussian(random));
/** Has no variance, and one of a thousand runs takes 300 times the least. */
const heavyTailed = (random: Random): number => 1_000 * (1 - random()) ** (-1 / 1.2);
const times =
  (factor: number, values: (random: Random) => number) =>
  (random: Random): number =>
    factor * values(random);

interface Simulation {
  seed: number;
  percent: number;
  base: Behaviour;
  canary: Behaviour;
  minRuns: number;
  mostRuns: number;
}

const simulate = ({ seed, percent, base, canary, minRuns, mostRuns }: Simulation): { verdict: Verdict | undefined; runs: number } => {
  const random = randomOf(seed);
  const share = percent / 100;
  let evidence: Evidence = noEvidence();
  let runs = 0;
  while (runs < mostRuns) {
    const isCanary = random() < share;
    const { errorRate, price, duration } = isCanary ? canary : base;
    const run: ObservedRun = { isCanary, isFailed: random() < errorRate, millicredits: price(random), durationMs: duration(random) };
    evidence = observe(evidence, run, share);
    runs += Number(isCanary);
    const verdict = verdictOf(evidence, runs, minRuns);
    if (verdict) return { verdict, runs };
  }
  return { verdict: undefined, runs };
};

const PERCENTS = [5, 10, 25, 50] as const;
const NEVER = Infinity;
const usualRuns: Behaviour = { errorRate: 0.05, price: constant, duration: usual };

it("at most 5 % of 200 harmless canaries are rolled back, whatever their error rates, prices and durations are, however long they run", () => {
  const prices = [constant, twoPrices, manyPrices];
  const errorRates = [0, 0.01, 0.05, 0.2, 0.5, 1];
  const durations = [usual, heavyTailed];
  const rolledBack = Array.from({ length: 200 }, (_, index) => {
    const same = { errorRate: errorRates[index % 6]!, price: prices[index % 3]!, duration: durations[index % 2]! };
    const canary = { seed: 1_000 + index, percent: PERCENTS[index % 4]!, base: same, canary: same, minRuns: NEVER, mostRuns: 120 };
    return simulate(canary).verdict;
  }).filter((verdict) => verdict?.outcome === "rolled_back");
  expect(rolledBack.length).toBeLessThanOrEqual(10);
});

it("a canary that is better, or dearer and slower within the tolerance, is no more often rolled back", () => {
  const better = { errorRate: 0.02, price: times(0.7, manyPrices), duration: times(0.5, heavyTailed) };
  const tolerable = { errorRate: 0.2, price: times(1.1, manyPrices), duration: times(1.15, heavyTailed) };
  const base = { errorRate: 0.2, price: manyPrices, duration: heavyTailed };
  const rolledBack = Array.from({ length: 200 }, (_, index) => {
    const canary = index % 2 === 0 ? better : tolerable;
    return simulate({ seed: 5_000 + index, percent: PERCENTS[index % 4]!, base, canary, minRuns: NEVER, mostRuns: 100 }).verdict;
  }).filter((verdict) => verdict?.outcome === "rolled_back");
  expect(rolledBack.length).toBeLessThanOrEqual(10);
});

describe.each([
  ["fails 40 % instead of 5 %", "errors", usualRuns, { ...usualRuns, errorRate: 0.4 }],
  ["costs twice as much", "cost", usualRuns, { ...usualRuns, price: times(2, constant) }],
  ["costs twice as much, at two prices", "cost", { ...usualRuns, price: twoPrices }, { ...usualRuns, price: times(2, twoPrices) }],
  ["takes three times as long", "time", usualRuns, { ...usualRuns, duration: times(3, usual) }],
  [
    "takes three times as long, with heavy tails",
    "time",
    { ...usualRuns, duration: heavyTailed },
    { ...usualRuns, duration: times(3, heavyTailed) },
  ],
] as const)("a canary that %s", (_, reason, base, canary) => {
  it.each([5, 10, 25, 50])("is rolled back within 60 of its runs, at a share of %i %%", (percent) => {
    const outcomes = Array.from({ length: 100 }, (__, index) =>
      simulate({ seed: 9_000 + index, percent, base, canary, minRuns: NEVER, mostRuns: 60 }),
    );
    const rolledBack = outcomes.filter(({ verdict }) => verdict?.outcome === "rolled_back");
    // Chance can hide a fault, most often if there are no more runs of the alias's version than of the canary.
    expect(rolledBack.length).toBeGreaterThanOrEqual(percent === 50 ? 95 : 98);
    const byReason = rolledBack.filter(({ verdict }) => verdict?.outcome === "rolled_back" && verdict.reason === reason);
    expect(byReason.length).toBeGreaterThanOrEqual(94);
    for (const { verdict } of rolledBack) expect(verdict!.confidence).toBeGreaterThanOrEqual(0.95);
  });
});

it("a harmless canary is promoted after its runs, and mostly at once", () => {
  const outcomes = Array.from({ length: 100 }, (_, index) =>
    simulate({ seed: 700 + index, percent: PERCENTS[index % 4]!, base: usualRuns, canary: usualRuns, minRuns: 30, mostRuns: 400 }),
  );
  const promoted = outcomes.filter(({ verdict }) => verdict?.outcome === "promoted");
  expect(promoted.length).toBeGreaterThanOrEqual(95);
  expect(promoted.filter(({ runs }) => runs === 30).length).toBeGreaterThanOrEqual(85);
});

it("a canary is not blamed for a trend of both versions", () => {
  // Errors of both versions rise and durations grow.
  const rolledBack = Array.from({ length: 100 }, (_, index) => {
    const random = randomOf(60_000 + index);
    let evidence = noEvidence();
    for (let run = 0; run < 300; run += 1) {
      const isCanary = random() < 0.25;
      const trend = run / 300;
      evidence = observe(
        evidence,
        { isCanary, isFailed: random() < 0.6 * trend, millicredits: 1_000 + run, durationMs: (1 + 9 * trend) * usual(random) },
        0.25,
      );
      if (verdictOf(evidence, run, NEVER)) return true;
    }
    return false;
  }).filter(Boolean);
  expect(rolledBack.length).toBeLessThanOrEqual(8);
});

it("names errors as the reason if all runs of the canary fail, also while the other version gets faster", () => {
  let evidence = noEvidence();
  let verdict: Verdict | undefined;
  for (let run = 0; !verdict; run += 1) {
    const isCanary = run % 3 === 2;
    evidence = observe(evidence, { isCanary, isFailed: isCanary, millicredits: 460, durationMs: 8_000 * 0.8 ** run }, 0.5);
    verdict = verdictOf(evidence, run, NEVER);
  }
  expect(verdict).toMatchObject({ outcome: "rolled_back", reason: "errors" });
});

it("no evidence is no confidence", () => {
  expect(confidenceIn(noEvidence())).toBe(0);
  expect(verdictOf(noEvidence(), 0, 20)).toBeUndefined();
});
