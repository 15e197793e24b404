import type { Outbox } from "../lifecycle/outbox";
import { createBurying, type BuryingOptions } from "./burying";
import { createCarrying, type CarryingOptions } from "./carriers";
import { createRunDeletion, type RunDeletionOptions } from "./deletion";
import { createLeaving, type LeavingParts } from "./leaving";
import { createManyErasures } from "./many";

export interface ErasureFloorOptions extends LeavingParts, Pick<RunDeletionOptions, "awaitDelivered"> {
  stores: LeavingParts["stores"] & BuryingOptions["stores"] & RunDeletionOptions["stores"];
  services: LeavingParts["services"] & CarryingOptions;
  erasures: LeavingParts["erasures"] & BuryingOptions["erasures"];
  leaver: LeavingParts["leaver"] & BuryingOptions["leaver"];
  outbox: Pick<Outbox, "deliver" | "deliverLater">;
}

/** Wires the deletion of runs, of many runs, and of accounts. */
export const wireErasure = ({ outbox, awaitDelivered, ...options }: ErasureFloorOptions) => {
  const { stores, erasures, leaver, services } = options;
  const carriersOf = createCarrying(services);
  return {
    leaving: createLeaving(options),
    carriersOf,
    burying: createBurying({ stores, outbox, erasures, leaver }),
    runDeletion: createRunDeletion({ stores, outbox, awaitDelivered }),
    manyErasures: createManyErasures({ stores, carriersOf }),
  };
};
