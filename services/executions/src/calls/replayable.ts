/**
 * Bytes that arrive once, to be read as often as needed: each reading begins at the first byte. What was read is kept, and a
 * reader that gives up takes nothing away from the next one.
 */
export const replayable = (bytes: AsyncIterable<Uint8Array>): (() => AsyncIterable<Uint8Array>) => {
  const source = bytes[Symbol.asyncIterator]();
  const kept: Promise<IteratorResult<Uint8Array>>[] = [];
  return async function* read() {
    for (let index = 0; ; index += 1) {
      const next = await (kept[index] ??= source.next());
      if (next.done === true) return;
      yield next.value;
    }
  };
};
