import { randomUUID } from "node:crypto";
import { calculateObjectSize } from "bson";
import { connectMongo } from "@nodeloom/platform";
import type { RunEnd, RunInput } from "../../src/contract/run-types";
import { FREE, createExecution } from "../../src/lifecycle/execution";
import { createReads } from "../../src/record/reading/reads";
import { createExecutionStore, type ExecutionStore } from "../../src/record/store";
import { initialNodes } from "../../src/temporal/workflows/graph-run";
import { runOf } from "../support/money";

/** What a row may take, whatever its run gave. */
const ROW_BYTES = 64 * 1024;

const open = async () => {
  const connection = await connectMongo({ uri: process.env.MONGODB_URI!, database: `test_${randomUUID().slice(0, 8)}_executions` });
  const store = createExecutionStore(connection, { retentionDays: 90 });
  const stop = async (): Promise<void> => {
    await connection.dropDatabase();
    await connection.close();
  };
  const bytesOf = async (id: string): Promise<number> => {
    const row = await connection.collection("executions").findOne({ _id: id as never });
    return calculateObjectSize(row as object);
  };
  return { store, stop, bytesOf };
};

let store: ExecutionStore;
let bytesOf: (id: string) => Promise<number>;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ store, bytesOf, stop } = await open());
});
afterAll(() => stop());

const LARGEST = { text: "a loom ".repeat(590_000) };
const endOf = (run: RunInput): RunEnd => ({
  status: "completed",
  result: LARGEST,
  error: null,
  requestId: null,
  nodes: initialNodes(run.plan),
  completed: [],
});
const told: unknown[] = [];
const execution = () =>
  createExecution({ store, channel: { publish: (_id, _event, row) => void told.push(row?.resultJson), subscribe: () => () => undefined } });

it("keeps a result of the largest size beside the row, and tells it as it is wherever an execution is told", async () => {
  const run = runOf("user", []);
  const { executionId } = run;
  await execution().insertFinal(run, endOf(run), {}, []);
  const other = runOf("user", []);
  await store.insert({ ...(await rowOf(executionId)), _id: other.executionId, status: "processing", resultJson: null } as never);
  expect(await execution().finish({ executionId: other.executionId, receivedAt: Date.now() }, endOf(other), FREE, [])).not.toBeNull();
  const { get, page, whole } = createReads({ store });
  for (const id of [executionId, other.executionId]) {
    expect(await bytesOf(id)).toBeLessThan(ROW_BYTES);
    expect(JSON.parse((await get(id, "user")).resultJson)).toEqual(LARGEST);
    expect(JSON.parse((await whole((await store.find(id))!)).resultJson!)).toEqual(LARGEST);
  }
  const { executions } = await page(store.list({ userId: "user", limit: 3 }), 1);
  expect(JSON.parse(executions[0]!.resultJson)).toEqual(LARGEST);
  expect(told.map((json) => JSON.parse(json as string) as unknown)).toEqual([LARGEST, LARGEST]);
});

/** A row without what it became. */
const rowOf = async (id: string): Promise<object> => {
  const { resultHash: _, ...row } = (await store.find(id))!;
  return { ...row, events: [] };
};
