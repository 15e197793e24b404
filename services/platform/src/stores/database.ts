import { setTimeout as delay } from "node:timers/promises";
import type { Connection, Model } from "mongoose";
import { z } from "zod";
import { ConfigError, loadConfig, variables, type ConfigOf, type ConfigSchema, type Environment } from "../config";
import type { Logger } from "../telemetry/logger";
import { onceThere } from "../work/startup";
import { connectMongo, isDatabaseUnavailable, type MongoOptions } from "./mongo";

/** Schema version of a service's database. It covers everything that the database and other stores need before the service starts. */

interface SchemaRecord {
  _id: "schema";
  /** The newest version that the database has reached. */
  version: number;
  at: Date;
}

const records = (connection: Connection) => connection.collection<SchemaRecord>("migrations");

/** Version of every database in 1.0.0, the first release. A service increments its version with every change of its declarations. */
export const FIRST_VERSION = 10;

/**
 * Version of a database; 0 for a new one.
 * @throws ConfigError for a database created before 1.0.0
 */
const versionOf = async (connection: Connection): Promise<number> => {
  const version = (await records(connection).findOne({ _id: "schema" }))?.version ?? 0;
  if (version > 0 && version < FIRST_VERSION)
    throw new ConfigError("this store is from before 1.0.0 and can't be read: remove it with `npm run reset`, or drop its databases");
  return version;
};

export interface MigrationReport {
  service: string;
  /** Version before the migration; 0 for a new database. */
  from: number;
  to: number;
}

export interface Database {
  service: string;
  /** Version that the service's code needs. It is incremented with every change of the declarations. */
  version: number;
  config: ConfigSchema;
  /**
   * Migrates the database to the version. Repeated and parallel calls are safe, and services can run during the migration. A database with
   * a newer version stays unchanged. If a server is unavailable, the migration waits as a starting service does.
   * @throws ConfigError, also for a database created before 1.0.0; errors of the servers
   */
  migrate(env: Environment, logger?: Logger): Promise<MigrationReport>;
}

const baseVariables = { MONGODB_URI: variables.MONGODB_URI, MONGODB_DATABASE_PREFIX: variables.MONGODB_DATABASE_PREFIX };
type BaseConfig = ConfigOf<typeof baseVariables>;

export interface DatabaseDefinition<V extends Record<string, z.ZodType>> {
  service: string;
  version: number;
  /** Declares all models of the service on a connection. */
  declare(connection: Connection): void;
  /** Environment variables that `others` reads. */
  variables?: V;
  /** Creates resources outside the database, if they don't exist yet. */
  others?(config: BaseConfig & ConfigOf<V>): Promise<void>;
  /** Moves rows from another service's database, by id, until none is left. It can stop and resume after any row. */
  fill?: { from: string; move(own: Connection, from: Connection): Promise<number> };
}

const connect = (
  service: string,
  { MONGODB_URI: uri, MONGODB_DATABASE_PREFIX: prefix }: BaseConfig,
  options: Pick<MongoOptions, "logger" | "isMigration">,
) => connectMongo({ uri, database: `${prefix}${service}`, ...options });

const PROGRESS_MS = 10_000;

/**
 * Builds a model's missing indexes, and says so while it takes long. Indexes of earlier releases stay, because processes of these can still
 * run.
 */
const buildIndexes = async (model: Model<unknown>, logger?: Logger): Promise<void> => {
  const { toCreate, toDrop } = await model.diffIndexes();
  if (toDrop.length > 0) logger?.info({ collection: model.collection.name, indexes: toDrop }, "indexes of earlier releases can be dropped");
  if (toCreate.length === 0) return;
  const [startedAt, documents] = [Date.now(), await model.estimatedDocumentCount()];
  const report = (message: string): void =>
    logger?.info({ collection: model.collection.name, indexes: toCreate.length, documents, ms: Date.now() - startedAt }, message);
  const timer = setInterval(() => report("building indexes"), PROGRESS_MS);
  try {
    await model.createIndexes();
  } finally {
    clearInterval(timer);
  }
  if (documents > 0) report("built indexes");
};

