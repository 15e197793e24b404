import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expiresBefore, RETENTION } from "../../../services/kernel/src";
import { DAY_MS, ownerOf, writeDay } from "./day";
import { openWorld, type World } from "./stores";

/**
 * Eight days of runs, written through the stores of executions, usage and media. Then the clock of retention moves past them, a quarter of
 * a day at a time. Every pass must leave nothing that has expired, so no owner waits for another one.
 */

const ARRIVING_A_DAY = 100_000;
const RUNS = Number(process.env.SCALE_RUNS ?? ARRIVING_A_DAY);
const LATER_DAYS = 7;
const LATER_RUNS = Math.ceil(RUNS / 10);
const PASSES_A_DAY = 4;
/** Retention must remove this many times what arrives. */
const LEAST_RATIO = 3;
const MOST_MEMORY_RATIO = 1.5;
const READS = 40;
const START = new Date("2026-01-05T00:00:00Z");
const EVERY = { status: "", modelId: "", workflowSlug: "", offset: 0, sources: [] as string[] } as const;
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const print = (text: string): void => void process.stderr.write(`${text}\n`);

let now = new Date(START);
let world: World;
beforeAll(async () => void (world = await openWorld(() => now)));
afterAll(() => world.close());

/** Median milliseconds of the first page of an owner's usage, for the busiest owners and others. */
const usageMs = async (): Promise<number> => {
  const times: number[] = [];
  for (let readCount = 0; readCount < READS; readCount += 1) {
    const startedAt = performance.now();
    await world.usage.list({ userId: ownerOf(readCount), limit: 50, ...EVERY });
    times.push(performance.now() - startedAt);
  }
  return times.sort((one, other) => one - other)[READS / 2]!;
};

/** Heap in use after a collection. */
const memoryMb = (): number => {
  collect();
  return Math.round(process.memoryUsage().heapUsed / 1e6);
};

const countBefore = async (before: Date): Promise<Record<string, number>> => {
  const { executions, media } = world.collections;
  const filter = { createdAt: { $lt: before } };
  return { executions: await executions.countDocuments(filter), media: await media.countDocuments(filter) };
};

/** One pass at a time of the simulation. @returns seconds and how much was removed */
const pass = async (at: Date): Promise<{ seconds: number; runs: number; files: number }> => {
  now = at;
  const startedAt = performance.now();
  const removed = await world.removeExpired();
  return {
    seconds: (performance.now() - startedAt) / 1_000,
    runs: removed.executions!.executions!,
    files: removed.media!.generatedMedia!,
  };
};

it(
  "retention removes days of 100,000 runs faster than they arrive, and leaves nothing expired of any owner",
  async () => {
    const writtenAt = performance.now();
    let files = await writeDay(world, START, RUNS);
    print(`day 1: ${RUNS} runs and ${files} files written in ${Math.round((performance.now() - writtenAt) / 1_000)} s`);
    const memory = [memoryMb()];
    const lists = [await usageMs()];
    let [removedRuns, removedFiles, seconds] = [0, 0, 0];
    for (let day = 0; day <= LATER_DAYS; day += 1) {
      for (let part = 1; part <= PASSES_A_DAY; part += 1) {
        const end = new Date(START.getTime() + (RETENTION.executions.days + day + part / PASSES_A_DAY) * DAY_MS);
        const passed = await pass(end);
        removedRuns += passed.runs;
        removedFiles += passed.files;
        if (day === 0) seconds += passed.seconds;
        expect(await countBefore(expiresBefore(RETENTION.executions, end))).toEqual({ executions: 0, media: 0 });
      }
      // Runs of the following days arrive while earlier ones expire.
      if (day < LATER_DAYS) files += await writeDay(world, new Date(START.getTime() + (day + 1) * DAY_MS), LATER_RUNS);
      memory.push(memoryMb());
      lists.push(await usageMs());
    }
    const ratio = (RUNS / seconds) * (DAY_MS / 1_000 / ARRIVING_A_DAY);
    print(
      `day 1 was removed in ${Math.round(seconds)} s: ${Math.round(RUNS / seconds)} runs a second, ${Math.round(ratio)} times as fast as they arrive`,
    );
    print(`memory after each day: ${memory.join(", ")} MB; first page of usage: ${lists.map((ms) => ms.toFixed(1)).join(", ")} ms`);
    expect({ removedRuns, removedFiles }).toEqual({ removedRuns: RUNS + LATER_DAYS * LATER_RUNS, removedFiles: files });
    expect(ratio).toBeGreaterThanOrEqual(LEAST_RATIO);
    expect(memory.at(-1)!).toBeLessThanOrEqual(memory[1]! * MOST_MEMORY_RATIO);
    expect(await world.collections.calls.countDocuments({})).toBe(0);
  },
  60 * 60_000,
);

it(
  "rows of usage expire after 25 months, with their share of the totals",
  async () => {
    now = new Date(START.getTime() + (RETENTION.usage.months * 31 + 31) * DAY_MS);
    const startedAt = performance.now();
    const { usage } = await world.removeExpired();
    const all = RUNS + LATER_DAYS * LATER_RUNS;
    const perSecond = all / ((performance.now() - startedAt) / 1_000);
    print(`${all} rows of usage removed, ${Math.round(perSecond)} a second`);
    expect(usage!.usage).toBe(all);
    expect(perSecond).toBeGreaterThanOrEqual((LEAST_RATIO * ARRIVING_A_DAY) / (DAY_MS / 1_000));
    expect(await world.collections.usage.countDocuments({})).toBe(0);
    expect(await world.usage.list({ userId: ownerOf(0), limit: 1, ...EVERY })).toMatchObject({ rows: [], total: 0 });
  },
  60 * 60_000,
);
