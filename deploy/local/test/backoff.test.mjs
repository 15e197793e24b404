import assert from "node:assert/strict";
import { test } from "node:test";
import { createBackoff } from "../run/backoff.mjs";

test("waits twice as long after each crash, up to the longest pause", () => {
  const next = createBackoff({ firstMs: 250, longestMs: 10_000 });
  const delays = Array.from({ length: 8 }, () => next(100));
  assert.deepEqual(delays, [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
});

test("starts from the shortest pause again after a healthy minute", () => {
  const next = createBackoff();
  for (let crash = 0; crash < 5; crash += 1) next(59_999);
  assert.equal(next(60_000), 250);
  assert.equal(next(0), 500);
});
