import { isInnerOwner } from "@nodeloom/kernel";
import { durationHistogram, eventCounter, type Logger } from "@nodeloom/platform";
import type { BlobStore, StagedBlob } from "../blobs/blobs";
import { addressOf, type SourceType } from "../marks/xmp";
import type { Making } from "../provenance/making";
import { MAX_FILE_BYTES, SIGNED_TYPES, type UnsignedReason } from "./claim";
import { createIngredients, type Sources } from "./ingredients";
import type { OwnCredential } from "./own-credential";
import { Busy, type Thread } from "./pool";

export interface Signing extends Sources {
  /** Id of the object, used in the log. */
  id: string;
  contentType: string;
  making: Making;
  sourceType: SourceType | undefined;
}

export interface SignResult {
  staged: StagedBlob;
  /** Absent if the file was signed. */
  unsigned?: UnsignedReason | undefined;
}

/** Signs staged bytes. Never fails: a file that can't be signed stays unchanged. */
export type Sign = (staged: StagedBlob, signing: Signing) => Promise<SignResult>;

export interface SignDeps {
  blobs: Pick<BlobStore, "stage" | "read">;
  thread: Pick<Thread, "sign">;
  credential: OwnCredential;
  logger: Pick<Logger, "warn">;
}

const counted = eventCounter("nodeloom.media.signatures", "generated files, by whether they were signed, or why not");
const took = durationHistogram("nodeloom.media.signature.duration", "how long signing a file took, with its wait");

/** Size by which a file can grow: manifests of sources (at most 512 KiB) and the new manifest. */
const ROOM_BYTES = 1024 * 1024;

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield await Promise.resolve(bytes);
}

/** Leaves all files unchanged. */
export const signNothing: Sign = (staged) => Promise.resolve({ staged, unsigned: "off" });

export const createSign = ({ blobs, thread, credential, logger }: SignDeps): Sign => {
  const ingredientsOf = createIngredients(blobs);

  const signed = async (staged: StagedBlob, { contentType, making, sourceType, ...sources }: Signing): Promise<StagedBlob> => {
    const [current, ingredients] = await Promise.all([credential(), ingredientsOf(sources)]);
    const isHidden = isInnerOwner(sources.ownerId);
    const claim = {
      ...{ contentType, maker: making.maker, ingredients },
      sourceType: sourceType && addressOf(sourceType),
      ...{ model: isHidden ? "" : making.model, keepsOwn: !isHidden },
    };
    const { chain, key } = current;
    const bytes = await thread.sign({ path: staged.path, sha256: staged.sha256, claim, credential: { chain, key } });
    return blobs.stage(once(bytes), staged.bytes + ROOM_BYTES);
  };

  const attempt = async (staged: StagedBlob, signing: Signing): Promise<SignResult> => {
    if (!SIGNED_TYPES.has(signing.contentType)) return { staged, unsigned: "format" };
    if (staged.bytes > MAX_FILE_BYTES) return { staged, unsigned: "size" };
    const startedAt = Date.now();
    try {
      const result = await signed(staged, signing);
      took(Date.now() - startedAt);
      return { staged: result };
    } catch (error) {
      logger.warn({ err: error, id: signing.id, contentType: signing.contentType }, "a file could not be signed");
      return { staged, unsigned: error instanceof Busy ? "busy" : "failed" };
    }
  };

  return async (staged, signing) => {
    const result = await attempt(staged, signing);
    counted({ outcome: result.unsigned ?? "signed", type: signing.contentType });
    return result;
  };
};
