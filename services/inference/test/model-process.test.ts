import { readFileSync } from "node:fs";
import { createFolder, removeFolder, STAND_IN } from "./support/inference";
import { memoryOf } from "@nodeloom/platform";
import { startModelProcess, type ModelProcess, type ProcessLimits } from "../src/pool/model-process";

const folder = createFolder();
const MB = 1_024 * 1_024;
const LIMITS: ProcessLimits = { memoryBytes: 400 * MB, loadMs: 30_000, runMs: 30_000 };
const silent = { progress: () => undefined, text: () => undefined };
const request = (prompt: string) => ({ inputs: { prompt }, files: {}, folder });

afterAll(() => removeFolder(folder));

const start = (limits: Partial<ProcessLimits> = {}): Promise<ModelProcess> =>
  startModelProcess(STAND_IN, { engine: "speech", cacheFolders: {}, threads: 1 }, { ...LIMITS, ...limits });

describe("the limits of a model's process", () => {
  it("end it if it takes too long", async () => {
    const started = await start({ runMs: 200 });
    await expect(started.run(request("hang"), silent)).rejects.toMatchObject({
      kind: "bounds",
      message: expect.stringContaining("took longer") as string,
    });
    await started.exit;
    expect(started.isAlive()).toBe(false);
  });

  it("end it if it takes too much memory, before it uses up the machine's", async () => {
    const started = await start();
    const [failure, most] = await Promise.all([
      started.run(request("eat"), silent).catch((error: unknown) => error),
      (async () => {
        let most = 0;
        while (started.isAlive()) {
          most = Math.max(most, (await memoryOf(started.pid)) ?? 0);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        return most;
      })(),
    ]);
    expect(failure).toMatchObject({ kind: "bounds", message: expect.stringContaining("more than the 400 MB") as string });
    expect(most).toBeLessThan(4 * LIMITS.memoryBytes);
  });

  it("also apply to aborted requests", async () => {
    const started = await start();
    const disconnect = new AbortController();
    const run = started.run(request("hang"), silent, disconnect.signal);
    disconnect.abort(new Error("nobody waits"));
    await expect(run).rejects.toThrow("nobody waits");
    await started.exit;
  });

  it("give it no secrets of the service", async () => {
    process.env.SECRET_OF_OURS = "secret";
    const started = await start();
    expect(readFileSync(`/proc/${started.pid}/environ`, "utf8")).not.toContain("SECRET_OF_OURS");
    delete process.env.SECRET_OF_OURS;
    started.end();
    await started.exit;
  });
});
