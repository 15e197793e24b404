import { createSharedReads } from "../../src";

const setUp = () => {
  const shared = createSharedReads<number>();
  const reads: { resolve: (value: number) => void; reject: (error: Error) => void }[] = [];
  const read = (key = "a"): Promise<number> => shared(key, () => new Promise((resolve, reject) => void reads.push({ resolve, reject })));
  return { begun: reads, read };
};
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("never returns a value read before the request", async () => {
  const { begun, read } = setUp();
  const first = read();
  const later = [read(), read(), read()];
  begun[0]!.resolve(1);
  await expect(first).resolves.toBe(1);
  await settled();
  expect(begun).toHaveLength(2);
  const last = read();
  begun[1]!.resolve(2);
  await expect(Promise.all(later)).resolves.toEqual([2, 2, 2]);
  await settled();
  begun[2]!.resolve(3);
  await expect(last).resolves.toBe(3);
});

it("starts at once if nothing is being read, and keys don't wait for each other", async () => {
  const { begun, read } = setUp();
  const answers = [read("a"), read("b")];
  begun[0]!.resolve(1);
  begun[1]!.resolve(2);
  await expect(Promise.all(answers)).resolves.toEqual([1, 2]);
  await settled();
  void read("a");
  expect(begun).toHaveLength(3);
});

it("fails no caller because of another's read", async () => {
  const { begun, read } = setUp();
  const first = read();
  const [second, third] = [read(), read()];
  begun[0]!.reject(new Error("first"));
  await expect(first).rejects.toThrow("first");
  await settled();
  begun[1]!.reject(new Error("second"));
  await expect(second).rejects.toThrow("second");
  await settled();
  begun[2]!.resolve(3);
  await expect(third).resolves.toBe(3);
});
