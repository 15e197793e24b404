import type { MediaUrls } from "@nodeloom/kernel";
import type { Logger } from "@nodeloom/platform";
import type { Billing, Identity, Media, Transform, Workflows } from "../clients";
import type { ModelCatalog } from "../plan/model-catalog";
import type { Planning } from "../plan/planning";
import type { EventChannel } from "../record/runs/channel";
import type { Stores } from "../record/stores";
import type { Cancellation } from "../accept/cancellation";
import type { Runs } from "../accept/runs";
import { createBeginItem } from "./begin-item";
import { createRunBatch } from "./run-batch";
import { createOrders, type OrdersOptions } from "./orders";
import { createOutageOf, type OutageOptions } from "./outages";
import { createPricing, type PricingOptions } from "./pricing";
import { createBatchReads, type WithDeliveries } from "./reads";
import { createJudging } from "./tests/judging";
import { createMeasuring } from "./tests/measuring";
import { createReadTested } from "./tests/reading";
import { createTestReads } from "./tests/reads";
import { createTestRunning } from "./tests/running";
import { createCurrentRunner } from "./current-runner";
import { createReadTable } from "./table";

export interface BatchesOptions {
  urls: MediaUrls;
  publicBaseUrl: string;
  stores: Stores;
  services: { billing: Billing; identity: Identity; media: Media; transform: Transform; workflows: Workflows };
  planning: Planning;
  reruns: PricingOptions["reruns"];
  catalog: ModelCatalog;
  runs: Runs;
  cancellation: Cancellation;
  channel: EventChannel;
  nextTrial: OutageOptions["nextTrial"];
  starter: OrdersOptions["starter"];
  withDeliveries?: WithDeliveries;
  logger: Logger;
}

export const createBatches = (options: BatchesOptions) => {
  const {
    stores,
    services,
    planning,
    reruns,
    catalog,
    runs,
    cancellation,
    channel,
    urls,
    publicBaseUrl,
    nextTrial,
    starter,
    withDeliveries,
    logger,
  } = options;
  const pricing = createPricing({ planning, reruns, billing: services.billing });
  const readTable = createReadTable({ media: services.media, workflows: services.workflows, catalog, urls });
  const { media, workflows } = services;
  const readTested = createReadTested({ stores, media, urls, publicBaseUrl });
  const judging = createJudging({ readTested, workflows });
  const { transform } = services;
  const measuring = createMeasuring({ stores, readTested, catalog, runs, cancellation, media, transform, urls });
  const orders = createOrders({ stores, pricing, readTable, starter, channel, logger });
  return {
    orders,
    testRunning: createTestRunning({ stores, orders, workflows }),
    testReads: createTestReads({ stores, judging }),
    reads: createBatchReads(stores, withDeliveries),
    carry: createRunBatch({
      stores,
      beginItem: createBeginItem({ stores, runs, logger }),
      cancellation,
      channel,
      judging,
      outageOf: createOutageOf({ catalog, nextTrial }),
      measuring,
      currentRunner: createCurrentRunner(services),
    }),
  };
};
