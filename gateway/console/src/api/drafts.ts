import type { Draft, Drafts } from "../document/remote";

/** Drafts in IndexedDB, one per open tab; a lock shows which tabs are alive. */
const DATABASE = "nodeloom";
const STORE = "drafts";

const resultOf = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("the browser's storage failed"));
  });

let opening: Promise<IDBDatabase> | undefined;
const database = (): Promise<IDBDatabase> => {
  opening ??= (() => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    return resultOf(request);
  })();
  return opening;
};

const store = async (mode: IDBTransactionMode): Promise<IDBObjectStore> => (await database()).transaction(STORE, mode).objectStore(STORE);

const lockName = (key: string): string => `nodeloom-draft:${key}`;

/** Holds a lock while the page lives or until it is released. */
const hold = async (key: string): Promise<() => void> => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await new Promise<void>((granted) => {
    void navigator.locks.request(lockName(key), () => {
      granted();
      return released;
    });
  });
  return release;
};

/** Drafts of one user's workflow in this tab. */
export const browserDrafts = async (userId: string, slug: string): Promise<Drafts & { release(): void }> => {
  const prefix = `${userId}/${slug}/`;
  const key = `${prefix}${crypto.randomUUID()}`;
  const release = await hold(key);
  const takenKeys: string[] = [];
  return {
    release,
    put: async (draft) => void (await resultOf((await store("readwrite")).put(draft, key))),
    // A recovered draft is kept until it is saved: after a crash it is recovered again, and merging twice equals merging once.
    clear: async () => {
      for (const one of [key, ...takenKeys.splice(0)]) await resultOf((await store("readwrite")).delete(one));
    },
    take: async () => {
      const { held = [] } = await navigator.locks.query();
      const alive = new Set(held.map(({ name }) => name));
      const keys = await resultOf((await store("readonly")).getAllKeys(IDBKeyRange.bound(prefix, `${prefix}\uffff`)));
      takenKeys.push(...keys.map(String).filter((one) => !alive.has(lockName(one))));
      const drafts = await Promise.all(
        takenKeys.map(async (one) => (await resultOf((await store("readonly")).get(one))) as Draft | undefined),
      );
      return drafts.filter((draft) => draft !== undefined);
    },
  };
};
