import { tmpdir } from "node:os";
import { join } from "node:path";
import { RETENTION } from "@nodeloom/kernel";
import {
  addressVariables,
  listenVariable,
  payloadKeys,
  temporalVariables,
  variables as common,
  workerVariables,
  type TemporalSecurityConfig,
  type TlsConfig,
} from "@nodeloom/platform";
import { z } from "zod";
import { moderationVariables } from "./moderation/settings";

const MAX_RETENTION_DAYS = 3_650;
const DEFAULT_SPOOL_MB = 2_048;

export const variables = {
  ...listenVariable("executions"),
  ...addressVariables("executions"),
  MONGODB_URI: common.MONGODB_URI,
  MONGODB_DATABASE_PREFIX: common.MONGODB_DATABASE_PREFIX,
  REDIS_URL: common.REDIS_URL,
  REDIS_KEY_PREFIX: common.REDIS_KEY_PREFIX,
  ...temporalVariables,
  ...workerVariables,
  TEMPORAL_PAYLOAD_KEYS: payloadKeys().describe(
    "keys (64 hexadecimal digits each, comma separated) under which prompts, settings and results are encrypted in Temporal; the first encrypts, all decrypt. `unencrypted` as one of them takes what is not encrypted, too",
  ),
  PUBLIC_BASE_URL: common.PUBLIC_BASE_URL,
  FORMER_PUBLIC_BASE_URLS: common.FORMER_PUBLIC_BASE_URLS,
  PROVIDER_EGRESS_ALLOW: common.PROVIDER_EGRESS_ALLOW,
  USER_EGRESS_ALLOW: common.USER_EGRESS_ALLOW,
  RETENTION_EXECUTIONS_DAYS: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_RETENTION_DAYS)
    .default(RETENTION.executions.days)
    .describe("days for which executions are kept, with their events, calls, inputs and results"),
  EXECUTIONS_DATA_DIR: z
    .string()
    .default(join(tmpdir(), "nodeloom-executions"))
    .describe("folder for files that providers returned while media was unavailable; it must survive a restart of the process"),
  EXECUTIONS_SPOOL_MB: z.coerce
    .number()
    .int()
    .min(0)
    .default(DEFAULT_SPOOL_MB)
    .describe("maximum size of the files in EXECUTIONS_DATA_DIR, in MiB"),
  EXECUTIONS_REPLICAS: z.coerce
    .number()
    .int()
    .min(1)
    .default(1)
    .describe("number of processes to assume for limits of providers if this process starts while Redis is unavailable"),
  ...moderationVariables,
};

export type Config = z.infer<z.ZodObject<typeof variables>> & TlsConfig & TemporalSecurityConfig & { SHUTDOWN_GRACE_MS: number };
