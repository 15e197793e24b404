import { readFileSync } from "node:fs";
import { z } from "zod";
import { ConfigError, hostPort, type ConfigOf } from "../config";

/** Credentials for connections between a process and Temporal. */
export const temporalSecurityVariables = {
  TEMPORAL_TLS: z
    .enum(["true", "false"])
    .default("false")
    .describe("true: connect to Temporal over TLS. Each of the settings below turns it on, too"),
  TEMPORAL_TLS_CA_FILE: z.string().optional().describe("certificate authority of Temporal, if it isn't a public one"),
  TEMPORAL_TLS_CERT_FILE: z.string().optional().describe("client certificate for Temporal, if it requires one"),
  TEMPORAL_TLS_KEY_FILE: z.string().optional().describe("private key of that certificate"),
  TEMPORAL_TLS_SERVER_NAME: z.string().optional().describe("host name in Temporal's certificate, if it differs from TEMPORAL_ADDRESS"),
  TEMPORAL_API_KEY: z.string().optional().describe("API key for Temporal, if it requires one"),
} as const;

export type TemporalSecurityConfig = ConfigOf<typeof temporalSecurityVariables>;

export interface TemporalSecurity {
  tls?: {
    serverNameOverride?: string;
    serverRootCACertificate?: Buffer;
    clientCertPair?: { crt: Buffer; key: Buffer };
  };
  apiKey?: string;
}

export const temporalSecurity = (config: Partial<TemporalSecurityConfig>): TemporalSecurity => {
  const { TEMPORAL_TLS_CA_FILE: ca, TEMPORAL_TLS_CERT_FILE: cert, TEMPORAL_TLS_KEY_FILE: key } = config;
  const { TEMPORAL_TLS_SERVER_NAME: serverName, TEMPORAL_API_KEY: apiKey } = config;
  if (!cert !== !key) throw new ConfigError("set both TEMPORAL_TLS_CERT_FILE and TEMPORAL_TLS_KEY_FILE, or neither");
  const read = (variable: keyof TemporalSecurityConfig, file: string): Buffer => {
    try {
      return readFileSync(file);
    } catch (error) {
      throw new ConfigError(`${variable} can't be read: ${(error as Error).message}`);
    }
  };
  const isSecure = config.TEMPORAL_TLS === "true" || [ca, cert, serverName, apiKey].some(Boolean);
  if (!isSecure) return {};
  return {
    tls: {
      ...(serverName ? { serverNameOverride: serverName } : {}),
      ...(ca ? { serverRootCACertificate: read("TEMPORAL_TLS_CA_FILE", ca) } : {}),
      ...(cert && key ? { clientCertPair: { crt: read("TEMPORAL_TLS_CERT_FILE", cert), key: read("TEMPORAL_TLS_KEY_FILE", key) } } : {}),
    },
    ...(apiKey ? { apiKey } : {}),
  };
};

/** Temporal's address and Nodeloom's namespace. */
export const temporalVariables = {
  TEMPORAL_ADDRESS: hostPort().describe("Temporal's frontend"),
  ...temporalSecurityVariables,
  TEMPORAL_NAMESPACE: z.string().default("default").describe("Temporal namespace"),
  TEMPORAL_TASK_QUEUE: z.string().default("nodeloom").describe("Temporal task queue of the runs"),
} as const;

export const temporalServer = (config: ConfigOf<typeof temporalVariables>) => ({
  address: config.TEMPORAL_ADDRESS,
  security: temporalSecurity(config),
  namespace: config.TEMPORAL_NAMESPACE,
});
