import { credentials, experimental, ServerCredentials, type ChannelCredentials } from "@grpc/grpc-js";
import { ConfigError, splitHostPort } from "../config";
import { certificatesOf, type TlsConfig } from "./certificates";

export type { TlsConfig };

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

/**
 * Uses mutual TLS if certificates are configured, otherwise plain text, which is allowed only on loopback.
 * @throws ConfigError for a plain-text server on another address
 */
export const serverCredentials = (listen: string, tls: TlsConfig): ServerCredentials => {
  const certificates = certificatesOf(tls);
  if (certificates) return experimental.createCertificateProviderServerCredentials(certificates, certificates, true);
  if (!LOOPBACK.has(splitHostPort(listen).host)) {
    throw new ConfigError(`${listen} is not loopback: mutual TLS is required there (TLS_CERT_FILE, TLS_KEY_FILE, TLS_CA_FILE)`);
  }
  return ServerCredentials.createInsecure();
};

export const channelCredentials = (tls: TlsConfig): ChannelCredentials => {
  const certificates = certificatesOf(tls);
  if (!certificates) return credentials.createInsecure();
  return experimental.createCertificateProviderChannelCredentials(certificates, certificates);
};
