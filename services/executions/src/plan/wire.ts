import type { MediaUrls } from "@nodeloom/kernel";
import type { AddressRulesOptions, Logger } from "@nodeloom/platform";
import type { Services } from "../clients";
import type { Stores } from "../record/stores";
import { createMeasure, type MeasureOptions } from "./measures";
import type { ModelCatalog } from "./model-catalog";
import { createSmallFirstPlanner } from "./planner/local";
import { createPlannerThreads } from "./planner/threads";
import { createPlanning, type PlanningOptions } from "./planning";
import { createRequireSecrets } from "./secrets";

export interface PlanFloorOptions extends Pick<PlanningOptions, "requirePrograms">, Pick<MeasureOptions, "isUnavailable"> {
  stores: Pick<Stores, "callStatistics">;
  services: Pick<Services, "identity" | "media" | "workflows">;
  catalog: ModelCatalog;
  /** Rules for addresses that users enter. */
  addresses: AddressRulesOptions & { own: string };
  urls: MediaUrls;
  logger: Logger;
}

export const wirePlanning = ({ services, stores, catalog, addresses, urls, requirePrograms, isUnavailable, logger }: PlanFloorOptions) => {
  const { identity, media, workflows } = services;
  const threads = createPlannerThreads({ logger, addresses });
  const planning = createPlanning({
    ...{ workflows, media, urls, catalog, requirePrograms },
    requireSecrets: createRequireSecrets(identity),
    measure: createMeasure({ statistics: stores.callStatistics, isUnavailable, logger }),
    planner: createSmallFirstPlanner(threads, { addresses }),
  });
  return { planning, threads };
};
