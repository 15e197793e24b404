import { RETENTION } from "@nodeloom/kernel";
import {
  addressVariables,
  hostPort,
  listenVariable,
  payloadKeys,
  temporalSecurityVariables,
  variables as common,
  type TemporalSecurityConfig,
  type TlsConfig,
} from "@nodeloom/platform";
import { z } from "zod";
import { mailVariables } from "./mail/settings";

const MAX_RETENTION_DAYS = 3_650;

export const variables = {
  ...listenVariable("notifications"),
  ...addressVariables("notifications"),
  MONGODB_URI: common.MONGODB_URI,
  MONGODB_DATABASE_PREFIX: common.MONGODB_DATABASE_PREFIX,
  REDIS_URL: common.REDIS_URL,
  REDIS_KEY_PREFIX: common.REDIS_KEY_PREFIX,
  TEMPORAL_ADDRESS: hostPort().describe("Temporal's frontend"),
  ...temporalSecurityVariables,
  TEMPORAL_NAMESPACE: z.string().default("default").describe("Temporal namespace"),
  TEMPORAL_TASK_QUEUE: z
    .string()
    .default("nodeloom")
    .describe("Temporal task queue of the runs. The queue of notifications has this name with `-notifications`"),
  TEMPORAL_PAYLOAD_KEYS: payloadKeys().describe("as for executions: encrypts the receivers of messages in workflows"),
  MAIL_KEYS: payloadKeys().describe(
    "keys (64 hexadecimal digits each, comma separated) under which mails are encrypted until they are sent; the first encrypts, all decrypt. By default those of TEMPORAL_PAYLOAD_KEYS",
  ),
  ...mailVariables,
  PUBLIC_BASE_URL: common.PUBLIC_BASE_URL,
  USER_EGRESS_ALLOW: common.USER_EGRESS_ALLOW,
  RETENTION_EXECUTIONS_DAYS: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_RETENTION_DAYS)
    .default(RETENTION.executions.days)
    .describe("days for which executions and the state of their webhooks are kept"),
};

export type Config = z.infer<z.ZodObject<typeof variables>> & TlsConfig & TemporalSecurityConfig & { SHUTDOWN_GRACE_MS: number };
