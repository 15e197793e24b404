import { isUnavailable } from "@nodeloom/kernel";

export interface FreshValueOptions<T> {
  load(): Promise<T>;
  /** A value younger than this is used without a new load. */
  freshMs: number;
  /** A value younger than this is used while its source is unavailable. */
  staleMs: number;
  now?(): number;
}

/**
 * A value from another service with a maximum age. Callers that find it too old share one load; its age counts from the start of the
 * load.
 */
export const createFreshValue = <T>({ load, freshMs, staleMs, now = Date.now }: FreshValueOptions<T>): (() => Promise<T>) => {
  let known: { value: T; at: number } | undefined;
  let loading: Promise<T> | undefined;

  const reload = async (): Promise<T> => {
    const at = now();
    try {
      const value = await load();
      known = { value, at };
      return value;
    } catch (error) {
      if (known && isUnavailable(error) && now() - known.at < staleMs) return known.value;
      known = undefined;
      throw error;
    } finally {
      loading = undefined;
    }
  };

  return () => (known && now() - known.at < freshMs ? Promise.resolve(known.value) : (loading ??= reload()));
};
