import { LIMITS } from "@nodeloom/kernel";
import { media } from "@nodeloom/proto";
import { inMediaBatches, uploadParts } from "../../src";

const header = media.UploadHeader.fromPartial({ ownerId: "owner" });

it("sends a file as its header, pieces of limited size in order, and an end", async () => {
  const bytes = Buffer.from(Array.from({ length: 200_001 }, (_, index) => index % 251));
  // Views of a larger buffer. Only their own bytes may be sent.
  const pieces = [bytes.subarray(0, 10), bytes.subarray(10, 150_000), bytes.subarray(150_000)];
  const parts: media.UploadRequest[] = [];
  for await (const part of uploadParts(header, pieces)) parts.push(part);
  expect([parts[0]?.part?.$case, parts.at(-1)?.part?.$case]).toEqual(["header", "end"]);
  const chunks = parts.slice(1, -1).map(({ part }) => (part?.$case === "chunk" ? Buffer.from(part.value) : Buffer.alloc(0)));
  expect(Math.max(...chunks.map(({ length }) => length))).toBe(64 * 1024);
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
});

it("sends no end for an incomplete file", async () => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(Buffer.from("first"));
    throw new Error("broke off");
  }
  const cases: (string | undefined)[] = [];
  const sending = (async () => {
    for await (const { part } of uploadParts(header, broken())) cases.push(part?.$case);
  })();
  await expect(sending).rejects.toThrow("broke off");
  expect(cases).toEqual(["header", "chunk"]);
});

it("requests each of many files once, within a request's limit", async () => {
  const names = Array.from({ length: LIMITS.mediaIds * 2 + 1 }, (_, index) => `file-${index}`);
  const sizes: number[] = [];
  const results = await inMediaBatches(names, (batch) => {
    sizes.push(batch.length);
    return Promise.resolve(batch);
  });
  expect(sizes).toEqual([LIMITS.mediaIds, LIMITS.mediaIds, 1]);
  expect(results).toEqual(names);
  expect(await inMediaBatches([], () => Promise.reject(new Error("nothing to ask for")))).toEqual([]);
});
