/** Measures recent calls of models for planning: speed, errors, and whether the provider answers. */
import type { Measures } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import { LRUCache } from "lru-cache";
import type { CallStatisticsStore, MeasuredCall } from "../record/calls/calls";
import type { CatalogModel } from "./model-catalog";

/** Fewer calls say too little about a model. */
const LEAST_CALLS = 3;
const CACHED_MODELS = 500;
/** Plans use measures that are at most this old. */
const CACHED_MS = 30_000;

type CallMeasures = Omit<Measures, "isUnavailable">;
export type Measure = (models: readonly Pick<CatalogModel, "internalName" | "providerJson">[]) => Promise<Measures[]>;

const UNKNOWN: CallMeasures = { calls: 0, errorRate: null, p50Ms: null };

const median = (values: readonly number[]): number => values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) / 2)]!;

/** True if a call failed, and neither its inputs nor its user were the cause. */
const hasFailed = ({ status, refused, error }: MeasuredCall): boolean =>
  status === "failed" && refused !== true && error?.fault !== "input" && error?.code !== "CONTENT_REFUSED";

/** Calls that failed because of their inputs don't count. */
export const measured = (recent: readonly MeasuredCall[]): CallMeasures => {
  const completed = recent.filter(({ status }) => status === "completed");
  const calls = completed.length + recent.filter(hasFailed).length;
  if (calls < LEAST_CALLS) return { ...UNKNOWN, calls };
  const durations = completed.flatMap(({ sentAt, endedAt }) => (sentAt && endedAt ? [endedAt.getTime() - sentAt.getTime()] : []));
  return {
    calls,
    errorRate: (calls - completed.length) / calls,
    p50Ms: durations.length < LEAST_CALLS ? null : median(durations),
  };
};

export interface MeasureOptions {
  statistics: CallStatisticsStore;
  /** True while calls to the model's provider are held back. */
  isUnavailable: (providerJson: string) => boolean;
  logger: Logger;
}

/** If statistics can't be read, models count as not measured: a run doesn't depend on them. */
export const createMeasure = ({ statistics, isUnavailable, logger }: MeasureOptions): Measure => {
  const measurements = new LRUCache<string, Promise<CallMeasures>>({
    max: CACHED_MODELS,
    ttl: CACHED_MS,
    memoMethod: (model) =>
      statistics.recent(model, Date.now()).then(measured, (error: unknown) => {
        logger.warn({ err: error, model }, "calls of a model can't be measured");
        return UNKNOWN;
      }),
  });
  return (models) =>
    Promise.all(
      models.map(async ({ internalName, providerJson }) => ({
        ...(await measurements.memo(internalName)),
        isUnavailable: isUnavailable(providerJson),
      })),
    );
};
