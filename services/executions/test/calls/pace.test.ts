import { createPace } from "../../src/calls/pace";
import { TIMING } from "../../src/run/timing";

/** A pace with this many jobs. */
const following = (jobs: number): ReturnType<typeof createPace> => {
  const pace = createPace();
  for (let job = 0; job < jobs; job += 1) void pace.follow("user", () => new Promise<void>(() => undefined));
  return pace;
};

it("doesn't slow down a single job", () => {
  const pace = following(1);
  expect(pace.pollGapMs("user")).toBeLessThan(10);
});

it.each([300, 2_000, 4_000])("sends no more than 150 polls a second for %d jobs", (jobs) => {
  const pace = following(jobs);
  expect(jobs / (pace.pollGapMs("user") / 1_000)).toBeLessThanOrEqual(150.1);
});

it("polls the jobs of each user in equal shares, however many jobs others have", () => {
  const pace = following(4_000);
  void pace.follow("another", () => new Promise<void>(() => undefined));
  expect(pace.pollGapMs("another")).toBeLessThan(20);
  const perSecond = 4_000 / (pace.pollGapMs("user") / 1_000) + 1 / (pace.pollGapMs("another") / 1_000);
  expect(perSecond).toBeLessThanOrEqual(150.1);
});

it("polls every job once a minute, however many there are", () => {
  const pace = following(100_000);
  expect(pace.pollGapMs("user")).toBe(TIMING.pollPause);
});

it("removes a job after its end, however it ended", async () => {
  const pace = createPace();
  await pace.follow("user", () => Promise.resolve());
  await expect(pace.follow("user", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(pace.pollGapMs("user")).toBe(0);
});

describe("the first polls of a job", () => {
  /** Follows jobs of similar duration. @returns the delay until each was seen as done, and the number of polls */
  const play = (pace: ReturnType<typeof createPace>, takesMs: number, jobs: number, intervalMs = 250) =>
    Array.from({ length: jobs }, (_, job) => {
      const doneMs = takesMs * (1 + 0.02 * Math.sin(job));
      const { firstMs, againMs } = pace.polls("model", intervalMs);
      let [askedMs, polls, pauseMs] = [firstMs, 1, againMs];
      for (; askedMs < doneMs; polls += 1) {
        askedMs += pauseMs;
        pauseMs = intervalMs;
      }
      pace.jobDone("model", firstMs, askedMs);
      return { lateMs: askedMs - doneMs, polls };
    });
  const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

  it("are early if the model's jobs are unknown, and then at the provider's interval", () => {
    expect(createPace().polls("model", 250)).toEqual({ firstMs: 100, againMs: 250 });
    expect(createPace().polls("model", 50)).toEqual({ firstMs: 50, againMs: 50 });
  });

  it.each([250, 1_000].flatMap((intervalMs) => [40, 80, 150, 300, 1_000].map((takesMs) => [takesMs, intervalMs])))(
    "are few, and soon after the end, for jobs of %d ms and a provider's interval of %d ms",
    (takesMs, intervalMs) => {
      const pace = createPace();
      play(pace, takesMs, 20, intervalMs);
      const learnt = play(pace, takesMs, 200, intervalMs);
      // Longer jobs are polled at the provider's interval.
      expect(mean(learnt.map(({ polls }) => polls))).toBeLessThan(1.4 + Math.floor((1.02 * takesMs) / intervalMs));
      expect(mean(learnt.map(({ lateMs }) => lateMs))).toBeLessThan(Math.max(65, 0.25 * takesMs));
    },
  );

  it("adapt to a model whose jobs become faster or slower", () => {
    const pace = createPace();
    play(pace, 1_000, 20);
    expect(play(pace, 200, 150).at(-1)!.lateMs).toBeLessThan(100);
    expect(play(pace, 700, 30).at(-1)!.lateMs).toBeLessThan(250);
  });

  it("of quick jobs aren't delayed by slow ones of the same model, even if the slow ones are submitted more often", () => {
    const pace = createPace();
    play(pace, 150, 20, 1_000);
    const late: number[] = [];
    for (let round = 0; round < 50; round += 1) {
      play(pace, 30_000, 3, 1_000);
      late.push(play(pace, 150, 1, 1_000)[0]!.lateMs);
    }
    expect(Math.max(...late.slice(-20))).toBeLessThan(100);
  });

  it.each([50, 250, 1_000])("are never later than the provider's own pause of %d ms, and neither are later polls", (intervalMs) => {
    const pace = createPace();
    play(pace, 60_000, 30, intervalMs);
    const { firstMs, againMs } = pace.polls("model", intervalMs);
    expect(Math.max(firstMs, againMs)).toBeLessThanOrEqual(intervalMs);
  });

  it("are never later than 1.5 s, however long earlier jobs took", () => {
    const pace = createPace();
    play(pace, 60_000, 3, 2_000);
    expect(pace.polls("model", 2_000).firstMs).toBe(1_500);
    expect(pace.polls("another", 2_000).firstMs).toBe(100);
  });
});
