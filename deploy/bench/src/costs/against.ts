import { checkOut } from "./checkout";
import { compareCosts, cpuMetric, type Cost } from "./costs";
import type { Metric } from "../metrics";
import { launch, ROOT } from "../platform";
import type { Extent } from "../scenarios";

/** Of the other commit's CPU, at most. */
const AT_MOST: Record<Cost["kind"], number> = { text: 0.3, HTTP: 0.5, image: 0.55, video: 0.6 };
/** Throughput must follow the CPU saved, but for a tenth. */
const FOLLOWS = 1.1;

const metricsOf = (cost: Cost): Metric[] => [
  cpuMetric(cost, "cost", AT_MOST[cost.kind]),
  {
    ...{ scenario: "cost", name: `${cost.kind} run, per second`, unit: "/s", ...cost.perSecond },
    target: { kind: "ratio at least", value: 1 / (AT_MOST[cost.kind] * FOLLOWS) },
  },
];

/**
 * What a run costs here and at another commit.
 * @throws Error when there is no such commit, or a platform runs in this checkout already
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
