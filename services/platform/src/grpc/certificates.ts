import { readFileSync } from "node:fs";
import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { experimental } from "@grpc/grpc-js";
import { ConfigError, type ProcessConfig } from "../config";
import { observeExpiry } from "../telemetry/metrics";

type CertificateProvider = experimental.CertificateProvider;
type CaListener = experimental.CaCertificateUpdateListener;
type IdentityListener = experimental.IdentityCertificateUpdateListener;

export type TlsConfig = Partial<Pick<ProcessConfig, "TLS_CERT_FILE" | "TLS_KEY_FILE" | "TLS_CA_FILE" | "TLS_RELOAD_MS">>;

const DEFAULT_RELOAD_MS = 60_000;

interface Files {
  cert: string;
  key: string;
  ca: string;
}

/** @throws ConfigError if one or two of the three files are configured */
const filesOf = ({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key, TLS_CA_FILE: ca }: TlsConfig): Files | undefined => {
  if (!cert && !key && !ca) return undefined;
  if (!cert || !key || !ca) throw new ConfigError("set all of TLS_CERT_FILE, TLS_KEY_FILE and TLS_CA_FILE, or none");
  return { cert, key, ca };
};

interface Certificates {
  cert: Buffer;
  key: Buffer;
  ca: Buffer;
}

/** @throws Error if a file is missing or malformed, or if the key doesn't belong to the certificate */
const readCertificates = (files: Files): Certificates => {
  const certificates = { cert: readFileSync(files.cert), key: readFileSync(files.key), ca: readFileSync(files.ca) };
  createSecureContext(certificates);
  return certificates;
};

const isSame = (one: Certificates, other: Certificates): boolean =>
  one.cert.equals(other.cert) && one.key.equals(other.key) && one.ca.equals(other.ca);

/**
 * Reads certificates again at intervals, so that a renewed certificate is used without a restart. If the files are invalid (a renewal is in
 * progress, or the key belongs to another certificate), the last valid ones stay in use.
 */
class RenewedCertificates implements CertificateProvider {
  private current: Certificates;
  private readonly listeners = new Map<CaListener | IdentityListener, () => void>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly files: Files,
    private readonly reloadMs: number,
  ) {
    this.current = readCertificates(files);
    observeExpiry("mutual TLS", () => new Date(new X509Certificate(this.current.cert).validTo));
  }

  private reload(): void {
    let certificates: Certificates;
    try {
      certificates = readCertificates(this.files);
    } catch {
      return;
    }
    if (isSame(certificates, this.current)) return;
    this.current = certificates;
    for (const tell of this.listeners.values()) tell();
  }

  private add(listener: CaListener | IdentityListener, tell: () => void): void {
    // Certificates can be renewed while there is no connection.
    if (this.timer === undefined) this.reload();
    this.listeners.set(listener, tell);
    this.timer ??= setInterval(() => this.reload(), this.reloadMs).unref();
    // A listener must not be called while it is being added.
    process.nextTick(tell);
  }

  private remove(listener: CaListener | IdentityListener): void {
    this.listeners.delete(listener);
    if (this.listeners.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  addCaCertificateListener(listener: CaListener): void {
    this.add(listener, () => listener({ caCertificate: this.current.ca }));
  }

  removeCaCertificateListener(listener: CaListener): void {
    this.remove(listener);
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    this.add(listener, () => listener({ certificate: this.current.cert, privateKey: this.current.key }));
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.remove(listener);
  }
}

const providers = new Map<string, RenewedCertificates>();

/**
 * Returns the process's certificates; undefined without TLS.
 * @throws ConfigError if only some variables are set; Error if a file can't be used
 */
export const certificatesOf = (tls: TlsConfig): CertificateProvider | undefined => {
  const files = filesOf(tls);
  if (files === undefined) return undefined;
  const reloadMs = tls.TLS_RELOAD_MS ?? DEFAULT_RELOAD_MS;
  const key = JSON.stringify([files, reloadMs]);
  const provider = providers.get(key) ?? new RenewedCertificates(files, reloadMs);
  providers.set(key, provider);
  return provider;
};
