/** stores/: connections to MongoDB and Redis, and helpers that use only these. */
import type { Connection } from "mongoose";
import type { Logger } from "../telemetry/logger";
import { onceThere } from "../work/startup";
import { failClosedWrites } from "./closed-writes";

const SERVER_SELECTION_MS = 5_000;
/** Longer than the election of a primary, which can take 12 s. */
const MIGRATION_SELECTION_MS = 15_000;
/** A server that stops responding must not block callers forever. */
const SOCKET_TIMEOUT_MS = 30_000;
const MAX_CONNECTIONS = 20;

export interface MongoOptions {
  uri: string;
  database: string;
  logger?: Logger | undefined;
  /** Maximum wait for the server, in milliseconds. Default: STARTUP_PATIENCE_MS. */
  patienceMs?: number;
  /** True for migrations: commands wait for a primary, and can take any time, as building an index does. */
  isMigration?: boolean;
}

/**
 * Connects to one database. Commands fail fast while the server is unavailable. In a replica set, a majority acknowledges writes, the primary
 * answers reads with its newest data, and the driver repeats a read or write once after an election. The address can't change this: a
 * conditional update decides by the newest data, and a read after it must see why it was refused.
 * @throws the driver's error if the server is still unavailable after `patienceMs`
 */
export const connectMongo = async ({ uri, database, isMigration = false, ...wait }: MongoOptions): Promise<Connection> => {
  // Loaded here, so that processes without a database don't load it.
  const { default: mongoose } = await import("mongoose");
  failClosedWrites();
  const connection = mongoose.createConnection();
  const options = {
    dbName: database,
    bufferCommands: false,
    autoIndex: false,
    autoCreate: false,
    maxPoolSize: MAX_CONNECTIONS,
    serverSelectionTimeoutMS: isMigration ? MIGRATION_SELECTION_MS : SERVER_SELECTION_MS,
    socketTimeoutMS: isMigration ? 0 : SOCKET_TIMEOUT_MS,
    writeConcern: { w: "majority" as const },
    readConcernLevel: "local" as const,
    readPreference: "primary" as const,
    retryReads: true,
    retryWrites: true,
  };
  await onceThere({ server: "MongoDB", isUnavailable: isDatabaseUnavailable, ...wait }, () => connection.openUri(uri, options));
  return connection;
};

const CONNECTED = 1;

export const isConnected = (connection: Connection): boolean => Number(connection.readyState) === CONNECTED;

/** Writes are acknowledged after they are safe from a crash of the server process. */
export const DURABLE = { w: "majority", j: true } as const;

const DUPLICATE_KEY = 11_000;

export const isDuplicateKey = (error: unknown): boolean =>
  typeof error === "object" && error !== null && (error as { code?: unknown }).code === DUPLICATE_KEY;

/** @returns false if a unique index already contains the key */
export const insertOnce = async (insert: PromiseLike<unknown>): Promise<boolean> => {
  try {
    await insert;
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
};

const OUTAGE_NAMES = new Set([
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
/** Socket errors that the driver forwards if the server disappears during a command. */
const OUTAGE_CODES = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT"]);
/** The driver's label for writes that fail during the election of a primary. */
const RETRYABLE_LABEL = "RetryableWriteError";
/**
 * Codes of a server that stops being the primary, or recovers. Reads fail with them without a label.
 * Source: https://github.com/mongodb/specifications, server discovery and monitoring, "not writable primary" and "node is recovering"
 */
const STATE_CHANGE_CODES = new Set([91, 189, 10107, 11600, 11602, 13435, 13436]);

export const isDatabaseUnavailable = (error: unknown): boolean => {
  if (typeof error !== "object" || error === null) return false;
  const { name, code, errorLabels, errorResponse } = error as Record<"name" | "code" | "errorLabels" | "errorResponse", unknown>;
  return (
    (typeof name === "string" && OUTAGE_NAMES.has(name)) ||
    (typeof code === "string" && OUTAGE_CODES.has(code)) ||
    (typeof code === "number" && STATE_CHANGE_CODES.has(code)) ||
    (Array.isArray(errorLabels) && errorLabels.includes(RETRYABLE_LABEL)) ||
    // The error of a bulk write contains the error that ended it.
    (errorResponse instanceof Error && errorResponse !== error && isDatabaseUnavailable(errorResponse))
  );
};
