import { inflateRawSync } from "node:zlib";

/** Reads files of a ZIP archive in memory (a wheel, or PyTorch weights). Nothing in the archive is executed. */

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 65_535;
const STORED = 0;
const DEFLATED = 8;
const MAX_ENTRY_BYTES = 512 * 1_024 * 1_024;

export interface Zip {
  names: readonly string[];
  /** @throws Error if the file is missing or damaged */
  read(name: string): Buffer;
}

interface Entry {
  method: number;
  packedBytes: number;
  bytes: number;
  at: number;
}

/** @throws Error if the archive can't be read */
export const openZip = (archive: Buffer): Zip => {
  let end = archive.length - END_BYTES;
  const first = Math.max(0, end - MAX_COMMENT_BYTES);
  while (end >= first && archive.readUInt32LE(end) !== END_SIGNATURE) end--;
  if (end < first) throw new Error("the archive has no directory");
  const entries = new Map<string, Entry>();
  let at = archive.readUInt32LE(end + 16);
  for (let count = archive.readUInt16LE(end + 10); count > 0; count--) {
    if (archive.readUInt32LE(at) !== ENTRY_SIGNATURE) throw new Error("the archive's directory is damaged");
    const nameBytes = archive.readUInt16LE(at + 28);
    entries.set(archive.toString("utf8", at + 46, at + 46 + nameBytes), {
      method: archive.readUInt16LE(at + 10),
      packedBytes: archive.readUInt32LE(at + 20),
      bytes: archive.readUInt32LE(at + 24),
      at: archive.readUInt32LE(at + 42),
    });
    at += 46 + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return {
    names: [...entries.keys()],
    read: (name) => {
      const entry = entries.get(name);
      if (!entry) throw new Error(`the archive has no ${name}`);
      if (entry.bytes > MAX_ENTRY_BYTES) throw new Error(`${name} is too large`);
      const from = entry.at + 30 + archive.readUInt16LE(entry.at + 26) + archive.readUInt16LE(entry.at + 28);
      const packed = archive.subarray(from, from + entry.packedBytes);
      if (entry.method === STORED) return packed;
      if (entry.method === DEFLATED) return inflateRawSync(packed, { maxOutputLength: entry.bytes });
      throw new Error(`${name} is packed in a way that is not known (${entry.method})`);
    },
  };
};
