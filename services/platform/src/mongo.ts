import mongoose, { type Connection } from "mongoose";

const SERVER_SELECTION_MS = 5_000;

export interface MongoOptions {
  uri: string;
  database: string;
  /** Connections kept at most. */
  maxPoolSize?: number;
}

/**
 * A connection of its own to one database. Commands fail fast while the server is away; writes are acknowledged by a
 * majority where the server has a replica set.
 */
export const connectMongo = async ({ uri, database, maxPoolSize = 20 }: MongoOptions): Promise<Connection> => {
  const connection = mongoose.createConnection(uri, {
    dbName: database,
    bufferCommands: false,
    autoIndex: false,
    autoCreate: false,
    maxPoolSize,
    serverSelectionTimeoutMS: SERVER_SELECTION_MS,
    writeConcern: { w: "majority" },
  });
  await connection.asPromise();
  return connection;
};

/** MongoDB's code for a violated unique index. */
const DUPLICATE_KEY = 11_000;

export const isDuplicateKey = (error: unknown): boolean =>
  typeof error === "object" && error !== null && (error as { code?: unknown }).code === DUPLICATE_KEY;
