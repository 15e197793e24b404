import { defineDatabase, FIRST_VERSION } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { createDeliveryStore } from "./store/deliveries";
import { createMailStore } from "./store/mails";

export const createStores = (connection: Connection) => ({
  deliveries: createDeliveryStore(connection),
  mails: createMailStore(connection),
});

/** Messages and their delivery state. Raise the version with every change of a collection's indexes. */
export const database = defineDatabase({
  service: "notifications",
  version: FIRST_VERSION + 1,
  declare: (connection) => void createStores(connection),
});
