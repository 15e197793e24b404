import { createPace } from "../../src/calls/pace";
import { TIMING } from "../../src/contract/timing";

/** A pace that follows this many jobs. */
const following = (jobs: number): ReturnType<typeof createPace> => {
  const pace = createPace();
  for (let job = 0; job < jobs; job += 1) void pace.follow(() => new Promise<void>(() => undefined));
  return pace;
};

it("does not slow down a job that is alone", () => {
  const pace = following(1);
  expect(pace.pollGapMs()).toBeLessThan(10);
  expect(pace.heartbeatTimeoutMs()).toBe(TIMING.heartbeatQuick);
});

it.each([300, 2_000, 4_000])("sends no more than 150 polls and 100 heartbeats a second for %d jobs", (jobs) => {
  const pace = following(jobs);
  expect(jobs / (pace.pollGapMs() / 1_000)).toBeLessThanOrEqual(150.1);
  const beatEveryMs = pace.heartbeatTimeoutMs() / TIMING.beatsPerTimeout;
  if (pace.heartbeatTimeoutMs() < TIMING.heartbeatLongest) expect(jobs / (beatEveryMs / 1_000)).toBeLessThanOrEqual(100.1);
});

it("asks for every job once a minute, and notices a dead process within a minute, however many there are", () => {
  const pace = following(100_000);
  expect(pace.pollGapMs()).toBe(TIMING.pollPause);
  expect(pace.heartbeatTimeoutMs()).toBe(TIMING.heartbeatLongest);
});

it("forgets a job that is over, whichever way it ended", async () => {
  const pace = createPace();
  await pace.follow(() => Promise.resolve());
  await expect(pace.follow(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(pace.pollGapMs()).toBe(0);
});
