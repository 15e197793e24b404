import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import threads, { Worker } from "node:worker_threads";
import { withoutTraces } from "../../src/temporal/workflow-thread";

/** Says how many promises a hook of the thread heard of. */
const PROBE = `
  const { parentPort } = require("node:worker_threads");
  let heard = 0;
  const stop = require("node:v8").promiseHooks.createHook({ init: () => (heard += 1) });
  Promise.resolve().then(() => { stop(); parentPort.postMessage(heard); });
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "workflow-thread-"));
  for (const name of ["workflow-worker-thread.js", "other.js"]) await writeFile(join(folder, name), PROBE);
});
afterAll(() => rm(folder, { recursive: true }));

const heardIn = async (name: string): Promise<number> => {
  const worker = new threads.Worker(join(folder, name));
  const [heard] = (await once(worker, "message")) as [number];
  await worker.terminate();
  return heard;
};

it("lets the SDK's threads alone hear of no promise", async () => {
  expect(await withoutTraces(() => heardIn("workflow-worker-thread.js"))).toBe(0);
  expect(await withoutTraces(() => heardIn("other.js"))).toBeGreaterThan(0);
});

it("changes nothing for threads that are started later", async () => {
  await withoutTraces(() => Promise.reject(new Error("no worker"))).catch(() => undefined);
  expect(threads.Worker).toBe(Worker);
  expect(await heardIn("workflow-worker-thread.js")).toBeGreaterThan(0);
});

it("knows the file by which the SDK starts its threads", () => {
  expect(require.resolve("@temporalio/worker/lib/workflow/workflow-worker-thread.js")).toMatch(/workflow-worker-thread\.js$/);
});
