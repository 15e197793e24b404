/** Shapes that the service and its signing thread exchange. */

import type { Maker } from "../provenance/making";

/** PEM texts. The chain starts with the signing certificate; a root can be left out. */
export interface Credential {
  chain: string;
  key: string;
}

/** A source of the signed file. */
export interface Ingredient {
  contentType: string;
  /** The source's bytes, if they can hold a manifest that the new one should include. */
  bytes?: Uint8Array | undefined;
}

/** Statements about a file. Never contains prompts, users or executions. */
export interface Claim {
  contentType: string;
  sourceType: string;
  maker: Maker;
  /** The model or media operation. */
  model: string;
  ingredients: Ingredient[];
}

export interface SigningTask {
  path: string;
  claim: Claim;
  credential: Credential;
}

/** Formats that can hold a manifest. */
export const SIGNED_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/avif", "image/heif"]);
