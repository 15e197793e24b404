/** process/: how a process starts, reports its state on its ops port, and stops. */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import {
  ConfigError,
  loadConfig,
  processVariables,
  type ConfigOf,
  type ConfigSchema,
  type Environment,
  type ProcessConfig,
} from "../config";
import { createLogger, type Logger } from "../telemetry/logger";
import type { Database } from "../stores/database";
import { collectWhenIdle } from "./heap";
import { observedGauge } from "../telemetry/metrics";
import { runChecks, startOps, type Checks, type ProcessState } from "./ops";
import { startTelemetry, type Telemetry } from "./telemetry";

export interface RunningService {
  /** Bound ports, by the variable that requested them. Tests set the variable to port 0. */
  ports?: Readonly<Record<string, number>>;
  checks?: Checks;
  /** Called once before a stop. Requests are still served; clients are sent elsewhere for their next request. */
  drain?(): void;
  /** Stops accepting work, waits for running work and closes connections. Called once. */
  stop(): Promise<void>;
}

export interface StartContext<C> {
  config: Readonly<C> & Readonly<ProcessConfig>;
  logger: Logger;
}

export interface ServiceDefinition {
  name: string;
  config: ConfigSchema;
  /** The database, which must be migrated before the service starts. */
  database?: Database;
  start(env: Environment): Promise<RunningService>;
}

export const defineService = <V extends Record<string, z.ZodType>>(definition: {
  name: string;
  database?: Database;
  variables: V;
  start(context: StartContext<ConfigOf<V>>): Promise<RunningService>;
}): ServiceDefinition => {
  const config = z.object({ ...processVariables, ...definition.variables });
  return {
    name: definition.name,
    config,
    ...(definition.database ? { database: definition.database } : {}),
    start: (env) => {
      const parsed = loadConfig(config, env) as Parameters<typeof definition.start>[0]["config"];
      return definition.start({ config: parsed, logger: createLogger(definition.name, parsed.LOG_LEVEL) });
    },
  };
};

const REST_MS = 2_000;
const MIN_GRACE_MS = 1_000;

/** Maximum time, in milliseconds, for which a stopping process still serves requests. */
export const answeringMs = ({ SHUTDOWN_GRACE_MS }: Pick<ProcessConfig, "SHUTDOWN_GRACE_MS">): number =>
  Math.max(MIN_GRACE_MS, SHUTDOWN_GRACE_MS - REST_MS);

const CONFIG_EXIT_CODE = 78;

const exitMisconfigured = (name: string, error: ConfigError): never => {
  createLogger(name, "info").fatal({ reason: error.message }, "could not start");
  process.stderr.write(`${name}: ${error.message}\n`);
  process.exit(CONFIG_EXIT_CODE);
};

const processConfig = (name: string, env: Environment): ProcessConfig => {
  try {
    return loadConfig(z.object(processVariables), env) as ProcessConfig;
  } catch (error) {
    if (error instanceof ConfigError) return exitMisconfigured(name, error);
    throw error;
  }
};

/**
 * Starts services in parallel and stores each one in `running` at its index.
 * @throws ConfigError with the problems of all configurations, otherwise the first error
 */
const startAll = async (definitions: readonly ServiceDefinition[], env: Environment, running: RunningService[]): Promise<void> => {
  const started = await Promise.allSettled(
    definitions.map(async (definition, index) => {
      running[index] = await definition.start(env);
    }),
  );
  const failures: unknown[] = started.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  const misconfigured = failures.filter((failure) => failure instanceof ConfigError);
  if (misconfigured.length > 0) throw new ConfigError([...new Set(misconfigured.map(({ message }) => message))].join("\n"));
  if (failures.length > 0) throw failures[0];
};

const onEnd = (logger: Logger, stop: (why: string, exitCode: number) => void): void => {
  process.on("uncaughtException", (error) => {
    logger.fatal({ err: error }, "uncaught exception");
    stop("uncaught exception", 1);
  });
  process.on("unhandledRejection", (error) => {
    logger.fatal({ err: error }, "unhandled rejection");
    stop("unhandled rejection", 1);
  });
  // The handler stays after the first signal, because a repeated signal must not interrupt the stop.
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop(signal, 0));
  if (process.send) process.once("disconnect", () => stop("the parent is gone", 0));
};

