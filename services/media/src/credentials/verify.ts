/** Verifies files from any origin. */

import { DomainError, invalidRequest, LIMITS, unavailable } from "@nodeloom/kernel";
import { createSlots, eventCounter, NoSlot } from "@nodeloom/platform";
import type { BlobStore } from "../blobs/blobs";
import { sourceTypeIn } from "../marks/marked-type";
import { sniff } from "../sniff";
import { SIGNED_TYPES, type Credentials } from "./claim";
import type { CredentialStore } from "./credential-store";
import { Busy, type Thread } from "./pool";

export interface Verification {
  contentType: string;
  bytes: number;
  /** True if manifests in this format can be read. */
  isSupported: boolean;
  /** URL of the IPTC term in the file's metadata; empty if there is none. */
  digitalSourceType: string;
  credentials?: VerifiedCredentials | undefined;
}

export interface VerifiedCredentials extends Credentials {
  /** True if no signed byte has changed and the certificate matches the signature. */
  isWhole: boolean;
  /** True if `isWhole` is true and a certificate of this installation signed the file. */
  isOurs: boolean;
  isSelfMade: boolean;
}

/** @throws DomainError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST or SERVICE_UNAVAILABLE */
export type Verify = (source: AsyncIterable<Uint8Array>) => Promise<Verification>;

export interface VerifyDeps {
  blobs: Pick<BlobStore, "stage">;
  thread: Pick<Thread, "read">;
  store: Pick<CredentialStore, "find">;
}

/** Maximum files that are received or checked at once. */
export const VERIFYING = { concurrency: 40, waiting: 0, maxWaitMs: 0 } as const;
const RETRY_AFTER_SECONDS = 5;
/** Problems that don't affect the signature: the certificate has expired or isn't on a trust list. */
const OF_TRUST: ReadonlySet<string> = new Set(["signingCredential.expired", "signingCredential.untrusted"]);

const verified = eventCounter("nodeloom.media.verifications", "files that were verified, by result");

const outcomeOf = ({ credentials }: Verification): string => {
  if (!credentials) return "none";
  if (!credentials.isWhole) return "broken";
  return credentials.isOurs ? "ours" : "others";
};

const isMedia = (contentType: string): boolean => /^(?:image|video|audio)\//.test(contentType);

export const createVerify = ({ blobs, thread, store }: VerifyDeps): Verify => {
  const slots = createSlots({ concurrency: VERIFYING.concurrency, queueLimit: VERIFYING.waiting });

  const judged = async (reading: Credentials): Promise<VerifiedCredentials> => {
    const isWhole = reading.signer !== undefined && reading.problems.every((code) => OF_TRUST.has(code));
    // Names in the file prove nothing. Only this installation's key can sign for its certificate.
    const knownSigner = isWhole ? await store.find(reading.signer!.fingerprint) : undefined;
    return { ...reading, isWhole, isOurs: knownSigner !== undefined, isSelfMade: knownSigner?.isSelfMade ?? false };
  };

  const check = async (source: AsyncIterable<Uint8Array>): Promise<Verification> => {
    const staged = await blobs.stage(source, LIMITS.verifiedBytes);
    try {
      if (staged.bytes === 0) throw invalidRequest([{ path: "", message: "the file is empty" }]);
      const { contentType } = sniff(staged.head);
      if (!isMedia(contentType)) throw new DomainError("invalid", "UNSUPPORTED_MEDIA_TYPE", "the file isn't an image, a video or a sound");
      const isSupported = SIGNED_TYPES.has(contentType);
      const reading = isSupported ? await thread.read({ path: staged.path, contentType }) : {};
      if ("damaged" in reading) throw invalidRequest([{ path: "", message: `the file is damaged: it can't be read as ${contentType}` }]);
      const { credentials } = reading;
      return {
        ...{ contentType, bytes: staged.bytes, isSupported },
        digitalSourceType: await sourceTypeIn(staged.path),
        credentials: credentials && (await judged(credentials)),
      };
    } finally {
      await staged.discard();
    }
  };

  return async (source) => {
    try {
      const verification = await slots.use(() => check(source), { maxWaitMs: VERIFYING.maxWaitMs });
      verified({ outcome: outcomeOf(verification) });
      return verification;
    } catch (error) {
      if (error instanceof NoSlot || error instanceof Busy) throw unavailable("too many files are being verified", RETRY_AFTER_SECONDS);
      throw error;
    }
  };
};
