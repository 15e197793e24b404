/** Counts renders for tests, which set `globalThis.nodeloomRenders` to a Map. */
export const countRender = (what: string): void => {
  const { nodeloomRenders: counts } = globalThis as { nodeloomRenders?: Map<string, number> };
  counts?.set(what, (counts.get(what) ?? 0) + 1);
};
