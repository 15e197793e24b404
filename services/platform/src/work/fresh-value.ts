import { isUnavailable } from "@nodeloom/kernel";

export interface FreshValueOptions<T> {
  load(): Promise<T>;
  /** Age up to which a value is used without loading it again. */
  freshMs: number;
  /** Age up to which a value is used while its source is unavailable. */
  staleMs: number;
  now?(): number;
}

/**
 * Caches a value from another service up to a maximum age. Callers that find it too old share one load. The age counts from the start of
 * the load.
 */
export const createFreshValue = <T>({ load, freshMs, staleMs, now = Date.now }: FreshValueOptions<T>): (() => Promise<T>) => {
  let cached: { value: T; at: number } | undefined;
  let loading: Promise<T> | undefined;

  const reload = async (): Promise<T> => {
    const at = now();
    try {
      const value = await load();
      cached = { value, at };
      return value;
    } catch (error) {
      if (cached && isUnavailable(error) && now() - cached.at < staleMs) return cached.value;
      cached = undefined;
      throw error;
    } finally {
      loading = undefined;
    }
  };

  return () => (cached && now() - cached.at < freshMs ? Promise.resolve(cached.value) : (loading ??= reload()));
};
