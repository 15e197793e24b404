import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createIdleWatch } from "../../src/process/heap";

const MB = 1024 * 1024;

describe("heap collection of an idle process", () => {
  const busy = { utilization: 0.3, totalBytes: 90 * MB };
  const idle = { utilization: 0.005, totalBytes: 90 * MB };
  const due = (watch: ReturnType<typeof createIdleWatch>, ...looks: (typeof idle)[]) => looks.map((look) => watch.isDue(look));

  it("is due after two idle checks in a row, and not while it works", () => {
    expect(due(createIdleWatch(), busy, busy, idle, busy, idle, idle)).toEqual([false, false, false, false, false, true]);
  });

  it("is due once, until the heap has grown by a quarter of the rest", () => {
    const watch = createIdleWatch();
    watch.collected(40 * MB);
    const at = (totalMb: number) => ({ utilization: 0, totalBytes: totalMb * MB });
    expect(due(watch, at(48), at(49), at(50), at(51))).toEqual([false, false, false, true]);
  });
});

const SUPPORT = join(__dirname, "..", "support");

describe("a process that worked", () => {
  it("frees the heap's growth, even if nothing is allocated any more", async () => {
    const script = ["--expose-gc", "-r", join(SUPPORT, "../../../../test-support/typescript.cjs"), join(SUPPORT, "idle-heap.ts")];
    const { stdout } = await promisify(execFile)(process.execPath, script, { timeout: 170_000 });
    const { grownMb, leftMb } = JSON.parse(stdout) as { grownMb: number; leftMb: number };
    expect(leftMb).toBeLessThan(grownMb / 2);
  });
});
