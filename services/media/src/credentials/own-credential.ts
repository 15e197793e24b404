import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { ConfigError } from "@nodeloom/platform";
import type { Credential } from "./claim";
import { checkCredential, type CheckedCredential } from "./credential";
import type { CredentialStore } from "./credential-store";

/** Returns the current credential. @throws Error if it can no longer sign */
export type OwnCredential = () => Promise<CheckedCredential>;

export type ProvenanceMode = "off" | "metadata" | "signed";

export interface ProvenanceVariables {
  PROVENANCE?: ProvenanceMode | undefined;
  PROVENANCE_CERTIFICATE?: string | undefined;
  PROVENANCE_KEY?: string | undefined;
}

const FOLDER = "credentials";
const FILE = "self-made.json";
const OWNER_ONLY = { mode: 0o600 } as const;
/** A self-made certificate is replaced this long before it expires. */
const RENEWAL_MS = 30 * 24 * 60 * 60 * 1_000;

export interface ProvenanceSettings {
  mode: ProvenanceMode;
  /** The configured credential; undefined if a self-made one is used. */
  configured?: CheckedCredential | undefined;
}

/** Reads the settings. The default mode is `signed` if a certificate is configured. @throws ConfigError if the credential can't sign */
export const provenanceSettings = (variables: ProvenanceVariables): ProvenanceSettings => {
  const { PROVENANCE: mode, PROVENANCE_CERTIFICATE: chain, PROVENANCE_KEY: key } = variables;
  if (chain === undefined && key === undefined) return { mode: mode ?? "metadata" };
  if (chain === undefined || key === undefined) throw new ConfigError("set both PROVENANCE_CERTIFICATE and PROVENANCE_KEY, or neither");
  try {
    return { mode: mode ?? "signed", configured: checkCredential(chain, key) };
  } catch (error) {
    throw new ConfigError(`PROVENANCE_CERTIFICATE or PROVENANCE_KEY: ${(error as Error).message}`);
  }
};

/** Stores a credential in a file that only the service's user can read. */
const createKept = (folder: string, make: () => Promise<Credential>) => {
  const path = join(folder, FOLDER, FILE);
  const stored = async (): Promise<CheckedCredential | undefined> => {
    try {
      const { chain, key } = JSON.parse(await readFile(path, "utf8")) as Credential;
      const credential = checkCredential(chain, key);
      return credential.expiresAt.getTime() - Date.now() > RENEWAL_MS ? credential : undefined;
    } catch {
      return undefined;
    }
  };
  const replace = async (): Promise<void> => {
    const temporary = `${path}.${randomUUID()}`;
    await mkdir(join(folder, FOLDER), { recursive: true });
    await writeFile(temporary, JSON.stringify(await make()), OWNER_ONLY);
    await rename(temporary, path);
  };
  return async (): Promise<CheckedCredential> => {
    const current = await stored();
    if (current) return current;
    await replace();
    const created = await stored();
    if (!created) throw new Error("the self-made certificate can't be read again");
    return created;
  };
};

interface OwnCredentialDeps {
  configured: CheckedCredential | undefined;
  /** Folder of a self-made credential. */
  folder: string;
  store: Pick<CredentialStore, "add">;
  make(): Promise<Credential>;
}

/** Returns the configured credential, or a self-made one that is stored in the folder. A credential is recorded before it signs. */
export const createOwnCredential = ({ configured, folder, store, make }: OwnCredentialDeps): OwnCredential => {
  const readKept = createKept(folder, make);
  const marginMs = configured ? 0 : RENEWAL_MS;
  const next = (): Promise<CheckedCredential> => {
    if (!configured) return readKept();
    return configured.expiresAt > new Date() ? Promise.resolve(configured) : Promise.reject(new Error("the certificate has expired"));
  };
  let current: CheckedCredential | undefined;
  return async () => {
    if (current && current.expiresAt.getTime() - Date.now() > marginMs) return current;
    const credential = await next();
    await store.add({ fingerprint: credential.fingerprint, isSelfMade: configured === undefined });
    return (current = credential);
  };
};
