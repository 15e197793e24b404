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

/** What is waited in vain for the end of a job, as a share of its time. */
const CLOSE = 0.45;

describe("the first poll of a job", () => {
  /** Follows jobs of a model that take so long, by a provider that is asked again every so often. @returns how late each was seen, and the polls it took */
  const play = (pace: ReturnType<typeof createPace>, takesMs: number, jobs: number, intervalMs = 250) =>
    Array.from({ length: jobs }, () => {
      const firstMs = pace.firstPollMs("model", intervalMs);
      let [askedMs, polls] = [firstMs, 1];
      for (; askedMs < takesMs; polls += 1) askedMs += intervalMs;
      pace.jobDone("model", firstMs, askedMs);
      return { lateMs: askedMs - takesMs, polls };
    });

  it("comes early where nothing is known of the model's jobs", () => {
    expect(createPace().firstPollMs("model", 250)).toBe(100);
    expect(createPace().firstPollMs("model", 50)).toBe(50);
  });

  it.each([40, 150, 300, 1_000])("comes when jobs of %d ms are done, soon after the first of them", (takesMs) => {
    const [, , , , , , , , ...learnt] = play(createPace(), takesMs, 60);
    expect(learnt.filter(({ polls }) => polls > 1).length).toBeLessThanOrEqual(learnt.length / 5);
    const late = learnt.map(({ lateMs }) => lateMs).sort((a, b) => a - b);
    expect(late[Math.floor(late.length / 2)]).toBeLessThan(Math.max(60, CLOSE * takesMs));
  });

  it("follows a model whose jobs become quicker, or slower", () => {
    const pace = createPace();
    play(pace, 1_000, 20);
    expect(play(pace, 200, 150).at(-1)!.lateMs).toBeLessThan(100);
    expect(play(pace, 700, 30).at(-1)!.lateMs).toBeLessThan(210);
  });

  it("never waits longer than 1.5 s, however long jobs took before", () => {
    const pace = createPace();
    play(pace, 60_000, 3, 2_000);
    expect(pace.firstPollMs("model", 2_000)).toBe(1_500);
    expect(pace.firstPollMs("another", 2_000)).toBe(100);
  });
});
