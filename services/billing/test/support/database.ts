import { randomUUID } from "node:crypto";
import { connectMongo, createLogger, makeCollections } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { createStore, type BillingStore } from "../../src/store";
import { mongodbUri } from "./instance";

export const logger = createLogger("billing-test", "silent");

export interface OwnStore {
  store: BillingStore;
  connection: Connection;
  stop(): Promise<void>;
}

/** @param declare adds other collections to the database */
export const ownStore = async (declare?: (connection: Connection) => unknown): Promise<OwnStore> => {
  const connection = await connectMongo({ uri: mongodbUri(), database: `test_${randomUUID().slice(0, 8)}_billing` });
  const store = createStore(connection);
  declare?.(connection);
  await makeCollections(connection);
  return {
    store,
    connection,
    stop: async () => {
      await connection.dropDatabase();
      await connection.close();
    },
  };
};