/** Creates missing collections and indexes of all models on a connection. */
export const makeCollections = async (connection: Connection, logger?: Logger): Promise<void> => {
  for (const model of Object.values(connection.models)) {
    await model.createCollection();
    await buildIndexes(model, logger);
  }
};

/** A service's own connection string, such as `BILLING_MONGODB_URI`, for installations in which each service has a database user. */
export const uriOf = (service: string, env: Environment): string | undefined => env[`${service.toUpperCase()}_MONGODB_URI`] || undefined;

type Fill = NonNullable<DatabaseDefinition<never>["fill"]>;

const fillFrom = async ({ from, move }: Fill, own: Connection, config: BaseConfig, logger?: Logger): Promise<void> => {
  const source = await connect(from, config, { logger, isMigration: true });
  try {
    const moved = await move(own, source);
    if (moved > 0) logger?.info({ from, moved }, "moved rows");
  } finally {
    await source.close();
  }
};

/** Declares a service's models with their indexes, and its resources on other servers. */
export const defineDatabase = <V extends Record<string, z.ZodType> = Record<never, never>>(definition: DatabaseDefinition<V>): Database => {
  const { service, version, declare, others, fill } = definition;
  const config = z.object({ ...baseVariables, ...definition.variables });
  return {
    service,
    version,
    config,
    migrate: async (env, logger) => {
      const settings = loadConfig(config, env) as BaseConfig & ConfigOf<V>;
      const connection = await connect(service, settings, { logger, isMigration: true });
      try {
        declare(connection);
        const from = await versionOf(connection);
        await makeCollections(connection, logger);
        await others?.(settings);
        // During the first migration, processes of the previous release may still serve the rows.
        if (fill && from >= version)
          await fillFrom(fill, connection, { ...settings, MONGODB_URI: uriOf(fill.from, env) ?? settings.MONGODB_URI }, logger);
        await records(connection).updateOne({ _id: "schema" }, { $max: { version }, $set: { at: new Date() } }, { upsert: true });
        return { service, from, to: Math.max(from, version) };
      } finally {
        await connection.close();
      }
    },
  };
};

const PAUSE_MS = 200;
const LOOKS_PER_LINE = 50;
/** Longer than any migration for which services must wait. */
const WAIT_MS = 600_000;

/**
 * Resolves when the database has at least the version that the service needs. Services never migrate it, because every replica would do so
 * at every start.
 * @throws ConfigError for a database created before 1.0.0; Error if no migration ran within ten minutes
 */
export const untilMigrated = async (
  connection: Connection,
  { service, version }: Pick<Database, "service" | "version">,
  logger: Logger,
): Promise<void> => {
  for (let looks = 0; looks * PAUSE_MS < WAIT_MS; looks += 1) {
    const reportedVersion = await onceThere({ server: "MongoDB", isUnavailable: isDatabaseUnavailable, logger }, () =>
      versionOf(connection),
    );
    if (reportedVersion >= version) return;
    if (looks % LOOKS_PER_LINE === 0)
      logger.warn(
        { service, version: reportedVersion, needed: version },
        `waiting for the database: run \`node services/migrate ${service}\``,
      );
    await delay(PAUSE_MS);
  }
  throw new Error(`nobody ran \`node services/migrate ${service}\``);
};

/**
 * Connects a starting service to its database, after the database is available and has the needed version.
 * @throws if the database is unavailable for a minute, isn't migrated within ten minutes, or was created before 1.0.0
 */
export const openDatabase = async (
  database: Pick<Database, "service" | "version">,
  config: BaseConfig,
  logger: Logger,
): Promise<Connection> => {
  const connection = await connect(database.service, config, { logger });
  try {
    await untilMigrated(connection, database, logger);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
};
