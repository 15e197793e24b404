/** Resolves to the work's result, or after the time to the result (or error) of `late`. The work itself continues. */
export const withTimeout = async <T, L>(work: T | Promise<T>, timeoutMs: number, late: () => L): Promise<T | L> => {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<L>((resolve, reject) => {
    timer = setTimeout(() => {
      try {
        resolve(late());
      } catch (error) {
        reject(error as Error);
      }
    }, timeoutMs);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
};
