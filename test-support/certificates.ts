import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TlsConfig } from "@nodeloom/platform";

const MAKE_CERTS = join(__dirname, "../deploy/docker/make-certs.sh");

export interface TestCertificates {
  /** Configuration of a process of this service. */
  of(service: string): Required<Pick<TlsConfig, "TLS_CERT_FILE" | "TLS_KEY_FILE" | "TLS_CA_FILE">>;
  /** Replaces the service's certificate. */
  renew(service: string): Promise<void>;
  remove(): Promise<void>;
}

/** Certificates for these services by a private authority, as containers get them. */
export const makeCertificates = async (...services: string[]): Promise<TestCertificates> => {
  const folder = await mkdtemp(join(tmpdir(), "nodeloom-certs-"));
  const [authority, certificates] = [join(folder, "authority"), join(folder, "certificates")];
  const make = (names: string[]): Promise<unknown> => promisify(execFile)(MAKE_CERTS, [authority, certificates, ...names]);
  await make(services);
  return {
    of: (service) => ({
      TLS_CERT_FILE: join(certificates, service, "certificate.pem"),
      TLS_KEY_FILE: join(certificates, service, "key.pem"),
      TLS_CA_FILE: join(certificates, "authority.pem"),
    }),
    renew: async (service) => {
      await rm(join(certificates, service, "certificate.pem"));
      await make([service]);
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};
