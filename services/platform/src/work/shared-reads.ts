/** The running read of a key, and the next read if a caller arrived after the start. */
interface Reads<T> {
  running: Promise<T>;
  next: Promise<T> | undefined;
}

/**
 * Reads a value once for all callers that arrive during a read. They share the next read, which starts when the current one ends, so they
 * see everything written before their call. If a shared read fails, each caller reads separately.
 */
export const createSharedReads = <T>(): ((key: string, readValue: () => Promise<T>) => Promise<T>) => {
  const readsByKey = new Map<string, Reads<T>>();

  const begin = (key: string, readValue: () => Promise<T>): Promise<T> => {
    const reads: Reads<T> = { running: (async () => readValue())(), next: undefined };
    readsByKey.set(key, reads);
    const end = (): void => void (reads.next === undefined && readsByKey.delete(key));
    reads.running.then(end, end);
    return reads.running;
  };

  return (key, readValue) => {
    const reads = readsByKey.get(key);
    if (!reads) return begin(key, readValue);
    if (reads.next) return reads.next.catch(readValue);
    const again = (): Promise<T> => begin(key, readValue);
    return (reads.next = reads.running.then(again, again));
  };
};
