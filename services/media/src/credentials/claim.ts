/** Types that the service exchanges with its threads. */

import { LIMITS } from "@nodeloom/kernel";
import type { Edit } from "../marks/edits";
import type { Maker } from "../store/making";

/** A key and certificates as PEM texts. The chain starts with the signing certificate; the root can be omitted. */
export interface Credential {
  chain: string;
  key: string;
}

/** A source from which the signed file was made. */
export interface Ingredient {
  /** Absent if the file isn't in media storage. */
  contentType?: string | undefined;
  /** Bytes of the source, or its part with the manifest, if it can have one to include in the new manifest. */
  bytes?: Uint8Array | undefined;
}

/** Statements about a file. They never contain prompts, users or executions. */
export interface Claim {
  contentType: string;
  /** URL of the IPTC term; absent for edited photos. */
  sourceType?: string | undefined;
  maker: Maker;
  /** The model or media operation; empty if the graph is hidden. */
  model: string;
  ingredients: Ingredient[];
  /** False to drop an earlier manifest of the file, because it could name a model of a hidden graph. */
  keepsOwn: boolean;
}

export interface SigningTask {
  path: string;
  /** Path at which the signed file is created. */
  target: string;
  /** Hash of the file, in hexadecimal. */
  sha256: string;
  /** Changes of the file before it is signed. */
  edits: readonly Edit[];
  claim: Claim;
  credential: Credential;
}

export interface ReadingTask {
  path: string;
  contentType: string;
}

export interface Action {
  action: string;
  software: string;
  digitalSourceType: string;
}

export interface Statements {
  generator: string;
  actions: Action[];
}

export interface Signer {
  /** SHA-256 of the certificate, in hexadecimal. */
  fingerprint: string;
  name: string;
  issuer: string;
  expiresAt: Date;
}

export interface Source extends Statements {
  relationship: string;
  format: string;
}

export interface Credentials extends Statements {
  /** C2PA status codes of failed checks. */
  problems: string[];
  signer?: Signer | undefined;
  sources: Source[];
}

/** `damaged` means that the file's format is invalid. `credentials` is absent if the file has none. */
export type Reading = { credentials?: Credentials } | { damaged: true };

/** Formats that can hold a manifest. */
export const SIGNED_TYPES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/avif",
  "image/heif",
  "image/webp",
  "video/mp4",
  "video/quicktime",
  "audio/mp4",
  "audio/mpeg",
  "audio/wav",
]);

/** Maximum size of a file that is signed or checked. A thread keeps several copies of a file in memory. */
export const MAX_FILE_BYTES = LIMITS.verifiedBytes;
