import { replayable } from "../../src/calls/stored-files";

async function* arriving(texts: readonly string[], failure?: Error): AsyncIterable<Uint8Array> {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text));
  if (failure) throw failure;
}
const collect = async (bytes: AsyncIterable<Uint8Array>, stopAfter = Number.POSITIVE_INFINITY): Promise<string[]> => {
  const pieces: string[] = [];
  for await (const chunk of bytes) if (pieces.push(Buffer.from(chunk).toString()) >= stopAfter) break;
  return pieces;
};

it("is read from the start every time, also after a reader stopped", async () => {
  const readAgain = replayable(arriving(["a", "b", "c"]));
  expect(await collect(readAgain(), 2)).toEqual(["a", "b"]);
  expect(await collect(readAgain())).toEqual(["a", "b", "c"]);
  expect(await collect(readAgain())).toEqual(["a", "b", "c"]);
});

it("fails for every reader where its source failed", async () => {
  const readAgain = replayable(arriving(["a"], new Error("broken")));
  await expect(collect(readAgain())).rejects.toThrow("broken");
  await expect(collect(readAgain())).rejects.toThrow("broken");
});
