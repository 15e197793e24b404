/**
 * Cancels runs of suspended accounts for the relay. Identity stores each stop until its runs are cancelled. Requests that were admitted
 * just before a stop start their runs slightly later, so a stop is repeated until it is settled and no run is left.
 */
import type { RelayedRows } from "@nodeloom/platform";
import type { identity as proto } from "@nodeloom/proto";
import type { Identity } from "../clients";
import type { StopAccount } from "../erasure/stop-account";

export interface RelayedRunStopsOptions {
  identity: Pick<Identity, "listRunStops" | "finishRunStop">;
  stopAccount: StopAccount;
}

export const createRelayedRunStops = ({ identity, stopAccount }: RelayedRunStopsOptions): RelayedRows<proto.RunStop> => ({
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
    for (const ownerId of [userId, ...organizationIds]) left += await stopAccount(ownerId, { createdBy: lifted ? at : undefined });
    if (settled && left === 0) await identity.finishRunStop({ stop: stop! });
    return true;
  },
});
