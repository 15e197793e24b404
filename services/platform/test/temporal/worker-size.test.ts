import { pollsPerSecond, workerSize } from "../../src/temporal/worker-size";

it.each([
  [256, 40, 666],
  [1_536, 123, 3_994],
  [8_192, 655, 20_000],
  [65_536, 2_000, 20_000],
])("limits its work by the available memory: %d MB", (limitMb, cached, activities) => {
  expect(workerSize({}, limitMb)).toEqual({ maxCachedWorkflows: cached, maxConcurrentActivityTaskExecutions: activities });
});

it("uses an operator's values instead, each independently", () => {
  expect(workerSize({ WORKER_ACTIVITIES: 7 }, 1_536)).toEqual({ maxCachedWorkflows: 123, maxConcurrentActivityTaskExecutions: 7 });
  expect(workerSize({ WORKER_CACHED_WORKFLOWS: 5 }, 1_536)).toMatchObject({ maxCachedWorkflows: 5 });
});

it.each([
  [256, 50],
  [1_536, 150],
  [65_536, 1_500],
])("limits polls by the available memory too: %d MB", (limitMb, polls) => {
  expect(pollsPerSecond({}, limitMb)).toBe(polls);
  expect(pollsPerSecond({ WORKER_POLLS: 7 }, limitMb)).toBe(7);
});
