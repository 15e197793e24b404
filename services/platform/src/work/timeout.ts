/** Resolves to the work's result. After the time-out, resolves to the result (or error) of `late`; the work continues. */
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
