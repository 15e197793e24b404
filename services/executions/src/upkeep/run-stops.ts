/**
 * Cancels runs of suspended accounts for the relay. Identity stores each stop until its runs are cancelled. Requests that were admitted
 * just before a stop start their runs slightly later, so a stop is repeated until it is settled and no run is left.
 */
import { isRefusal, unlessNotFound } from "@nodeloom/kernel";
import type { Logger, RelayedRows } from "@nodeloom/platform";
import type { identity as proto } from "@nodeloom/proto";
import type { Cancellation } from "../accept/cancellation";
import type { Orders } from "../batches/orders";
import type { Identity } from "../clients";
import { checkEach } from "../record/look";
import type { Stores } from "../record/stores";

/** Maximum runs of an account that are cancelled per turn. */
const PAGE = 500;

export interface RelayedRunStopsOptions {
  stores: Pick<Stores, "leaving">;
  identity: Pick<Identity, "listRunStops" | "finishRunStop">;
  orders: Pick<Orders, "cancelAll">;
  cancellation: Pick<Cancellation, "cancel">;
  logger: Logger;
}

export const createRelayedRunStops = (options: RelayedRunStopsOptions): RelayedRows<proto.RunStop> => {
  const { stores, identity, orders, cancellation, logger } = options;

  /** @returns the number of runs and batches that were still under way */
  const stopAccount = async (userId: string, createdBy: Date | undefined): Promise<number> => {
    // Batches start new runs, so they end first.
    const batches = await orders.cancelAll({ userId, createdBy });
    const runs = await stores.leaving.underWay(userId, PAGE, createdBy);
    // An accepted run is still undecided. It will soon run or be refused.
    const decidedRuns = runs.filter(({ status }) => status !== "accepted");
    await checkEach(decidedRuns, {
      check: ({ _id }) => unlessNotFound(cancellation.cancel(_id, userId)).then(() => true),
      // A run that can't be cancelled doesn't stop the others.
      failed: ({ _id: executionId }, error) => {
        if (!isRefusal(error)) throw error;
        logger.warn({ err: error, userId, executionId }, "a run of a stopped account was not cancelled yet");
      },
    });
    return batches + runs.length;
  };

  return {
    name: "stops of runs",
    page: async (_limit, after) => (after ? [] : (await identity.listRunStops({})).stops),
    signatureOf: ({ id }) => id,
    // Until it is settled, a stop only waits for requests that were admitted before it.
    entriesOf: ({ settled }) => (settled ? 1 : 0),
    staleMs: 0,
    settle: async ([stop]) => {
      const { userId, organizationIds, lifted, at, settled } = stop!;
      let left = 0;
      // Runs from after the account was allowed again continue.
      for (const ownerId of [userId, ...organizationIds]) left += await stopAccount(ownerId, lifted ? at : undefined);
      if (settled && left === 0) await identity.finishRunStop({ stop: stop! });
      return true;
    },
  };
};
