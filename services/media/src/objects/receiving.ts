import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { DomainError, invalidRequest, isInnerOwner, LIMITS, unavailable } from "@nodeloom/kernel";
import type { BlobStore, StagedBlob } from "../blobs/blobs";
import { editStaged } from "../marks/edit-staged";
import type { FindMark } from "../credentials/mark-staged";
import type { Sign, Signing } from "../credentials/sign-staged";
import type { Strip } from "../strip/strip";
import type { Measure } from "../measure/measure";
import { sourceTypeOf, type Finding, type Making } from "../store/making";
import type { Parents } from "../provenance/parents";
import { checkGlb, GLB_TYPE } from "../glb";
import { asSound, isAccepted, sniff, type MediaType } from "../sniff";
import { SVG_TYPE } from "../svg";
import type { MediaObject, Origin } from "../store/media-object";
import type { ObjectStore } from "../store/object-store";
import type { Quota } from "./quota";

export interface Placement extends Pick<MediaObject, "contentHash" | "sourceType">, Finding {
  /** A deterministic name chosen by the caller; empty to create a new one. */
  id: string;
  ownerId: string;
  /** Accepted media families; empty accepts all. */
  accept: readonly string[];
  origin: Origin;
  /** The owner's quota in bytes; undefined for no quota. Generated files don't count. */
  quota?: number | undefined;
  /** Set for generated files, which are then marked with their origin. */
  making?: Making | undefined;
  /** True to remove text metadata from the file. */
  stripMetadata?: boolean | undefined;
  /** True to hide the file from readers until it is released. */
  held?: boolean | undefined;
}

export interface ReceivingDeps {
  store: ObjectStore;
  quota: Quota;
  blobs: BlobStore;
  parents: Parents;
  findMark: FindMark;
  sign: Sign;
  strip: Strip;
  measuring: Pick<Measure, "measure" | "sanitize">;
  maxBytes?: number | undefined;
}

/** Stores a stream of bytes as an object. */
export type Receive = (placement: Placement, source: AsyncIterable<Uint8Array>) => Promise<MediaObject>;

const TOKEN_BYTES = 16;

const token = (): string => randomBytes(TOKEN_BYTES).toString("hex");

/** Derived from id and bytes, so that a retry overwrites a crashed attempt's bytes. */
const blobName = (id: string, sha256: string): string => createHash("sha256").update(`${id}\n${sha256}`).digest("hex");

/** Returns the existing object if it belongs to the caller. */
export const sameOwner = (object: MediaObject, ownerId: string): MediaObject => {
  if (object.ownerId === ownerId) return object;
  throw new DomainError("conflict", "ALREADY_EXISTS", "the id belongs to another object");
};

/** @throws DomainError INVALID_REQUEST */
const typeOf = ({ bytes, head }: StagedBlob): MediaType => {
  if (bytes === 0) throw invalidRequest([{ path: "", message: "the file is empty" }]);
  return sniff(head);
};

/** @throws DomainError UNSUPPORTED_MEDIA_TYPE */
const checkAccepted = (type: MediaType, accept: readonly string[]): void => {
  if (isAccepted(type, accept)) return;
  throw new DomainError("invalid", "UNSUPPORTED_MEDIA_TYPE", `the file is ${type.contentType}, not ${accept.join(" or ")}`);
};

/**
 * Returns the texts by which a file is found. A file without a prompt, such as a cut picture, has those of the files of its run that it was
 * made from. They must not reveal texts of a graph that the user can't read.
 */
const findingOf = ({ ownerId, making, words = [], title }: Placement, parents: readonly MediaObject[]): Finding => {
  if (!making || words.length === 0 || isInnerOwner(ownerId)) return {};
  const ofRun = parents.filter((parent) => parent.ownerId === ownerId && parent.making?.executionId === making.executionId);
  const inherited = title ? [] : ofRun.flatMap((parent) => parent.words ?? []);
  return {
    words: [...new Set([...words, ...inherited])].slice(0, LIMITS.searchWords),
    title: title || ofRun.find((parent) => parent.title !== undefined)?.title,
  };
};

