import type { Readable } from "node:stream";

/** Bytes received completely, but not stored under a name yet. */
export interface StagedBlob {
  bytes: number;
  sha256: string;
  /** The first bytes, for sniffing. */
  head: Buffer;
  /** Local file with the bytes until they are kept or discarded. */
  path: string;
  /** Stores the bytes under a name, durably and atomically. Replaces an existing blob. */
  keep(name: string): Promise<void>;
  /** Deletes the bytes unless they were kept. */
  discard(): Promise<void>;
}

export interface ByteRange {
  start: number;
  /** Inclusive. */
  end: number;
}

/** Storage of file contents. Names are lower-case hexadecimal. */
export interface BlobStore {
  /** @throws DomainError PAYLOAD_TOO_LARGE above maxBytes. A failed source leaves nothing behind. */
  stage(source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<StagedBlob>;
  /** @returns undefined if no blob has the name */
  read(name: string, range?: ByteRange): Promise<Readable | undefined>;
  remove(name: string): Promise<void>;
  /** Removes at most 1,000 blobs; missing ones count as removed. @throws if one of them may be left */
  removeAll(names: readonly string[]): Promise<void>;
  /** @throws if the store is unusable */
  check(): Promise<void>;
  close(): void;
}
