import { doubling, retry, retryOnConflict } from "../../src/work/retry";

const failing = (times: number): { work: () => Promise<string>; attempts: () => number } => {
  let attempts = 0;
  return {
    work: () => (++attempts <= times ? Promise.reject(new Error(`failure ${attempts}`)) : Promise.resolve("done")),
    attempts: () => attempts,
  };
};

describe("retry", () => {
  it("makes one attempt more than there are pauses, and throws the last failure", async () => {
    const { work, attempts } = failing(3);
    await expect(retry(work, { pausesMs: [0, 0] })).rejects.toThrow("failure 3");
    expect(attempts()).toBe(3);
    expect(await retry(failing(2).work, { pausesMs: [0, 0] })).toBe("done");
  });

  it("stops at once if another attempt can't succeed", async () => {
    const { work, attempts } = failing(3);
    await expect(retry(work, { pausesMs: [0, 0], shouldRetry: (error) => (error as Error).message !== "failure 2" })).rejects.toThrow(
      "failure 2",
    );
    expect(attempts()).toBe(2);
  });

  it("starts no pause that would end after the deadline", async () => {
    const { work, attempts } = failing(3);
    await expect(retry(work, { pausesMs: [60_000], until: Date.now() + 1_000 })).rejects.toThrow("failure 1");
    expect(attempts()).toBe(1);
  });

  it("ends a pause with its signal, and makes no attempt after that", async () => {
    const { work, attempts } = failing(3);
    const stop = new AbortController();
    const retried = retry(work, { pausesMs: [60_000], signal: stop.signal });
    stop.abort(new Error("stopped"));
    await expect(retried).rejects.toThrow("stopped");
    expect(attempts()).toBe(1);
  });

  it("waits as long as a failure itself states, in place of the next pause, if that ends before the deadline", async () => {
    const options = { pausesMs: [], askedMs: () => 0 };
    expect(await retry(failing(3).work, options)).toBe("done");
    const { work, attempts } = failing(1);
    await expect(retry(work, { pausesMs: [0], askedMs: () => 60_000, until: Date.now() + 1_000 })).rejects.toThrow("failure 1");
    expect(attempts()).toBe(1);
  });

  it("doubles pauses up to the longest", () => {
    const pauses = doubling(200, 1_000);
    expect(Array.from({ length: 5 }, () => pauses.next().value)).toEqual([200, 400, 800, 1_000, 1_000]);
  });
});

describe("retryOnConflict", () => {
  /** An attempt with this number of conflicts. */
  const disturbed = (times: number) => {
    const counts: number[] = [];
    const attempt = (count: number): Promise<string | undefined> => {
      counts.push(count);
      return Promise.resolve(count > times ? "done" : undefined);
    };
    return { attempt, counts };
  };

  it("retries while others are faster, up to its limit", async () => {
    const passing = disturbed(2);
    expect(await retryOnConflict(3, passing.attempt)).toBe("done");
    expect(passing.counts).toEqual([1, 2, 3]);
    const hopeless = disturbed(3);
    expect(await retryOnConflict(3, hopeless.attempt)).toBeUndefined();
    expect(hopeless.counts).toEqual([1, 2, 3]);
  });

  it("treats null as a result, and a failure as no conflict", async () => {
    expect(await retryOnConflict(3, () => Promise.resolve(null))).toBeNull();
    const { work, attempts } = failing(2);
    await expect(retryOnConflict(3, work)).rejects.toThrow("failure 1");
    expect(attempts()).toBe(1);
  });

  it("computes each pause after the attempt that it follows", async () => {
    const calls: [number, number][] = [];
    const { attempt, counts } = disturbed(2);
    await retryOnConflict(5, attempt, (count) => {
      calls.push([count, counts.length]);
      return 0;
    });
    expect(calls).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });
});
