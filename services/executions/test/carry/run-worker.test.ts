import { watchAnswers, type AnswerWatch } from "../../src/carry/run-worker";

const LOOK_MS = 10_000;

let silent: jest.Mock;
let watch: AnswerWatch;
beforeEach(() => {
  jest.useFakeTimers();
  silent = jest.fn();
  watch = watchAnswers(silent);
});
afterEach(() => {
  watch.stop();
  jest.useRealTimers();
});

const never = new Promise<void>(() => undefined);
const looks = (count: number): void => void jest.advanceTimersByTime(count * LOOK_MS);

it("ends workflow code that does not answer for two minutes", () => {
  void watch.watch(never);
  looks(11);
  expect(silent).not.toHaveBeenCalled();
  looks(1);
  expect(silent).toHaveBeenCalledTimes(1);
});

it("takes a thread for alive as long as it answers anything, with an error, too", async () => {
  void watch.watch(never);
  for (let round = 0; round < 5; round += 1) {
    looks(11);
    await watch.watch(Promise.reject(new Error("a workflow failed"))).catch(() => undefined);
    looks(11);
    await watch.watch(Promise.resolve());
  }
  expect(silent).not.toHaveBeenCalled();
});

it("waits for nothing while nothing is asked", async () => {
  await watch.watch(Promise.resolve());
  looks(100);
  expect(silent).not.toHaveBeenCalled();
});

it("counts looks, so that a process that stood still itself takes nobody for silent", () => {
  void watch.watch(never);
  jest.setSystemTime(Date.now() + 3_600_000);
  looks(1);
  expect(silent).not.toHaveBeenCalled();
});
