/** One key's read that is under way, and the one that follows it where somebody has asked since. */
interface Reads<T> {
  running: Promise<T>;
  next: Promise<T> | undefined;
}

/**
 * Reads the same thing once for all who ask meanwhile. They share the read that begins when the current one ends, and so see whatever
 * was written before they asked. A caller whose shared read failed reads for itself.
 */
export const createSharedReads = <T>(): ((key: string, read: () => Promise<T>) => Promise<T>) => {
  const known = new Map<string, Reads<T>>();

  const begin = (key: string, read: () => Promise<T>): Promise<T> => {
    const reads: Reads<T> = { running: (async () => read())(), next: undefined };
    known.set(key, reads);
    const end = (): void => void (reads.next === undefined && known.delete(key));
    reads.running.then(end, end);
    return reads.running;
  };

  return (key, read) => {
    const reads = known.get(key);
    if (!reads) return begin(key, read);
    if (reads.next) return reads.next.catch(read);
    const again = (): Promise<T> => begin(key, read);
    return (reads.next = reads.running.then(again, again));
  };
};
