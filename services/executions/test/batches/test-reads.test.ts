import { randomUUID } from "node:crypto";
import { createJudging } from "../../src/batches/tests/judging";
import { createTestReads } from "../../src/batches/tests/reads";
import { rowId } from "../../src/record/batches";
import type { Stores } from "../../src/record/stores";
import type { BatchRecord, BatchRow } from "../../src/run/batch";
import type { ItemMeasurements } from "../../src/run/batch-tests";
import { openStore } from "../support";

/** Reads runs of tests with the real store. The runs of the tests are simulated. */

let stores: Stores;
let stop: () => Promise<void>;
beforeAll(async () => void ({ stores, stop } = await openStore()));
afterAll(() => stop());

const JUDGED: ItemMeasurements = { json: "{}", runs: ["judge"], millicredits: 7, isOver: true };

it("keeps the cost of a test's judges after its execution was erased", async () => {
  const id = randomUUID();
  const outcomes = [{ passed: true, millicredits: 50, durationMs: 1, measuring: JUDGED.millicredits }];
  const head = {
    createdAt: new Date(),
    price: { estimated: 0, isExact: true },
    _id: id,
    userId: "u",
    status: "completed",
    total: 1,
    again: [],
    underWay: [],
    metadata: [],
    counts: { completed: 1, failed: 0, cancelled: 0 },
  };
  const batch = { ...head, target: { kind: "workflow", slug: "s" }, runner: {}, test: { slug: "s", digest: "", outcomes } };
  await stores.batches.insert(batch as unknown as BatchRecord);
  const row: BatchRow = {
    _id: rowId(id, 0),
    batchId: id,
    index: 0,
    input: { json: "{}" },
    price: 0,
    most: 0,
    millicredits: 20,
    measured: JUDGED,
  };
  await stores.batches.insertRows([row]);
  const judging = createJudging({
    readTested: async () => {
      const [stored] = await stores.batches.rowsAt(id, [0]);
      const run = { status: "completed", error: null, result: undefined, millicredits: 0, durationMs: null, fileAt: () => undefined };
      return [{ test: { name: "x", inputs: {}, expect: [] }, executionId: "e", run, row: stored! }];
    },
    workflows: { notePassedTests: () => Promise.reject(new Error("the workflow needs no note")) },
  });
  const reads = createTestReads({ stores, judging });
  const costOf = async (): Promise<unknown> => {
    const { run } = await reads.get({ userId: "u", slug: "s", batchId: id });
    const [result] = run!.results;
    return [result!.millicredits, result!.measuringMillicredits];
  };
  expect(await costOf()).toEqual([27, 7]);
  await stores.tombstones.markRow(id, 0);
  expect(await costOf()).toEqual([27, 7]);
});
