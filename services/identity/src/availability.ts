import { unavailable } from "@nodeloom/kernel";

/** Errors of the MongoDB driver that mean the server can't be reached now. */
const AWAY_NAMES = new Set([
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
/** What the driver lets through from the socket when the server goes away under a command. */
const AWAY_CODES = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT"]);
/** A replica set that is electing a primary. */
const RETRYABLE_LABEL = "RetryableWriteError";

const isAway = (error: unknown): boolean => {
  if (typeof error !== "object" || error === null) return false;
  const { name, code, errorLabels } = error as { name?: unknown; code?: unknown; errorLabels?: unknown };
  return (
    (typeof name === "string" && AWAY_NAMES.has(name)) ||
    (typeof code === "string" && AWAY_CODES.has(code)) ||
    (Array.isArray(errorLabels) && errorLabels.includes(RETRYABLE_LABEL))
  );
};

/** Waits for a result; while the database is away the caller hears SERVICE_UNAVAILABLE instead of an internal error. */
export const whileAvailable = async <T>(result: Promise<T>): Promise<T> => {
  try {
    return await result;
  } catch (error) {
    throw isAway(error) ? unavailable("the identity database is away") : error;
  }
};
