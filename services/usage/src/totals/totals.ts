/** Counts and sums final rows, so that lists and summaries don't scan rows. */

import { isSlug, member } from "@nodeloom/kernel";
import type { DailySumsQuery, ModelNamesQuery, RowsQuery } from "../requests";
import type { CountedPart } from "../store";

/**
 * Totals count a user's final rows for each filter that lists support. A row counts for its user and for the user's workflow, models, and
 * pairs of both, each by source and status. Daily sums are kept for each model. This module is pure arithmetic; totals-store stores the
 * results.
 */

/** A tree of named numbers. */
export interface Numbers {
  readonly [name: string]: number | Numbers;
}

/** Additions to one total, by path. */
export type Delta = Map<string, number>;

/** Additions by total. */
export interface Deltas {
  counts: Map<string, Delta>;
  days: Map<string, Delta>;
}

export interface DailySum {
  /** Date in the form YYYY-MM-DD, in UTC. */
  day: string;
  /** Name of the model; empty for all runs of the day. */
  model: string;
  runs: number;
  millicredits: number;
}

const ANY = "";
export const MS_PER_DAY = 24 * 60 * 60 * 1_000;
/** Names for the day's sum over all models, and for models whose names can't be member names. Neither is a valid slug. */
const ALL_MODELS = "_all";
const OTHER_MODELS = "_other";

/** Returns the key of a total. An empty workflow or model means any. */
export const totalKey = (userId: string, workflowSlug: string, modelId: string): string => JSON.stringify([userId, workflowSlug, modelId]);

/** Returns the key of a daily sum. */
export const dayKey = (userId: string, day: string): string => JSON.stringify([userId, day]);

/** Returns the key range of a user. Both key forms have the same prefix. */
export const keysOfUser = (userId: string): { $gte: string; $lt: string } => {
  const start = `[${JSON.stringify(userId)},`;
  return { $gte: start, $lt: `${start}\uffff` };
};

export const dayOf = (time: Date): string => time.toISOString().slice(0, "YYYY-MM-DD".length);

/** Returns the days of a range, including both ends. */
export const daysBetween = (fromDay: string, toDay: string): string[] => {
  const days: string[] = [];
  for (let at = Date.parse(fromDay); at <= Date.parse(toDay); at += MS_PER_DAY) days.push(dayOf(new Date(at)));
  return days;
};

/** Returns the keys of the totals that count a row, starting with the user's own total. */
const keysOf = ({ userId, workflowSlug, modelIds }: CountedPart): string[] => {
  const workflows = workflowSlug === null || workflowSlug === ANY ? [ANY] : [ANY, workflowSlug];
  const models = [ANY, ...new Set(modelIds)];
  return workflows.flatMap((workflow) => models.map((model) => totalKey(userId, workflow, model)));
};

/** Returns the credits for each model. A row without `modelCredits` has one model, or the split is unknown. */
const modelCreditsOf = ({ modelIds, modelCredits, millicredits }: CountedPart): [model: string, millicredits: number][] => {
  if (modelCredits.length > 0) return modelCredits.map((each) => [each.model, each.millicredits]);
  const [only, ...more] = new Set(modelIds);
  return only === undefined ? [] : [[more.length === 0 ? only : OTHER_MODELS, millicredits]];
};

const add = (into: Map<string, Delta>, key: string, path: string, number: number): void => {
  const delta = into.get(key) ?? new Map<string, number>();
  into.set(key, delta.set(path, (delta.get(path) ?? 0) + number));
};

const addDay = (days: Map<string, Delta>, row: CountedPart, sign: number): void => {
  const key = dayKey(row.userId, dayOf(row.createdAt));
  const sum = (model: string, millicredits: number): void => {
    const path = `sums.${row.source}.${model === ALL_MODELS || isSlug(model) ? model : OTHER_MODELS}`;
    add(days, key, `${path}.runs`, sign);
    add(days, key, `${path}.millicredits`, sign * millicredits);
  };
  sum(ALL_MODELS, row.millicredits);
  for (const [model, millicredits] of modelCreditsOf(row)) sum(model, millicredits);
};