interface Process {
  name: string;
  config: ProcessConfig;
  logger: Logger;
  /** Services by the index of their definition; undefined until a service has started. */
  running: RunningService[];
  state: ProcessState;
  telemetry?: Telemetry;
  stopOps?: () => Promise<void>;
}

const checksOf = ({ running }: Process): Checks =>
  Object.assign({}, ...running.filter(Boolean).map(({ checks }) => checks ?? {})) as Checks;

/** Runs until the process ends. */
const observeDependencies = (process: Process): void =>
  void observedGauge("nodeloom.dependency.up", "whether what the process depends on can be used (1) or not (0), by name", async () =>
    Object.entries(await runChecks(checksOf(process))).map(([dependency, state]) => ({
      value: state === "ok" ? 1 : 0,
      attributes: { dependency },
    })),
  );

const openOps = async (process: Process): Promise<void> => {
  const { config, name, telemetry, logger } = process;
  if (config.OPS_LISTEN === undefined || telemetry === undefined) return;
  const metrics = telemetry.writeMetrics;
  const options = { listen: config.OPS_LISTEN, name, metrics, state: () => process.state, checks: () => checksOf(process) };
  const { port, stop } = await startOps(options);
  process.stopOps = stop;
  logger.info({ port }, "probes and metrics are answered");
};

const stopEach = async (steps: readonly (() => Promise<void>)[], logger: Logger): Promise<void> => {
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      logger.error({ err: error }, "stop failed");
    }
  }
};

/**
 * Stops the process in this order: it becomes unready; for DRAIN_MS requests are served while load balancers notice; services stop in
 * reverse order within SHUTDOWN_GRACE_MS; the last metrics are sent.
 */
const stopProcess = async (stopped: Process, exitCode: number): Promise<void> => {
  const { config, logger, running } = stopped;
  const wasReady = stopped.state === "ready";
  stopped.state = "draining";
  for (const service of running.filter(Boolean)) service.drain?.();
  if (wasReady && exitCode === 0) await delay(config.DRAIN_MS);
  setTimeout(() => {
    logger.error("the stop took too long and is forced");
    process.exit(exitCode || 1);
  }, config.SHUTDOWN_GRACE_MS);
  const services = [...running.filter(Boolean)].reverse().map((service) => () => service.stop());
  const rest = [stopped.telemetry?.stop, stopped.stopOps].filter((step) => step !== undefined);
  await stopEach([...services, ...rest], logger);
  process.exit(exitCode);
};

/**
 * Runs services in this OS process until SIGTERM, SIGINT, or the end of a supervising parent. Sends the parent `{ type: "ready" }` after
 * all services have started.
 */
export const runProcess = async (definitions: readonly ServiceDefinition[], env: Environment = process.env): Promise<void> => {
  collectWhenIdle();
  const name = definitions.map((definition) => definition.name).join("+");
  const config = processConfig(name, env);
  const logger = createLogger(name, config.LOG_LEVEL);
  const own: Process = { name, config, logger, running: [], state: "starting" };
  let stopping = false;
  const stop = async (why: string, exitCode: number): Promise<void> => {
    if (stopping) return;
    stopping = true;
    logger.info({ why }, "stopping");
    await stopProcess(own, exitCode);
  };

  onEnd(logger, (why, exitCode) => void stop(why, exitCode));
  try {
    own.telemetry = await startTelemetry(name, config);
    await openOps(own);
    observeDependencies(own);
    await startAll(definitions, env, own.running);
  } catch (error) {
    if (error instanceof ConfigError) return exitMisconfigured(name, error);
    logger.fatal({ err: error }, "could not start");
    return stop("could not start", 1);
  }
  if (stopping) return;
  own.state = "ready";
  logger.info("ready");
  if (process.connected) process.send?.({ type: "ready" }, undefined, undefined, () => undefined);
};
