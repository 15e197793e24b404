import { randomUUID } from "node:crypto";
import { connectMongo, makeCollections } from "@nodeloom/platform";
import { createFolding, type Folding } from "../src/totals/folding";
import type { RowsQuery, RunStart } from "../src/requests";
import { createStore, type UsageStore } from "../src/store";
import { createTotalsStore, type TotalsStore } from "../src/totals/totals-store";
import { createUsage, type Usage } from "../src/usage";

const database = `test_${randomUUID().slice(0, 8)}_usage`;
let connection: Awaited<ReturnType<typeof connectMongo>>;
let store: UsageStore;
let totals: TotalsStore;
const open: Folding[] = [];

beforeAll(async () => {
  connection = await connectMongo({ uri: process.env.MONGODB_URI!, database });
  store = createStore(connection);
  totals = createTotalsStore(connection);
  await makeCollections(connection);
});
afterAll(async () => {
  await Promise.all(open.map((folding) => folding.stop()));
  await connection.dropDatabase();
  await connection.close();
});

const refuse = (): never => {
  throw new Error("rows are not read as a whole any more");
};

/** A usage process on the shared database, optionally with write failures. It must not scan rows to count them. */
const start = (faults: { store?: Partial<UsageStore>; totals?: Partial<TotalsStore> } = {}): Usage & { folding: Folding } => {
  const own = { store: { ...store, countAll: refuse, modelNamesOfAll: refuse, ...faults.store }, totals: { ...totals, ...faults.totals } };
  const folding = createFolding({ ...own, onError: () => undefined });
  open.push(folding);
  // Rows are kept for 25 months, so rows from before 2021 are removed.
  const now = (): Date => new Date("2023-02-01T00:00:00Z");
  return { ...createUsage({ ...own, folding, latestId: 0, now, removedPage: 40 }), folding };
};

const FINAL = { costMicroUsd: 0, userCostMicroUsd: 0, durationMs: 1, errorCode: null, requestId: null } as const;
const runOf = (userId: string, part: Partial<RunStart> = {}): RunStart => ({
  executionId: randomUUID(),
  userId,
  workflowSlug: "posters",
  modelIds: ["painter"],
  source: "api-workflow",
  startedAt: new Date("2026-03-01T10:00:00Z"),
  metadata: {},
  ...part,
});
const all = (userId: string, part: Partial<RowsQuery> = {}): RowsQuery => ({
  userId,
  status: "",
  modelId: "",
  workflowSlug: "",
  sources: [],
  limit: 1,
  offset: 0,
  ...part,
});
const finish = (usage: Usage, run: RunStart, status: "completed" | "failed" | "cancelled" = "completed", millicredits = 2): Promise<void> =>
  usage.finish(run, { ...FINAL, status, millicredits, modelCredits: [] });
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));

const SLUGS = ["posters", "songs", null];
const MODELS = [["painter"], ["singer", "painter"], []];
const STATUSES = ["completed", "failed", "cancelled"] as const;
/** Runs that cover all filters. */
const variedRuns = (userId: string, count: number): RunStart[] =>
  times(count, (index) =>
    runOf(userId, {
      workflowSlug: SLUGS[index % 3]!,
      modelIds: MODELS[(index >> 1) % 3]!,
      source: index % 5 === 0 ? "canvas" : index % 5 === 1 ? "api-slim" : "api-workflow",
      startedAt: new Date(Date.UTC(2026, 2, 1 + (index % 3))),
    }),
  );

/** Compares all filters with counts of the database. */
const expectExact = async (usage: Usage, userId: string): Promise<void> => {
  for (const status of ["", "failed"] as const) {
    for (const modelId of ["", "singer"]) {
      for (const workflowSlug of ["", "songs"]) {
        for (const sources of [[], ["api-slim", "api-workflow"]]) {
          const query = all(userId, { status, modelId, workflowSlug, sources });
          const { total } = await usage.list(query);
          expect({ ...query, total }).toEqual({ ...query, total: await store.countAll(query) });
        }
      }
    }
  }
};

it("counts exactly by every filter, while rows of all kinds are added, end and move into the totals", async () => {
  const userId = randomUUID();
  const [one, other] = [start(), start()];
  const runs = variedRuns(userId, 300);
  const readTotals: number[] = [];
  const reader = (async () => {
    while (readTotals.at(-1) !== runs.length) readTotals.push((await other.list(all(userId))).total);
  })();
  await Promise.all(
    runs.map(async (run, index) => {
      const usage = index % 2 === 0 ? one : other;
      if (index % 4 !== 0) await usage.start(run);
      if (index % 9 !== 0) await finish(usage, run, STATUSES[index % 3]!);
      else await usage.start(run);
    }),
  );
  await reader;
  expect(readTotals).toEqual([...readTotals].sort((a, b) => a - b));
  await one.folding.foldAll(userId);
  expect((await store.uncounted(userId)).length).toBeLessThan(runs.length / 2);
  await expectExact(other, userId);
  expect(await one.modelNames({ userId, sources: [] })).toEqual(["painter", "singer"]);
});

