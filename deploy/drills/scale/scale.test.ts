import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expiresBefore, RETENTION } from "../../../services/kernel/src";
import { AUDITED_EVERY, DAY_MS, fund, LEDGER_ROWS, OWNERS, ownerOf, writeDay } from "./day";
import { openWorld, type World } from "./stores";

/**
 * Eight days of runs, written through the stores of all services. Then the clock of retention moves past them, a quarter of a day at a
 * time. Every pass must leave nothing that has expired, so no owner waits for another one. The ledger keeps every row.
 */

const ARRIVING_A_DAY = 100_000;
const RUNS = Number(process.env.SCALE_RUNS ?? ARRIVING_A_DAY);
const LATER_DAYS = 7;
const LATER_RUNS = Math.ceil(RUNS / 10);
const ALL = RUNS + LATER_DAYS * LATER_RUNS;
const PASSES_A_DAY = 4;
/** Retention must remove this many times what arrives. */
const LEAST_RATIO = 3;
const MOST_MEMORY_RATIO = 1.5;
/** Between the first page of usage on the last days and on the first one. The fastest of the last days counts, because other work only slows. */
const MOST_LIST_RATIO = 2;
const LAST_DAYS = 3;
const READS = 40;
const CHECK_MS = 60_000;
/** A busy machine takes hours. */
const MOST_MS = 4 * 60 * 60_000;
const START = new Date("2026-01-05T00:00:00Z");
const EVERY = { status: "", modelId: "", workflowSlug: "", offset: 0, sources: [] as string[] } as const;
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const print = (text: string): void => void process.stderr.write(`${text}\n`);

let world: World;
beforeAll(async () => void (world = await openWorld(START)));
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
  const { executions, media, deliveries } = world.collections;
  const counts = Object.entries({ executions, media, deliveries }).map(
    async ([name, rows]) => [name, await rows.countDocuments({ createdAt: { $lt: before } })] as const,
  );
  return Object.fromEntries(await Promise.all(counts));
};

/** One pass at a time of the simulation. @returns seconds and how much was removed */
const pass = async (at: Date): Promise<{ seconds: number; runs: number; files: number; deliveries: number }> => {
  world.clock.time = at;
  const startedAt = performance.now();
  const removed = await world.removeExpired();
  return {
    seconds: (performance.now() - startedAt) / 1_000,
    runs: removed.executions!.executions!,
    files: removed.media!.generatedMedia!,
    deliveries: removed.notifications!.deliveries!,
  };
};

/** Compares every account with its rows. @param isFull reads all rows, also those that checkpoints include */
const checkLedger = async (isFull: boolean): Promise<{ accounts: number; mismatches: number; staleHolds: number }> => {
  const total = { accounts: 0, mismatches: 0, staleHolds: 0 };
  const startedAt = performance.now();
  for (let cursor: string | undefined; cursor !== "";) {
    const page = await world.billing.checkLedger({ cursor: cursor ?? "", full: isFull }, Date.now() + CHECK_MS);
    total.accounts += page.accounts;
    total.mismatches += page.mismatches.length;
    total.staleHolds += page.staleHolds.length;
    cursor = page.nextCursor;
  }
  print(`${isFull ? "full" : "daily"} check of the ledger: ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  return total;
};

it(
  "retention removes days of 100,000 runs faster than they arrive, and leaves nothing expired of any owner",
  async () => {
    await fund(world);
    print(`${OWNERS} accounts have credits`);
    const writtenAt = performance.now();
    let files = await writeDay(world, START, RUNS);
    print(`day 1: ${RUNS} runs and ${files} files written in ${Math.round((performance.now() - writtenAt) / 1_000)} s`);
    const memory = [memoryMb()];
    const lists = [await usageMs()];
    let [removedRuns, removedFiles, removedDeliveries, seconds] = [0, 0, 0, 0];
    for (let day = 0; day <= LATER_DAYS; day += 1) {
      for (let part = 1; part <= PASSES_A_DAY; part += 1) {
        const end = new Date(START.getTime() + (RETENTION.executions.days + day + part / PASSES_A_DAY) * DAY_MS);
        const passed = await pass(end);
        removedRuns += passed.runs;
        removedFiles += passed.files;
        removedDeliveries += passed.deliveries;
        if (day === 0) seconds += passed.seconds;
        expect(await countBefore(expiresBefore(RETENTION.executions, end))).toEqual({
          executions: 0,
          media: 0,
          deliveries: 0,
        });
      }
      const services = Object.entries(world.secondsOf).map(([name, spent]) => `${name} ${spent.toFixed(1)}`);
      print(`day ${day + 1} is removed; seconds of each service so far: ${services.join(", ")}`);
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
    expect({ removedRuns, removedFiles, removedDeliveries }).toEqual({ removedRuns: ALL, removedFiles: files, removedDeliveries: ALL });
    expect(ratio).toBeGreaterThanOrEqual(LEAST_RATIO);
    expect(memory.at(-1)!).toBeLessThanOrEqual(memory[1]! * MOST_MEMORY_RATIO);
    expect(Math.min(...lists.slice(-LAST_DAYS))).toBeLessThanOrEqual(lists[0]! * MOST_LIST_RATIO);
    expect(await world.collections.calls.countDocuments({})).toBe(0);
  },
  MOST_MS,
);

it(
  "the ledger keeps every row, and every account agrees with it",
  async () => {
    for (const isFull of [true, false]) expect(await checkLedger(isFull)).toEqual({ accounts: OWNERS, mismatches: 0, staleHolds: 0 });
    await world.billing.stop();
    expect(await world.collections.ledger.countDocuments({})).toBe(OWNERS + LEDGER_ROWS * ALL);
  },
  MOST_MS,
);

it(
  "rows of usage and of the audit log expire after 25 months, usage with its share of the totals",
  async () => {
    world.clock.time = new Date(START.getTime() + (RETENTION.usage.months * 31 + 31) * DAY_MS);
    const startedAt = performance.now();
    const { usage, identity } = await world.removeExpired();
    const perSecond = ALL / ((performance.now() - startedAt) / 1_000);
    print(`${ALL} rows of usage and ${identity!.audit!} of the audit log removed, ${Math.round(perSecond)} of usage a second`);
    expect(usage!.usage).toBe(ALL);
    expect(identity!.audit).toBeGreaterThanOrEqual(ALL / AUDITED_EVERY);
    expect(perSecond).toBeGreaterThanOrEqual((LEAST_RATIO * ARRIVING_A_DAY) / (DAY_MS / 1_000));
    for (const rows of [world.collections.usage, world.collections.audit]) expect(await rows.countDocuments({})).toBe(0);
    expect(await world.usage.list({ userId: ownerOf(0), limit: 1, ...EVERY })).toMatchObject({ rows: [], total: 0 });
  },
  MOST_MS,
);
