import { unavailable } from "@nodeloom/kernel";
import { createFreshValue } from "../../src";

const valueOf = (load: () => Promise<string>) => {
  let nowMs = 0;
  const get = createFreshValue({ load, freshMs: 100, staleMs: 1_000, now: () => nowMs });
  return { get, pass: (ms: number) => (nowMs += ms) };
};

describe("a fresh value", () => {
  it("is loaded once for parallel callers, and again when it is old", async () => {
    let loads = 0;
    const { get, pass } = valueOf(() => Promise.resolve(`load ${(loads += 1)}`));
    expect(await Promise.all([get(), get()])).toEqual(["load 1", "load 1"]);
    pass(99);
    expect(await get()).toBe("load 1");
    pass(1);
    expect(await get()).toBe("load 2");
  });

  it("is used while its source is unreachable, up to a limit", async () => {
    let load = (): Promise<string> => Promise.resolve("known");
    const { get, pass } = valueOf(() => load());
    await get();
    load = () => Promise.reject(unavailable("away"));
    pass(999);
    expect(await get()).toBe("known");
    pass(1);
    await expect(get()).rejects.toThrow("away");
  });

  it("isn't used after its source has rejected it", async () => {
    let load = (): Promise<string> => Promise.resolve("known");
    const { get, pass } = valueOf(() => load());
    await get();
    load = () => Promise.reject(new Error("refused"));
    pass(100);
    await expect(get()).rejects.toThrow("refused");
  });
});
