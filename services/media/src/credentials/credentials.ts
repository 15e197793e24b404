/** Signed content credentials (C2PA) of generated files. */

import { observeExpiry, type Logger } from "@nodeloom/platform";
import type { BlobStore } from "../blobs/blobs";
import type { CredentialStore } from "./credential-store";
import { createOwnCredential, type ProvenanceSettings } from "./own-credential";
import { createThread } from "./pool";
import { createSign, signNothing, type Sign } from "./sign-staged";
import { createVerify, type Verify } from "./verify";

export interface CredentialsDeps {
  settings: ProvenanceSettings;
  /** Holds a self-made credential. */
  folder: string;
  store: CredentialStore;
  blobs: Pick<BlobStore, "stage" | "stageFile" | "read">;
  logger: Logger;
}

export interface ContentCredentials {
  sign: Sign;
  verify: Verify;
  stop(): Promise<void>;
}

/** A thread needs half a second to start, which is longer than most signatures take. */
const SIGNING_IDLE_MS = 15 * 60_000;

export const createCredentials = ({ settings, folder, store, blobs, logger }: CredentialsDeps): ContentCredentials => {
  const { mode, configured } = settings;
  // Files of strangers have a thread of their own, so that they never delay results.
  const [signing, reading] = [createThread({ idleMs: SIGNING_IDLE_MS }), createThread()];
  const credential = createOwnCredential({ configured, folder, store, make: signing.selfMade });
  if (configured) observeExpiry("signing files", () => configured.expiresAt);
  if (mode === "signed" && !configured) {
    logger.warn("generated files are signed by a self-made certificate, which other validators don't trust: set PROVENANCE_CERTIFICATE");
  }
  return {
    sign: mode === "signed" ? createSign({ blobs, thread: signing, credential, logger }) : signNothing,
    verify: createVerify({ blobs, thread: reading, store }),
    stop: async () => {
      await Promise.all([signing.stop(), reading.stop()]);
    },
  };
};
