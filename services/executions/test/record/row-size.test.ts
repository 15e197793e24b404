import { randomUUID } from "node:crypto";
import { calculateObjectSize } from "bson";
import type { CallContext, RunEnd, RunInput } from "../../src/run/types";
import { createExecution } from "../../src/lifecycle/execution";
import { newRecord, type ExecutionView } from "../../src/run/record";
import type { EventChannel } from "../../src/record/runs/channel";
import type { Stores } from "../../src/record/stores";
import { initialNodes } from "../../src/run/nodes";
import { endFree, endsOf, openStore, readsOf } from "../support";
import { runOf } from "../support/money";

/** Maximum size of a row, whatever its run returned. */
const ROW_BYTES = 64 * 1024;

const open = async () => {
  const { stores, connection, stop } = await openStore({ retentionDays: 90 });
  const bytesOf = async (id: string): Promise<number> => {
    const row = await connection.collection("executions").findOne({ _id: id as never });
    return calculateObjectSize(row as object);
  };
  return { stores, stop, bytesOf };
};

let stores: Stores;
let bytesOf: (id: string) => Promise<number>;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ stores, bytesOf, stop } = await open());
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
/** Rows read when ends are announced. */
const reads: Promise<ExecutionView>[] = [];
const publish: EventChannel["publish"] = (id, { type }) => {
  if (type === "settled") reads.push(stores.rows.find(id).then((row) => stores.log.whole(row!)));
};
const execution = () => createExecution({ stores, channel: { publish } });

it("stores a result of the largest size beside the row, and returns it unchanged wherever an execution is shown", async () => {
  const run = runOf("user", []);
  const { executionId } = run;
  await endsOf(stores, execution()).end({ from: "plan", input: run, part: {} }, endOf(run));
  const other = runOf("user", []);
  await stores.rows.insert({ ...(await rowOf(executionId)), _id: other.executionId, status: "processing", resultJson: null } as never);
  expect(await endFree(stores, execution(), other, endOf(other))).toBe(true);
  const { get, page } = readsOf(stores);
  for (const id of [executionId, other.executionId]) {
    expect(await bytesOf(id)).toBeLessThan(ROW_BYTES);
    expect(JSON.parse((await get(id, "user")).resultJson)).toEqual(LARGEST);
    expect(JSON.parse((await stores.log.whole((await stores.rows.find(id))!)).resultJson!)).toEqual(LARGEST);
  }
  const { executions } = await page(stores.rows.list({ userId: "user", limit: 3 }), 1);
  expect(JSON.parse(executions[0]!.resultJson)).toEqual(LARGEST);
  expect((await Promise.all(reads)).map(({ resultJson }) => JSON.parse(resultJson!) as unknown)).toEqual([LARGEST, LARGEST]);
});

/** A row without the members of its final state. */
const rowOf = async (id: string): Promise<object> => {
  const { resultHash: _, ...row } = (await stores.rows.find(id))!;
  return { ...row, events: [] };
};

/** Simulates workflow and activities of a run with these numbers of nodes and calls. */
const carry = async (nodes: number, callsEach: number): Promise<{ input: RunInput; bytes: number[] }> => {
  const input = runOf(
    "user",
    Array.from({ length: nodes }, (_, index) => ({ id: `node-${index}`, model: "painter", calls: callsEach, maxMillicredits: 1 })),
  );
  const { executionId, userId } = input;
  const lives = execution();
  await stores.rows.insert(newRecord(input, initialNodes(input.plan)));
  await lives.claim(executionId, 1, "workflow");
  const bytes = [await bytesOf(executionId)];
  const context = (nodeIndex: number, item: number): CallContext => ({
    ...{ executionId, userId, nodeId: `node-${nodeIndex}`, nodeIndex, item, items: callsEach, startedAt: Date.now(), key: "" },
  });
  const files = [{ url: `https://nodeloom.test/media/${"0".repeat(32)}.png`, contentType: "image/png" }];
  // Number of steps that run in parallel.
  const width = callsEach === 1 ? 25 : 2;
  for (let first = 0; first < nodes; first += width) {
    const calls = Array.from({ length: width * callsEach }, (_, at) => context(first + Math.floor(at / callsEach), at % callsEach));
    await Promise.all(calls.map((call) => lives.submitted(call, randomUUID())));
    await Promise.all(calls.map((call) => lives.itemCompleted(call, { files })));
    bytes.push(await bytesOf(executionId));
  }
  const log = await stores.log.current((await stores.rows.find(executionId))!);
  expect(log.nodes.map(({ id, status, items, itemsDone }) => [id, status, items, itemsDone])).toEqual(
    Array.from({ length: nodes }, (_, index) => [`node-${index}`, "completed", callsEach, callsEach]),
  );
  const doneNodes = log.nodes.map((node) => ({ ...node, durationMs: 1 }));
  await endFree(stores, lives, input, { ...endOf(input), result: null, nodes: doneNodes });
  bytes.push(await bytesOf(executionId));
  return { input, bytes };
};

const logOf = async ({ executionId, userId }: RunInput): Promise<{ sequence: number; key: string }[]> => {
  const events: { sequence: number; key: string }[] = [];
  for (let isMore = true; isMore;) {
    const page = (await stores.log.events(executionId, userId, events.length))!;
    events.push(...page.events);
    isMore = page.more;
  }
  return events;
};

it.each([
  [20, 50],
  [500, 1],
])("stays small for a run of %i nodes with %i calls each, and its log has everything once, in order", async (nodes, callsEach) => {
  const { input, bytes } = await carry(nodes, callsEach);
  expect(Math.max(...bytes)).toBeLessThan(ROW_BYTES);
  const log = await logOf(input);
  expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
  const ends = Array.from({ length: nodes }, (_, node) => `completed:node-${node}`);
  const calls = ends.flatMap((_, node) => Array.from({ length: callsEach }, (_, item) => `node-${node}:${item}`));
  const items = callsEach === 1 ? [] : calls.map((call) => `item:${call}`);
  expect(log.map(({ key }) => key).sort()).toEqual(
    ["admitted", ...calls.map((call) => `submitted:${call}`), ...items, ...ends, "settled"].sort(),
  );
  expect([log[0]!.key, log.at(-1)!.key]).toEqual(["admitted", "settled"]);
  expect((await stores.log.whole((await stores.rows.find(input.executionId))!)).nodes).toHaveLength(nodes);
});

it("stores 500 nodes that planning evaluated beside the row", async () => {
  const { plan, ...rest } = runOf("user", []);
  const evaluated = Array.from({ length: 500 }, (_, index) => ({ id: `text-${index}`, type: "text-box" as const, warnings: [] }));
  const run: RunInput = { ...rest, plan: { ...plan, evaluated } };
  await endsOf(stores, execution()).end({ from: "plan", input: run, part: {} }, { ...endOf(run), result: null });
  expect(await bytesOf(run.executionId)).toBeLessThan(ROW_BYTES);
  expect(await logOf(run)).toHaveLength(502);
  expect((await readsOf(stores).get(run.executionId, "user")).nodes).toHaveLength(500);
});
