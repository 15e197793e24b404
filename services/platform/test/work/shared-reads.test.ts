import { createSharedReads } from "../../src";

const setUp = () => {
  const shared = createSharedReads<number>();
  const reads: { resolve: (value: number) => void; reject: (error: Error) => void }[] = [];
  const read = (key = "a"): Promise<number> => shared(key, () => new Promise((resolve, reject) => void reads.push({ resolve, reject })));
  return { reads, read };
};
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("never returns a value read before the request", async () => {
  const { reads, read } = setUp();
  const first = read();
  const later = [read(), read(), read()];
  reads[0]!.resolve(1);
  await expect(first).resolves.toBe(1);
  await settled();
  expect(reads).toHaveLength(2);
  const last = read();
  reads[1]!.resolve(2);
  await expect(Promise.all(later)).resolves.toEqual([2, 2, 2]);
  await settled();
  reads[2]!.resolve(3);
  await expect(last).resolves.toBe(3);
});

it("starts at once if nothing is being read, and keys don't wait for each other", async () => {
  const { reads, read } = setUp();
  const answers = [read("a"), read("b")];
  reads[0]!.resolve(1);
  reads[1]!.resolve(2);
  await expect(Promise.all(answers)).resolves.toEqual([1, 2]);
  await settled();
  void read("a");
  expect(reads).toHaveLength(3);
});

it("fails no caller because of another's read", async () => {
  const { reads, read } = setUp();
  const first = read();
  const [second, third] = [read(), read()];
  reads[0]!.reject(new Error("first"));
  await expect(first).rejects.toThrow("first");
  await settled();
  reads[1]!.reject(new Error("second"));
  await expect(second).rejects.toThrow("second");
  await settled();
  reads[2]!.resolve(3);
  await expect(third).resolves.toBe(3);
});
