import { createFollowing } from "../src/followers";

const forever = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
const aborted = (reason: string): AbortSignal => AbortSignal.abort(new Error(reason));

it("ends works with their own signal or with the long-lived one, and says which", async () => {
  const [process, run, other] = [new AbortController(), new AbortController(), new AbortController()];
  const following = createFollowing(process.signal);
  const one = following(run.signal, forever);
  const two = following(other.signal, forever);
  run.abort(new Error("cancelled"));
  await expect(one).rejects.toThrow("cancelled");
  process.abort(new Error("stopping"));
  await expect(two).rejects.toThrow("stopping");
});

it("begins nothing as if it could go on when either has aborted", async () => {
  const seen = (signal: AbortSignal): Promise<string> => Promise.resolve((signal.reason as Error).message);
  expect(await createFollowing(aborted("stopping"))(new AbortController().signal, seen)).toBe("stopping");
  expect(await createFollowing(new AbortController().signal)(aborted("cancelled"), seen)).toBe("cancelled");
});

it("lets go of works that are over", async () => {
  const process = new AbortController();
  const following = createFollowing(process.signal);
  const late = await following(new AbortController().signal, (signal) => Promise.resolve(signal));
  const failed: AbortSignal[] = [];
  const failing = following(new AbortController().signal, (signal) => Promise.reject(new Error(String(failed.push(signal)))));
  await expect(failing).rejects.toThrow("1");
  process.abort();
  expect([late, ...failed].map(({ aborted: is }) => is)).toEqual([false, false]);
});
