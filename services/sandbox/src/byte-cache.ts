/** A least-recently-used cache with a maximum size in bytes. */
export interface ByteCache {
  get(key: string): Buffer | undefined;
  set(key: string, bytes: Buffer): void;
  bytes(): number;
}

export const createByteCache = (maxBytes: number): ByteCache => {
  const entries = new Map<string, Buffer>();
  let total = 0;
  const drop = (key: string): void => {
    total -= entries.get(key)?.length ?? 0;
    entries.delete(key);
  };
  return {
    bytes: () => total,
    get: (key) => {
      const entry = entries.get(key);
      if (!entry) return undefined;
      // A Map keeps insertion order, so an entry that is inserted again becomes the most recent.
      entries.delete(key);
      entries.set(key, entry);
      return entry;
    },
    set: (key, bytes) => {
      drop(key);
      if (bytes.length > maxBytes) return;
      entries.set(key, bytes);
      total += bytes.length;
      for (const oldest of entries.keys()) {
        if (total <= maxBytes) break;
        drop(oldest);
      }
    },
  };
};
