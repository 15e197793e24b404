import { z } from "zod";
import { ConfigError, loadConfig, processVariables, type ConfigSchema, type Environment, type ProcessConfig } from "./config";
import { createLogger, type Logger } from "./logger";
import { startTelemetry } from "./telemetry";

export interface RunningService {
  /** Ports that were bound, by the name of the variable that asked for them (a test asks for port 0). */
  ports?: Readonly<Record<string, number>>;
  /** Stops accepting, drains, closes connections. Called once. */
  stop(): Promise<void>;
}

export interface StartContext<C> {
  config: Readonly<C> & Readonly<ProcessConfig>;
  logger: Logger;
}

/** A deployable: its name, the environment variables it reads and how it starts. */
export interface ServiceDefinition {
  name: string;
  /** Every variable the service reads, those of every process included. */
  config: ConfigSchema;
  start(env: Environment): Promise<RunningService>;
}

/** Declares a service. `variables` maps environment variables to zod schemas. */
export const defineService = <V extends Record<string, z.ZodType>>(definition: {
  name: string;
  variables: V;
  start(context: StartContext<{ [K in keyof V]: z.infer<V[K]> }>): Promise<RunningService>;
}): ServiceDefinition => {
  const config = z.object({ ...processVariables, ...definition.variables });
  return {
    name: definition.name,
    config,
    start: (env) => {
      const parsed = loadConfig(config, env) as Parameters<typeof definition.start>[0]["config"];
      return definition.start({ config: parsed, logger: createLogger(definition.name, parsed.LOG_LEVEL) });
    },
  };
};

const CONFIG_EXIT_CODE = 78;

/**
 * Runs services in this OS process until SIGTERM, SIGINT or the loss of a supervising parent; then stops them in
 * reverse order within the grace. Tells a supervising parent `{ type: "ready" }` when all have started.
 */
export const runProcess = async (definitions: readonly ServiceDefinition[], env: Environment = process.env): Promise<void> => {
  const name = definitions.map((definition) => definition.name).join("+");
  const logger = createLogger(name);
  const running: RunningService[] = [];
  let stopping = false;

  const stop = async (why: string, exitCode: number, graceMs: number): Promise<void> => {
    if (stopping) return;
    stopping = true;
    logger.info({ why }, "stopping");
    setTimeout(() => process.exit(exitCode || 1), graceMs).unref();
    for (const service of running.reverse()) await service.stop().catch((error: unknown) => logger.error({ err: error }, "stop failed"));
    await stopTelemetry();
    process.exit(exitCode);
  };

  let stopTelemetry = (): Promise<void> => Promise.resolve();
  try {
    const config = loadConfig(z.object(processVariables), env) as ProcessConfig;
    const grace = config.SHUTDOWN_GRACE_MS;
    process.on("uncaughtException", (error) => {
      logger.fatal({ err: error }, "uncaught exception");
      void stop("uncaught exception", 1, grace);
    });
    process.on("unhandledRejection", (error) => {
      logger.fatal({ err: error }, "unhandled rejection");
      void stop("unhandled rejection", 1, grace);
    });
    process.once("SIGTERM", () => void stop("SIGTERM", 0, grace));
    process.once("SIGINT", () => void stop("SIGINT", 0, grace));
    if (process.send) process.once("disconnect", () => void stop("the parent is gone", 0, grace));
    stopTelemetry = await startTelemetry(name, config);
    const started = await Promise.allSettled(definitions.map((definition) => definition.start(env)));
    for (const result of started) if (result.status === "fulfilled") running.push(result.value);
    const failed = started.find((result) => result.status === "rejected");
    if (failed) throw failed.reason;
  } catch (error) {
    const isConfig = error instanceof ConfigError;
    logger.fatal(isConfig ? { reason: error.message } : { err: error }, "could not start");
    if (isConfig) process.stderr.write(`${name}: ${error.message}\n`);
    process.exit(isConfig ? CONFIG_EXIT_CODE : 1);
  }
  logger.info("ready");
  process.send?.({ type: "ready" });
};
