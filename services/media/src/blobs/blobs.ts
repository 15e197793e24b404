import type { Readable } from "node:stream";

/** Bytes that have arrived whole but have no name yet. */
export interface StagedBlob {
  bytes: number;
  sha256: string;
  /** The first bytes, for sniffing. */
  head: Buffer;
  /** A local file that holds them until they are kept or discarded. */
  path: string;
  /** Makes the bytes readable under a name, durably and all at once. Replaces what has the name. */
  keep(name: string): Promise<void>;
  /** Forgets the bytes unless they were kept. */
  discard(): Promise<void>;
}

export interface ByteRange {
  start: number;
  /** Inclusive. */
  end: number;
}

/** Where the bytes live. Names are lower-case hexadecimal. */
export interface BlobStore {
  /** @throws DomainError PAYLOAD_TOO_LARGE past maxBytes; nothing is left behind when the source fails. */
  stage(source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<StagedBlob>;
  /** The bytes, or undefined when there are none of that name. */
  read(name: string, range?: ByteRange): Promise<Readable | undefined>;
  remove(name: string): Promise<void>;
  /** Fails when the store can't be used. */
  check(): Promise<void>;
  close(): void;
}
