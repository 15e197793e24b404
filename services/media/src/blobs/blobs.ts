import type { Readable } from "node:stream";

/** Size, hash and first bytes of a file. */
export interface FileSummary {
  bytes: number;
  sha256: string;
  /** The first bytes, for detecting the type. */
  head: Uint8Array;
}

/** Bytes that are received completely but not stored under a name yet. */
export interface StagedBlob extends FileSummary {
  /** Path of the local file with the bytes, until they are stored or discarded. */
  path: string;
  /** Stores the bytes under a name, durably and atomically. Replaces an existing blob. */
  keep(name: string): Promise<void>;
  /** Deletes the bytes unless they were stored. */
  discard(): Promise<void>;
}

export interface ByteRange {
  start: number;
  /** Position of the last byte. */
  end: number;
}

/** Storage of file contents. Names are lower-case hexadecimal. */
export interface BlobStore {
  /** @throws DomainError PAYLOAD_TOO_LARGE above maxBytes. If the source fails, the received bytes are deleted. */
  stage(source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<StagedBlob>;
  /** Stages a file that the caller creates at a path. If that fails, it is deleted. */
  stageFile(create: (path: string) => Promise<FileSummary>): Promise<StagedBlob>;
  /** @returns undefined if no blob has the name */
  read(name: string, range?: ByteRange): Promise<Readable | undefined>;
  remove(name: string): Promise<void>;
  /** Removes at most 1,000 blobs. Missing blobs count as removed. @throws if a blob may remain */
  removeAll(names: readonly string[]): Promise<void>;
  /** @throws if the store is unusable */
  check(): Promise<void>;
  close(): void;
}
