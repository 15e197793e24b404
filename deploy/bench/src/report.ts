import { isAbsolute, ratioOf, verdictOf, type Metric, type Target, type Unit } from "./metrics";

const HEADINGS = ["", "metric", "ours", "bare", "ratio", "target", ""];
/** Columns of numbers. */
const RIGHT_ALIGNED = new Set([2, 3, 4, 5]);
const NOTHING = "–";

const amount = (value: number | undefined, unit: Unit): string => {
  if (value === undefined) return NOTHING;
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return `${value.toFixed(digits)} ${unit}`;
};

const multiple = (value: number): string => `${value.toFixed(2)}×`;

const wish = (target: Target, unit: Unit): string => {
  switch (target.kind) {
    case "below":
      return `< ${target.value} ${unit}`;
    case "at least":
      return `≥ ${target.value} ${unit}`;
    case "ratio at least":
      return `≥ ${multiple(target.value)}`;
    case "ratio at most":
      return `≤ ${multiple(target.value)}`;
  }
};

const percent = (share: number): string => `${Math.max(1, Math.round(share * 100))} %`;

const row = (metric: Metric): string[] => {
  const { scenario, name, unit, ours, bare, target } = metric;
  const ratio = ratioOf(metric);
  const verdict = verdictOf(metric);
  return [
    scenario,
    name,
    amount(ours, unit),
    amount(bare, unit),
    ratio === undefined ? NOTHING : multiple(ratio),
    target ? wish(target, unit) : NOTHING,
    verdict ? (verdict.met ? "met" : "MISSED") : "",
  ];
};

/** All metrics as a table. */
export const renderTable = (metrics: readonly Metric[]): string => {
  const rows = [HEADINGS, ...metrics.map(row)];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((cells) => cells[column]!.length)));
  return rows
    .map((cells) =>
      cells
        .map((cell, column) => (RIGHT_ALIGNED.has(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
};

/** Number of met targets, and the distance of each missed one. */
export const renderVerdicts = (metrics: readonly Metric[]): string => {
  const judged = metrics.filter(({ target }) => target !== undefined);
  const missed = judged.filter((metric) => !verdictOf(metric)!.met);
  const lines = missed.map((metric) => {
    const reached = isAbsolute(metric.target!) ? amount(metric.ours, metric.unit) : multiple(ratioOf(metric)!);
    const offBy = percent(verdictOf(metric)!.missedBy);
    return `  missed (${metric.scenario}) ${metric.name}: ${reached}, target ${wish(metric.target!, metric.unit)}, off by ${offBy}`;
  });
  return [`${judged.length - missed.length} of ${judged.length} targets met`, ...lines].join("\n");
};

/** Metrics and verdicts for machines. */
export const reportJson = (metrics: readonly Metric[]): object[] =>
  metrics.map((metric) => ({ ...metric, ratio: ratioOf(metric), ...verdictOf(metric) }));
