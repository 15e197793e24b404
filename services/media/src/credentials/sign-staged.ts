import { isInnerOwner } from "@nodeloom/kernel";
import { durationHistogram, eventCounter, type Logger } from "@nodeloom/platform";
import type { BlobStore, StagedBlob } from "../blobs/blobs";
import type { Edit } from "../marks/edits";
import { addressOf, type SourceType } from "../marks/xmp";
import type { Making } from "../store/making";
import type { UnsignedReason } from "../store/media-object";
import { MAX_FILE_BYTES, SIGNED_TYPES } from "./claim";
import { createIngredients, type Sources } from "./ingredients";
import type { OwnCredential } from "./own-credential";
import { Busy, type Thread } from "./pool";

export interface Signing extends Sources {
  /** Id of the object, used in the log. */
  id: string;
  contentType: string;
  /** Changes of the bytes before they are signed, which mark them. */
  edits: readonly Edit[];
  making: Making;
  sourceType: SourceType | undefined;
}

/** The signed bytes, or the reason why there are none. */
export type SignResult = { staged: StagedBlob; unsigned?: undefined } | { staged?: undefined; unsigned: UnsignedReason };

/** Signs staged bytes. Never fails. */
export type Sign = (staged: StagedBlob, signing: Signing) => Promise<SignResult>;

export interface SignDeps {
  blobs: Pick<BlobStore, "stageFile" | "read">;
  thread: Pick<Thread, "sign">;
  credential: OwnCredential;
  logger: Pick<Logger, "warn">;
}

const counted = eventCounter("nodeloom.media.signatures", "generated files, by whether they were signed, or why not");
const took = durationHistogram("nodeloom.media.signature.duration", "how long signing a file took, with its wait");

/** Signs no file. */
export const signNothing: Sign = () => Promise.resolve({ unsigned: "off" });

export const createSign = ({ blobs, thread, credential, logger }: SignDeps): Sign => {
  const ingredientsOf = createIngredients(blobs);

  const signed = async (staged: StagedBlob, { contentType, edits, making, sourceType, ...sources }: Signing): Promise<StagedBlob> => {
    const [current, ingredients] = await Promise.all([credential(), ingredientsOf(sources)]);
    const isHidden = isInnerOwner(sources.ownerId);
    const claim = {
      ...{ contentType, maker: making.maker, ingredients },
      sourceType: sourceType && addressOf(sourceType),
      ...{ model: isHidden ? "" : making.model, keepsOwn: !isHidden },
    };
    const { chain, key } = current;
    const task = { path: staged.path, sha256: staged.sha256, edits, claim, credential: { chain, key } };
    return blobs.stageFile((target) => thread.sign({ ...task, target }));
  };

  const attempt = async (staged: StagedBlob, signing: Signing): Promise<SignResult> => {
    if (!SIGNED_TYPES.has(signing.contentType)) return { unsigned: "format" };
    if (staged.bytes > MAX_FILE_BYTES) return { unsigned: "size" };
    const startedAt = Date.now();
    try {
      const result = await signed(staged, signing);
      took(Date.now() - startedAt);
      return { staged: result };
    } catch (error) {
      logger.warn({ err: error, id: signing.id, contentType: signing.contentType }, "a file could not be signed");
      return { unsigned: error instanceof Busy ? "busy" : "failed" };
    }
  };

  return async (staged, signing) => {
    const result = await attempt(staged, signing);
    counted({ outcome: result.unsigned ?? "signed", type: signing.contentType });
    return result;
  };
};