const STEPS: [string, (fail: () => Promise<never>) => { store?: Partial<UsageStore>; totals?: Partial<TotalsStore> }][] = [
  ["before anything is added", (fail) => ({ totals: { add: fail } })],
  ["when everything is added", (fail) => ({ store: { markCounted: fail } })],
  [
    "in the middle of adding",
    (fail) => ({
      totals: {
        add: async (fold, { counts }) => {
          await totals.add(fold, { counts: new Map([...counts].slice(0, 2)), days: new Map() });
          return fail();
        },
      },
    }),
  ],
  [
    "in the middle of marking",
    (fail) => ({
      store: {
        markCounted: async (ids) => {
          await store.markCounted(ids.slice(0, 50));
          return fail();
        },
      },
    }),
  ],
  ["before it is noted", (fail) => ({ totals: { complete: fail } })],
];

it.each(STEPS)("counts every row once if a process dies in a fold: %s", async (_, faultsOf) => {
  const userId = randomUUID();
  const dies = (): Promise<never> => Promise.reject(new Error("killed"));
  const [dying, ...others] = [start(faultsOf(dies)), start(), start()];
  for (const run of variedRuns(userId, 130)) await finish(dying!, run);
  await expect(dying!.folding.foldAll(userId)).rejects.toThrow("killed");
  expect((await totals.progress(userId)).pending).not.toBeNull();
  // Two other processes complete the fold concurrently.
  const results = await Promise.all(others.map((usage) => usage.list(all(userId))));
  expect(results.map(({ total }) => total)).toEqual([130, 130]);
  await expectExact(others[0]!, userId);
  expect((await store.uncounted(userId)).length).toBeLessThan(130);
});

it("sums up days and models, of rows inside and outside of the totals", async () => {
  const userId = randomUUID();
  const usage = start();
  const runs = variedRuns(userId, 150);
  for (const run of runs) {
    const modelCredits = run.modelIds.map((model, index) => ({ model, millicredits: index + 1 }));
    const millicredits = modelCredits.reduce((sum, each) => sum + each.millicredits, 0);
    await usage.finish(run, { ...FINAL, status: "completed", millicredits, modelCredits });
  }
  const expected = (): unknown[] => {
    const sums = new Map<string, { day: string; model: string; runs: number; millicredits: number }>();
    for (const { startedAt, modelIds, source } of runs.filter((run) => run.source !== "canvas")) {
      expect(source).not.toBe("canvas");
      const parts = modelIds.map((model, index) => [model, index + 1] as const);
      const whole = ["", parts.reduce((sum, [, part]) => sum + part, 0)] as const;
      for (const [model, part] of [whole, ...parts]) {
        const day = startedAt.toISOString().slice(0, 10);
        const sum = sums.get(`${day} ${model}`) ?? { day, model, runs: 0, millicredits: 0 };
        sums.set(`${day} ${model}`, { ...sum, runs: sum.runs + 1, millicredits: sum.millicredits + part });
      }
    }
    return [...sums.keys()].sort().map((key) => sums.get(key));
  };
  const query = { userId, fromDay: "2026-02-27", toDay: "2026-03-04", sources: ["api-slim", "api-workflow"] };
  expect(await usage.dailySums(query)).toEqual(expected());
  await usage.folding.foldAll(userId, 1);
  expect(await store.uncounted(userId)).toEqual([]);
  expect(await usage.dailySums(query)).toEqual(expected());
});

it("removes expired rows and their share of the totals, even if a process crashes meanwhile", async () => {
  const userId = randomUUID();
  const dies = (): Promise<never> => Promise.reject(new Error("killed"));
  const removeSome = async (ids: readonly string[]): Promise<never> => {
    await store.remove(ids.slice(0, 10));
    return dies();
  };
  const [usage, dying] = [start(), start({ store: { remove: removeSome } })];
  const long = new Date("2020-01-01T00:00:00Z");
  const old = times(60, () => runOf(userId, { startedAt: long, workflowSlug: "songs", modelIds: ["drummer"] }));
  for (const run of [...old, ...variedRuns(userId, 30)]) await finish(usage, run);
  const running = runOf(userId, { startedAt: long });
  await usage.start(running);
  await usage.folding.foldAll(userId, 50);
  // Expired rows that the totals don't include yet.
  for (const run of times(5, () => runOf(userId, { startedAt: long, modelIds: ["drummer"] }))) await finish(usage, run);
  await expect(dying.removeExpired("")).rejects.toThrow("killed");
  for (let cursor: string | undefined; cursor !== "";) cursor = (await usage.removeExpired(cursor ?? "")).nextCursor;
  expect((await usage.list(all(userId))).total).toBe(31);
  await expectExact(usage, userId);
  expect(await usage.modelNames({ userId, sources: [] })).toEqual(["painter", "singer"]);
  expect(await usage.dailySums({ userId, fromDay: "2020-01-01", toDay: "2020-01-02", sources: [] })).toEqual([]);
});
