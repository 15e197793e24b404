import { checkOut } from "./checkout";
import { compareCosts, cpuMetric, type Cost } from "./costs";
import type { Metric } from "../metrics";
import { launch, ROOT } from "../platform";
import type { Extent } from "../scenarios";

/** Maximum share of the other commit's CPU. */
const AT_MOST: Record<Cost["kind"], number> = { text: 0.3, HTTP: 0.5, image: 0.55, video: 0.6 };
/** Throughput must grow by at least the saved CPU, less a tenth. */
const FOLLOWS = 1.1;

const metricsOf = (cost: Cost): Metric[] => [
  cpuMetric(cost, "cost", AT_MOST[cost.kind]),
  {
    ...{ scenario: "cost", name: `${cost.kind} run, per second`, unit: "/s", ...cost.perSecond },
    target: { kind: "ratio at least", value: 1 / (AT_MOST[cost.kind] * FOLLOWS) },
  },
];

/**
 * Measures the cost of a run here and at another commit. @throws Error for an unknown commit, or if a platform already runs in this
 * checkout
 */
export const measureAgainst = async (
  name: string,
  extent: Extent,
  signal: AbortSignal,
  note: (text: string) => void,
): Promise<Metric[]> => {
  const other = await checkOut(name);
  note(`starting this checkout and ${other.commit}`);
  const costs = await compareCosts({
    names: { ours: "here", bare: "there" },
    launch: {
      ours: (environment) => launch(ROOT, signal, environment),
      bare: (environment) => launch(other.root, signal, environment),
    },
    ...{ extent, signal, note },
  });
  return costs.flatMap(metricsOf);
};
