import type { Outbox } from "../lifecycle/outbox";
import { createBurying, type BuryingOptions } from "./burying";
import { createCarrying, type CarryingOptions } from "./carriers";
import { createRunDeletion, type RunDeletionOptions } from "./deletion";
import { createLeaving, type LeavingParts } from "./leaving";
import { createManyErasures } from "./many";
import { createStopAccount, type StopAccountOptions } from "./stop-account";

export interface ErasureFloorOptions
  extends Omit<LeavingParts, "stopAccount">, Pick<RunDeletionOptions, "awaitDelivered">, Pick<StopAccountOptions, "cancellation"> {
  batches: LeavingParts["batches"] & Pick<StopAccountOptions, "orders">;
  stores: LeavingParts["stores"] & BuryingOptions["stores"] & RunDeletionOptions["stores"];
  services: LeavingParts["services"] & CarryingOptions;
  erasures: LeavingParts["erasures"] & BuryingOptions["erasures"];
  leaver: LeavingParts["leaver"] & BuryingOptions["leaver"];
  outbox: Pick<Outbox, "deliver" | "deliverLater">;
}

/** Wires the deletion of runs, of many runs, and of accounts. */
export const wireErasure = ({ outbox, awaitDelivered, ...options }: ErasureFloorOptions) => {
  const { stores, erasures, leaver, services, batches, cancellation, logger } = options;
  const stopAccount = createStopAccount({ store: stores.leaving, orders: batches.orders, cancellation, logger });
  const carriersOf = createCarrying(services);
  return {
    stopAccount,
    leaving: createLeaving({ ...options, stopAccount }),
    carriersOf,
    burying: createBurying({ stores, outbox, erasures, leaver }),
    runDeletion: createRunDeletion({ stores, outbox, awaitDelivered }),
    manyErasures: createManyErasures({ stores, carriersOf }),
  };
};
