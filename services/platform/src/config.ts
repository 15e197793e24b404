import { z } from "zod";
import { parseRedisAddress, type RedisAddressError } from "./redis-address";

export type Environment = Readonly<Record<string, string | undefined>>;
export type ConfigSchema = z.ZodObject<Record<string, z.ZodType>>;

/** Thrown if the configuration is invalid. The message lists every invalid variable with its purpose. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

const HOST_PORT = /^(\[[0-9a-f:]+\]|[^\s:[\]]+):(\d{1,5})$/i;
const MAX_PORT = 65_535;

const parseHostPort = (address: string): { host: string; port: number } | undefined => {
  const match = HOST_PORT.exec(address);
  const port = Number(match?.[2]);
  return match && port <= MAX_PORT ? { host: match[1]!.replace(/^\[|\]$/g, ""), port } : undefined;
};

/** A `host:port` to listen on or connect to. */
export const hostPort = () => z.string().refine((address) => parseHostPort(address) !== undefined, "must be host:port");

/** Splits `host:port`. IPv6 hosts are in brackets. */
export const splitHostPort = (address: string): { host: string; port: number } => {
  const parsed = parseHostPort(address);
  if (!parsed) throw new ConfigError(`not a host:port: ${address}`);
  return parsed;
};

export const integer = (minimum = 0) => z.coerce.number().int().min(minimum);

/** A comma-separated list. Empty items are dropped. */
export const list = (): z.ZodType<string[]> =>
  z
    .string()
    .default("")
    .transform((value) =>
      value
        .split(",")
        .map((item) => item.trim())
        .filter(Boolean),
    );

/** An address of Redis: of one server, of Sentinels or of a cluster. */
const redisAddress = () =>
  z.string().superRefine((url, { addIssue }) => {
    try {
      parseRedisAddress(url);
    } catch (error) {
      addIssue({ code: "custom", message: (error as RedisAddressError).message });
    }
  });

export const variables = {
  MONGODB_URI: z.string().startsWith("mongodb").describe("MongoDB server, without a database name"),
  MONGODB_DATABASE_PREFIX: z.string().default("nodeloom_").describe("prefix of each service's database"),
  REDIS_URL: redisAddress().describe("Redis server, Sentinels or cluster"),
  REDIS_KEY_PREFIX: z.string().default("nodeloom:").describe("prefix of every Redis key and channel"),
  PUBLIC_BASE_URL: z.url().describe("address of the gateway for clients"),
  FORMER_PUBLIC_BASE_URLS: list()
    .pipe(z.array(z.url()))
    .describe(
      "earlier values of PUBLIC_BASE_URL, comma separated: addresses of files in stored results and workflows that start with one are moved to PUBLIC_BASE_URL when they are read",
    ),
  PROVIDER_EGRESS_ALLOW: list()
    .pipe(z.array(hostPort()))
    .describe("private addresses of providers and their files, as host:port, comma separated (egress guard)"),
  USER_EGRESS_ALLOW: list()
    .pipe(z.array(hostPort()))
    .describe("private addresses that users can choose, as host:port, comma separated (egress guard)"),
} as const;

/** Certificate files for mutual TLS between services. Set all three or none. */
const tlsVariables = {
  TLS_CERT_FILE: z.string().optional().describe("certificate for mutual TLS between services"),
  TLS_KEY_FILE: z.string().optional().describe("private key for mutual TLS between services"),
  TLS_CA_FILE: z.string().optional().describe("certificate authority of all services"),
  TLS_RELOAD_MS: integer(100).default(60_000).describe("interval at which the three files are read again, for renewed certificates"),
};

export const processVariables = {
  NODE_ENV: z.enum(["development", "test", "production"]).default("development").describe("strictness about cookies and origins"),
  LOG_LEVEL: z
    .enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"])
    .default("info")
    .describe("least severe level that is logged"),
  OPS_LISTEN: hostPort()
    .optional()
    .describe(
      "where the process answers /livez, /readyz, /status and /metrics over plain HTTP, for probes and Prometheus; nowhere without it",
    ),
  DRAIN_MS: integer()
    .default(0)
    .describe("time between the signal to stop and the end of accepting work, in which the process reports that it stops"),
  SHUTDOWN_GRACE_MS: integer().default(15_000).describe("time limit of the stop after that, before the process is killed"),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().optional().describe("OpenTelemetry collector (gRPC). Turns on tracing and metrics"),
  TRACES_SHARE: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(0.05)
    .describe(
      "share of the requests that are traced, from 0 to 1; the same for every process, so that a trace is there whole or not at all",
    ),
  OTEL_BSP_SCHEDULE_DELAY: integer(1).default(5_000).describe("interval between sending traces, in milliseconds"),
  ...tlsVariables,
};

export type ConfigOf<V extends Record<string, z.ZodType>> = { [K in keyof V]: z.infer<V[K]> };
export type ProcessConfig = ConfigOf<typeof processVariables>;

/**
 * Parses the environment into a frozen, typed object.
 * @throws ConfigError that names every missing or malformed variable with its purpose
 */
export const loadConfig = <S extends ConfigSchema>(schema: S, env: Environment = process.env): Readonly<z.infer<S>> => {
  const values = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ""));
  const parsed = schema.safeParse(values);
  if (parsed.success) {
    for (const value of Object.values(parsed.data)) Object.freeze(value);
    return Object.freeze(parsed.data);
  }
  const lines = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0] ?? "");
    const purpose = schema.shape[name]?.description;
    const problem = values[name] === undefined ? "is missing" : `is malformed (${issue.message})`;
    return `  ${name} ${problem}${purpose ? `: ${purpose}` : ""}`;
  });
  throw new ConfigError(`configuration is incomplete:\n${lines.join("\n")}`);
};
