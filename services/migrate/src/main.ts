import { ConfigError, createLogger, uriOf, type Environment, type Logger } from "@nodeloom/platform";
import { databaseOf, SERVICES } from "./databases";

/**
 * `node services/migrate [service…]` creates missing collections, indexes, search attributes and schedules. Services wait for it and create
 * none of these. Run it before deploying new code. It can be repeated, and old and new services can run meanwhile. It reads the variables
 * of the services' databases and of Temporal.
 */

const CONFIG_EXIT_CODE = 78;

const chosenNames = (names: readonly string[]): readonly string[] => {
  const unknown = names.filter((name) => !SERVICES.some((service) => service === name));
  if (unknown.length > 0) throw new ConfigError(`no database of ${unknown.join(", ")}; there are ${SERVICES.join(", ")}`);
  return names.length > 0 ? names : SERVICES;
};

const environmentOf = (service: string, env: Environment): Environment => ({ ...env, MONGODB_URI: uriOf(service, env) ?? env.MONGODB_URI });

/**
 * Migrates the databases of the named services, or of all.
 * @throws ConfigError, AggregateError
 */
export const migrate = async (names: readonly string[], env: Environment, logger: Logger): Promise<void> => {
  const startedAt = Date.now();
  const results = await Promise.allSettled(
    chosenNames(names).map(async (service) => {
      const { from, to } = await databaseOf(service).migrate(environmentOf(service, env), logger);
      logger.info({ service, from, to, ms: Date.now() - startedAt }, from < to ? "migrated" : "nothing to migrate");
    }),
  );
  const failures: unknown[] = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  const misconfigured = failures.filter((failure) => failure instanceof ConfigError);
  if (misconfigured.length > 0) throw new ConfigError([...new Set(misconfigured.map(({ message }) => message))].join("\n"));
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join("\n"));
};

const main = async (): Promise<void> => {
  const logger = createLogger("migrate");
  try {
    await migrate(process.argv.slice(2), process.env, logger);
  } catch (error) {
    logger.fatal({ reason: error instanceof Error ? error.message : String(error) }, "could not migrate");
    process.exitCode = error instanceof ConfigError ? CONFIG_EXIT_CODE : 1;
  }
};

if (require.main === module) void main();
