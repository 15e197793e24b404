import { readFileSync } from "node:fs";
import { credentials, ServerCredentials, type ChannelCredentials } from "@grpc/grpc-js";
import { ConfigError, splitHostPort, type ProcessConfig } from "../config";

export type TlsConfig = Partial<Pick<ProcessConfig, "TLS_CERT_FILE" | "TLS_KEY_FILE" | "TLS_CA_FILE">>;

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

const load = (tls: TlsConfig): { cert: Buffer; key: Buffer; ca: Buffer } | undefined => {
  const { TLS_CERT_FILE: cert, TLS_KEY_FILE: key, TLS_CA_FILE: ca } = tls;
  if (!cert && !key && !ca) return undefined;
  if (!cert || !key || !ca) throw new ConfigError("TLS_CERT_FILE, TLS_KEY_FILE and TLS_CA_FILE go together");
  return { cert: readFileSync(cert), key: readFileSync(key), ca: readFileSync(ca) };
};

/**
 * Mutual TLS when certificates are given, plain text only on loopback.
 * @throws ConfigError for a plain-text server elsewhere.
 */
export const serverCredentials = (listen: string, tls: TlsConfig): ServerCredentials => {
  const files = load(tls);
  if (files) return ServerCredentials.createSsl(files.ca, [{ cert_chain: files.cert, private_key: files.key }], true);
  if (!LOOPBACK.has(splitHostPort(listen).host)) {
    throw new ConfigError(`${listen} is not loopback: mutual TLS is required there (TLS_CERT_FILE, TLS_KEY_FILE, TLS_CA_FILE)`);
  }
  return ServerCredentials.createInsecure();
};

/** The client's side of serverCredentials. */
export const channelCredentials = (tls: TlsConfig): ChannelCredentials => {
  const files = load(tls);
  return files ? credentials.createSsl(files.ca, files.key, files.cert) : credentials.createInsecure();
};
