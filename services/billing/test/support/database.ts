import { createLogger } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { openOwnStores } from "../../../../test-support/stores";
import { createStore, type BillingStore } from "../../src/store";

export const logger = createLogger("billing-test", "silent");

export interface OwnStore {
  store: BillingStore;
  connection: Connection;
  stop(): Promise<void>;
}

/** @param declare adds other collections to the database */
export const ownStore = async (declare?: (connection: Connection) => unknown): Promise<OwnStore> => {
  const { stores: store, ...rest } = await openOwnStores("billing", (connection) => {
    const billingStore = createStore(connection);
    declare?.(connection);
    return billingStore;
  });
  return { store, ...rest };
};
