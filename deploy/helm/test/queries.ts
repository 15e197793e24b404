import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CHART, readYaml } from "./chart";

export interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  labels?: { severity: string };
  annotations?: { runbook: string; summary: string };
}

/** Rules of the chart: alerts, and recorded ratios. */
export const rules: readonly Rule[] = readYaml<{ groups: { rules: Rule[] }[] }>("files", "alerts.yaml").groups.flatMap(
  (group) => group.rules,
);

const dashboard = JSON.parse(readFileSync(join(CHART, "files", "dashboards", "nodeloom.json"), "utf8")) as {
  /** Rows of the dashboard have no targets. */
  panels: { description?: string; targets?: { expr: string }[] }[];
};

export const descriptions: readonly string[] = dashboard.panels.flatMap(({ description = [] }) => description);

/** Queries of alerts and dashboard. */
export const queries: readonly string[] = [
  ...rules.map(({ expr }) => expr),
  ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
];

/** Labels that the ServiceMonitor and Prometheus add. */
const OF_PROMETHEUS = new Set(["component", "le"]);
const METRIC = /\b((?:nodeloom|temporal)_\w+)(?:\{([^}]*)\})?/g;

export const metricsIn = (query: string): { name: string; labels: string[] }[] => {
  const groupedBy = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(",").map((label) => label.trim()));
  return [...query.matchAll(METRIC)].map(([, name, matchers = ""]) => {
    const matched = [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!);
    return { name: name!, labels: [...matched, ...groupedBy].filter((label) => !OF_PROMETHEUS.has(label)) };
  });
};

/** Names and labels of all series on /metrics. */
export const exported = (texts: readonly string[]): Map<string, Set<string>> => {
  const labelsByMetric = new Map<string, Set<string>>();
  for (const [, name, labels = ""] of texts.join("\n").matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)) {
    const knownLabels = labelsByMetric.get(name!) ?? new Set();
    for (const [, label] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) knownLabels.add(label!);
    labelsByMetric.set(name!, knownLabels);
  }
  return labelsByMetric;
};
