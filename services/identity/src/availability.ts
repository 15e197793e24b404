import { unavailable } from "@nodeloom/kernel";

/** Errors of the MongoDB driver and of mongoose that mean the server can't be reached now. */
const AWAY = new Set([
  "MongoNetworkError",
  "MongoNetworkTimeoutError",
  "MongoNotConnectedError",
  "MongoPoolClearedError",
  "MongoPoolClosedError",
  "MongoServerSelectionError",
  "MongoTopologyClosedError",
  "MongooseServerSelectionError",
  "PoolClearedOnNetworkError",
]);

/** Waits for a result; while the database is away the caller hears SERVICE_UNAVAILABLE instead of an internal error. */
export const whileAvailable = async <T>(result: Promise<T>): Promise<T> => {
  try {
    return await result;
  } catch (error) {
    throw error instanceof Error && AWAY.has(error.name) ? unavailable("the identity database is away") : error;
  }
};
