import { replayable } from "../../src/calls/stored-files";

async function* arriving(texts: readonly string[], failure?: Error): AsyncIterable<Uint8Array> {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text));
  if (failure) throw failure;
}
const collect = async (bytes: AsyncIterable<Uint8Array>, stopAfter = Number.POSITIVE_INFINITY): Promise<string[]> => {
  const read: string[] = [];
  for await (const chunk of bytes) if (read.push(Buffer.from(chunk).toString()) >= stopAfter) break;
  return read;
};

it("is read from the start every time, also after a reader stopped", async () => {
  const read = replayable(arriving(["a", "b", "c"]));
  expect(await collect(read(), 2)).toEqual(["a", "b"]);
  expect(await collect(read())).toEqual(["a", "b", "c"]);
  expect(await collect(read())).toEqual(["a", "b", "c"]);
});

it("fails for every reader where its source failed", async () => {
  const read = replayable(arriving(["a"], new Error("broken")));
  await expect(collect(read())).rejects.toThrow("broken");
  await expect(collect(read())).rejects.toThrow("broken");
});
