import type { Figures, Sides } from "./rounds";

export type Unit = "ms" | "/s" | "runs" | "%" | "MB";

/** Target of a figure: a multiple of the bare side's, or an absolute value. */
export type Target = { kind: "ratio at least" | "ratio at most"; value: number } | { kind: "below" | "at least"; value: number };

export interface Metric {
  /** Letter of its scenario. */
  scenario: string;
  name: string;
  unit: Unit;
  ours: number;
  bare?: number;
  target?: Target;
}

export interface Verdict {
  met: boolean;
  /** Distance from the target as a share of the target; 0 if it is met. */
  missedBy: number;
}

/** True for targets without a bare side. */
export const isAbsolute = ({ kind }: Target): boolean => kind === "below" || kind === "at least";

/** Ratio of ours to bare; undefined without a bare side. */
export const ratioOf = ({ ours, bare }: Metric): number | undefined => (bare === undefined ? undefined : ours / bare);

/** True if a metric meets its target; undefined without one. @throws Error for a ratio without a bare side */
export const verdictOf = (metric: Metric): Verdict | undefined => {
  const { target } = metric;
  if (!target) return undefined;
  const reached = isAbsolute(target) ? metric.ours : ratioOf(metric);
  if (reached === undefined) throw new Error(`${metric.name} has nothing to be compared with`);
  const isAtLeast = target.kind === "ratio at least" || target.kind === "at least";
  const isMet = isAtLeast ? reached >= target.value : target.kind === "below" ? reached < target.value : reached <= target.value;
  const beyond = isAtLeast ? 1 - reached / target.value : reached / target.value - 1;
  return { met: isMet, missedBy: isMet ? 0 : beyond };
};

const FIGURES = {
  p50: { key: "p50Ms", unit: "ms" },
  p95: { key: "p95Ms", unit: "ms" },
  p99: { key: "p99Ms", unit: "ms" },
  "per second": { key: "perSecond", unit: "/s" },
} as const satisfies Record<string, { key: keyof Figures; unit: Unit }>;
export type FigureName = keyof typeof FIGURES;

/** Metrics of both sides, in the order of `wanted`. */
export const metricsOf = (
  scenario: string,
  subject: string,
  sides: { ours: Figures; bare?: Figures } | Sides<Figures>,
  targets: Partial<Record<FigureName, Target | null>>,
): Metric[] =>
  Object.entries(targets).map(([name, target]) => {
    const { key, unit } = FIGURES[name as FigureName];
    return {
      scenario,
      name: `${subject}, ${name}`,
      unit,
      ours: sides.ours[key],
      ...(sides.bare ? { bare: sides.bare[key] } : {}),
      ...(target ? { target } : {}),
    };
  });
