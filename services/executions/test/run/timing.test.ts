import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RETENTION } from "@nodeloom/kernel";
import { ATTEMPTS, TIMING } from "../../src/run/timing";

const PAGE = join(__dirname, "..", "..", "..", "..", "docs", "operations", "times.md");
const ROW = /^\| `(\w+)` +\| ([^|]+?) +\|/gm;
/** The setting is a count, not a time. */
const NO_TIME = "beatsPerTimeout";

const UNITS = [
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;
const durationText = (ms: number): string => {
  const [unit, size] = UNITS.find(([, each]) => ms > 0 && ms % each === 0) ?? ["s", 1_000];
  return ms % size === 0 ? `${ms / size} ${unit}` : `${ms} ms`;
};

it("documents every time and every number of attempts in the code", () => {
  const times = Object.entries<number | readonly number[]>(TIMING)
    .filter(([name]) => name !== NO_TIME)
    .map(([name, value]) => [name, [value].flat().map(durationText).join(", ")]);
  const attempts = Object.entries(ATTEMPTS).map(([name, count]) => [name, count.toLocaleString("en")]);
  const documented = [...readFileSync(PAGE, "utf8").matchAll(ROW)].map(([, name, value]) => `${name}: ${value}`);
  expect(documented.sort()).toEqual([...times, ...attempts].map(([name, value]) => `${name}: ${value}`).sort());
});

it("keeps the times in a consistent order", () => {
  const {
    run,
    job,
    submitTotal,
    submitReserve,
    breakerPauses,
    heartbeat,
    heartbeatQuick,
    submitLost,
    text,
    textWanted,
    textForgotten,
    pollPause,
    pollSilence,
  } = TIMING;
  expect(job).toBeLessThan(run);
  expect(submitLost).toBeLessThan(submitReserve);
  // An unavailable provider can be retried within one submission.
  expect(breakerPauses.at(-1)! + submitReserve).toBeLessThan(submitTotal);
  expect(heartbeatQuick).toBeLessThan(heartbeat);
  expect(submitTotal).toBeLessThan(text);
  expect(2 * textWanted).toBeLessThan(textForgotten);
  expect(pollPause).toBeLessThan(pollSilence);
});

it("keeps a run's data for longer than a run that waits for decisions can take", () => {
  const longest = TIMING.queued + TIMING.runAtMost + TIMING.waiting;
  for (const { days } of [RETENTION.claimChecks, RETENTION.generatedMedia]) expect(days * 86_400_000).toBeGreaterThan(longest);
});
