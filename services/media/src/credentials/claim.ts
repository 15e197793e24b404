/** Shapes that the service and its threads exchange. */

import { LIMITS } from "@nodeloom/kernel";
import type { Maker } from "../provenance/making";

/** Reasons for a file without a signature: its format, its size, too many files at once, an error, or the setting. */
export type UnsignedReason = "format" | "size" | "busy" | "failed" | "off";

/** PEM texts. The chain starts with the signing certificate; a root can be left out. */
export interface Credential {
  chain: string;
  key: string;
}

/** A source of the signed file. */
export interface Ingredient {
  /** Absent for a file that isn't stored here. */
  contentType?: string | undefined;
  /** The source's bytes, if they can hold a manifest that the new one should include. */
  bytes?: Uint8Array | undefined;
}

/** Statements about a file. Never contains prompts, users or executions. */
export interface Claim {
  contentType: string;
  /** Address of the IPTC term; absent for edited photos. */
  sourceType?: string | undefined;
  maker: Maker;
  /** The model or media operation; empty if its graph is hidden. */
  model: string;
  ingredients: Ingredient[];
  /** False leaves out an earlier manifest of the file itself, which could name a hidden graph's model. */
  keepsOwn: boolean;
}

export interface SigningTask {
  path: string;
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

/** A manifest's own statements. */
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

/** `damaged`: the file isn't in its format. Without credentials: it has none. */
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

/** Largest file that is signed or checked: a thread holds a file several times. */
export const MAX_FILE_BYTES = LIMITS.verifiedBytes;