/** Returns the additions for rows, or the subtractions if the sign is negative. */
export const deltasOf = (rows: readonly CountedPart[], sign: 1 | -1): Deltas => {
  const deltas: Deltas = { counts: new Map(), days: new Map() };
  for (const row of rows) {
    const [own, ...others] = keysOf(row);
    for (const key of [own!, ...others]) add(deltas.counts, key, `counts.${row.source}.${row.status}`, sign);
    for (const model of new Set(row.modelIds)) if (isSlug(model)) add(deltas.counts, own!, `models.${row.source}.${model}`, sign);
    addDay(deltas.days, row, sign);
  }
  return deltas;
};

/** Returns the first rows that together count in at most `most` totals; at least one row. */
export const withinWeight = (rows: readonly CountedPart[], most: number): CountedPart[] => {
  let weight = 0;
  const end = rows.findIndex((row, index) => (weight += keysOf(row).length) > most && index > 0);
  return end < 0 ? [...rows] : rows.slice(0, end);
};

const isWanted = (wantedSources: readonly string[], source: string): boolean =>
  wantedSources.length === 0 || wantedSources.includes(source);

const members = (tree: number | Numbers | undefined): [string, number | Numbers][] =>
  typeof tree === "object" ? Object.entries(tree) : [];
const numberIn = (value: number | Numbers | undefined): number => (typeof value === "number" ? value : 0);

export const countIn = (counts: Numbers, { status, sources }: Pick<RowsQuery, "status" | "sources">): number => {
  let count = 0;
  for (const [source, byStatus] of members(counts)) {
    if (!isWanted(sources, source)) continue;
    for (const [name, number] of members(byStatus)) if (status === "" || status === name) count += numberIn(number);
  }
  return count;
};

export const matches =
  ({ status, modelId, workflowSlug, sources }: RowsQuery) =>
  (row: CountedPart): boolean =>
    (status === "" || row.status === status) &&
    (modelId === "" || row.modelIds.includes(modelId)) &&
    (workflowSlug === "" || row.workflowSlug === workflowSlug) &&
    isWanted(sources, row.source);

/** Returns the sorted models in a user's total and in rows outside the total. */
export const modelNamesIn = (models: Numbers, rows: readonly CountedPart[], { sources }: ModelNamesQuery): string[] => {
  const counted = members(models).flatMap(([source, byModel]) =>
    isWanted(sources, source) ? members(byModel).flatMap(([model, count]) => (numberIn(count) > 0 ? [model] : [])) : [],
  );
  const others = rows.flatMap((row) => (isWanted(sources, row.source) ? row.modelIds : []));
  return [...new Set([...counted, ...others])].sort();
};

const SHOWN_MODELS: Readonly<Record<string, string>> = { [ALL_MODELS]: "", [OTHER_MODELS]: "other models" };

/** Returns sums by day and model, from daily totals and from final rows outside them. */
export const dailySumsIn = (
  days: readonly { day: string; sums: Numbers }[],
  others: readonly CountedPart[],
  { userId, sources }: Pick<DailySumsQuery, "userId" | "sources">,
): DailySum[] => {
  const recent = deltasOf(others, 1).days;
  return days.flatMap(({ day, sums }) => {
    const byModel = new Map<string, DailySum>();
    const put = (source: string, model: string, runs: number, millicredits: number): void => {
      if (!isWanted(sources, source)) return;
      const name = member(SHOWN_MODELS, model) ?? model;
      const sum = byModel.get(name) ?? { day, model: name, runs: 0, millicredits: 0 };
      byModel.set(name, { ...sum, runs: sum.runs + runs, millicredits: sum.millicredits + millicredits });
    };
    for (const [source, models] of members(sums)) {
      for (const [model, sum] of members(models)) {
        const { runs, millicredits } = sum as Record<"runs" | "millicredits", number>;
        put(source, model, runs, millicredits);
      }
    }
    for (const [path, number] of recent.get(dayKey(userId, day)) ?? []) {
      const [, source = "", model = "", member] = path.split(".");
      put(source, model, member === "runs" ? number : 0, member === "runs" ? 0 : number);
    }
    return [...byModel.values()].filter(({ runs }) => runs > 0).sort((one, other) => (one.model < other.model ? -1 : 1));
  });
};