export const createReceive = (deps: ReceivingDeps): Receive => {
  const { store, quota, blobs, parents, findMark, sign, strip, measuring, maxBytes = LIMITS.mediaBytes } = deps;

  /** Inserts an object for staged bytes, or returns the existing object with its id. Unused bytes are removed. */
  const insert = async (staged: StagedBlob, object: MediaObject): Promise<MediaObject> => {
    await staged.keep(object.blob);
    const stored = await store.insert(object);
    if (stored?.blob !== object.blob) await blobs.remove(object.blob);
    if (!stored) throw unavailable("the file is being removed");
    return sameOwner(stored, object.ownerId);
  };

  /** Inserts an object that counts against the owner's quota. */
  const insertCounted = async (staged: StagedBlob, object: MediaObject, max: number | undefined): Promise<MediaObject> => {
    let stored = object;
    await quota.add(object, max, async (countedBy) => {
      stored = await insert(staged, { ...object, countedBy });
      return stored.countedBy === countedBy;
    });
    return stored;
  };

  /** Returns the origin of a file, with its parents as ids, and its source type. For generated files, also the sources for a signature. */
  const describeMaking = async ({
    making,
    ownerId,
    sourceType,
  }: Placement): Promise<Pick<MediaObject, "making" | "sourceType"> & { sources?: Omit<Signing, "id" | "contentType" | "edits"> }> => {
    if (!making) return { sourceType };
    const { references, objects } = await parents.find(making.parents, ownerId);
    const resolved = { ...making, parents: references };
    const origin = sourceTypeOf(resolved, objects);
    // A file in a hidden graph must not reveal the user's other files.
    const shownMaking = isInnerOwner(ownerId) ? { ...resolved, parents: [] } : resolved;
    return { making: shownMaking, sourceType: origin, sources: { ownerId, making, sourceType: origin, references, objects } };
  };

  /** Returns the bytes to store: a vector without anything that could run, other files as they are. */
  const checked = async (received: StagedBlob, contentType: string): Promise<StagedBlob> => {
    if (contentType === GLB_TYPE) await checkGlb(received.path, received.bytes);
    if (contentType !== SVG_TYPE) return received;
    return blobs.stage(Readable.from([Buffer.from(await measuring.sanitize(received.path))]), maxBytes);
  };

  return async (placement, source) => {
    const original = await blobs.stage(source, maxBytes);
    let [received, stripped, staged] = [original, original, original];
    try {
      const sniffed = typeOf(original);
      checkAccepted(sniffed, placement.accept);
      received = stripped = staged = await checked(original, sniffed.contentType);
      const [{ sources, ...origin }, { isSound, ...measured }] = await Promise.all([
        describeMaking(placement),
        measuring.measure(received.path, sniffed.contentType),
      ]);
      const type = isSound ? asSound(sniffed) : sniffed;
      checkAccepted(type, placement.accept);
      const { contentType, extension } = type;
      if (placement.stripMetadata) staged = stripped = await strip(received, contentType);
      // Copies are already marked.
      const edits = placement.making && origin.sourceType ? await findMark(stripped, contentType, origin.sourceType) : [];
      const id = placement.id || token();
      const signed = sources && (await sign(stripped, { id, contentType, edits, ...sources }));
      staged = signed?.staged ?? (await editStaged(blobs, stripped, edits));
      const { bytes, sha256 } = staged;
      const contentHash = placement.contentHash ?? (sha256 === stripped.sha256 ? undefined : stripped.sha256);
      const object = {
        ...{ id, key: `${token()}.${extension}`, ownerId: placement.ownerId, contentType, bytes, sha256, contentHash },
        ...{ blob: blobName(id, sha256), createdAt: new Date(), origin: placement.origin, private: true },
        ...measured,
        ...origin,
        ...findingOf(placement, sources?.objects ?? []),
        ...(signed && (signed.unsigned ? { signed: false, unsigned: signed.unsigned } : { signed: true })),
        ...(placement.held ? { look: token() } : {}),
      };
      return await (placement.origin === "generated" ? insert(staged, object) : insertCounted(staged, object, placement.quota));
    } finally {
      await Promise.all([...new Set([original, received, stripped, staged])].map((one) => one.discard()));
    }
  };
};
