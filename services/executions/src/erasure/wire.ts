import type { Outbox } from "../lifecycle/outbox";
import { createBurying, type BuryingOptions } from "./burying";
import { createCarrying, type CarryingOptions } from "./carriers";
import { createRunDeletion, type RunDeletionOptions } from "./deletion";
import { createManyErasures, type ManyErasuresOptions } from "./many";
import { createStopAccount, type StopAccountOptions } from "./stop-account";

export interface ErasureFloorOptions
  extends Pick<RunDeletionOptions, "awaitDelivered">, Pick<StopAccountOptions, "cancellation" | "logger"> {
  batches: Pick<StopAccountOptions, "orders">;
  stores: BuryingOptions["stores"] &
    RunDeletionOptions["stores"] &
    ManyErasuresOptions["stores"] & { leaving: StopAccountOptions["store"] };
  services: CarryingOptions;
  erasures: BuryingOptions["erasures"];
  leaver: BuryingOptions["leaver"];
  outbox: Pick<Outbox, "deliver" | "deliverLater">;
}

/** Wires the deletion of runs and of many runs, and the end of an account's runs. */
export const wireErasure = (options: ErasureFloorOptions) => {
  const { stores, erasures, leaver, services, batches, cancellation, outbox, awaitDelivered, logger } = options;
  const carriersOf = createCarrying(services);
  return {
    stopAccount: createStopAccount({ store: stores.leaving, orders: batches.orders, cancellation, logger }),
    carriersOf,
    burying: createBurying({ stores, outbox, erasures, leaver }),
    runDeletion: createRunDeletion({ stores, outbox, awaitDelivered }),
    manyErasures: createManyErasures({ stores, carriersOf }),
  };
};
