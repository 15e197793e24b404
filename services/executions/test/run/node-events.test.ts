import type { Connection } from "mongoose";
import { createExecution, type Execution } from "../../src/lifecycle/execution";
import { newRecord as runRecord, type ExecutionRecord } from "../../src/run/record";
import type { NodeState, RunEnd, RunInput } from "../../src/run/types";
import { createReads } from "../../src/reads/reads";
import type { Stores } from "../../src/record/stores";
import { DELIVERED, endFree, endsOf, newRecord, openStore } from "../support/index";

let stores: Stores;
let connection: Connection;
let stop: () => Promise<void>;
let execution: Execution;

beforeAll(async () => {
  ({ stores, connection, stop } = await openStore());
  execution = createExecution({ stores, channel: { publish: () => undefined } });
});
afterAll(() => stop());

const START = 1_000_000;
const node = (id: string, type: string, part: Partial<NodeState> = {}): NodeState => ({
  ...newRecord().nodes[0]!,
  id,
  type,
  items: 1,
  ...part,
});
const doneNode = (id: string, type: string, after: number, durationMs = 0): NodeState =>
  node(id, type, { status: "completed", startedAt: START + after, durationMs });
const inputOf = ({ _id, userId }: ExecutionRecord): RunInput =>
  ({
    ...{ executionId: _id, userId, mode: "sync", workflowSlug: null, source: "canvas", keyId: null, webhook: null, concurrency: 0 },
    ...{
      plan: { markupPermille: 1_000, evaluated: [], steps: [], outputNodes: [], warnings: {} },
      modelIds: [],
      holds: [],
      holdId: _id,
      attempt: 1,
      receivedAt: START,
    },
  }) as unknown as RunInput;
const end = (status: RunEnd["status"], nodes: NodeState[], error: RunEnd["error"] = null): RunEnd => ({
  ...{ status, nodes, error, result: null, requestId: null, completed: [] },
});
const finish = (input: RunInput, over: RunEnd) => endFree(stores, execution, input, over);
const begin = async (input: RunInput, nodes: NodeState[]): Promise<void> => {
  await stores.rows.insert(runRecord(input, nodes));
  expect(await execution.claim(input.executionId, 1, "workflow")).not.toBeNull();
};
const log = async (input: RunInput): Promise<[string, unknown][]> =>
  (await stores.log.events(input.executionId, input.userId, 0))!.events.map(({ type, data }) => [type, data.nodeId]);
const call = (input: RunInput, nodeId: string, nodeIndex: number, items = 1): Parameters<Execution["itemCompleted"]>[0] => ({
  ...{ executionId: input.executionId, userId: input.userId, nodeId, nodeIndex, item: 0, items, startedAt: START, key: `x:${nodeId}:0` },
});

it("reports the end of every node of a completed run once, and the end of the run last", async () => {
  const input = inputOf(newRecord());
  const evaluated = node("in", "request-input", { status: "completed", items: 0 });
  await begin(input, [evaluated, node("pic", "generate-image"), node("box", "text-box"), node("out", "response-output")]);
  expect(await log(input)).toEqual([
    ["admitted", undefined],
    ["node.completed", "in"],
  ]);
  await execution.submitted(call(input, "pic", 1), "job");
  await execution.itemCompleted(call(input, "pic", 1), {});
  const nodes = [
    evaluated,
    doneNode("pic", "generate-image", 5, 40),
    doneNode("out", "response-output", 51),
    doneNode("box", "text-box", 45),
    doneNode("none", "generate-video", 45),
  ];
  nodes.at(-1)!.items = 0;
  nodes[2]!.items = 0;
  await finish(input, end("completed", nodes));
  expect((await log(input)).slice(2)).toEqual([
    ["submitted", "pic"],
    ["node.completed", "pic"],
    ["node.completed", "box"],
    ["node.completed", "none"],
    ["node.completed", "out"],
    ["settled", undefined],
  ]);
});

it("reports the outcome of every node of a failed run, and repeats nothing", async () => {
  const input = inputOf(newRecord());
  const states = ["pic", "clip", "song", "box"].map((id) => node(id, id === "box" ? "text-box" : "generate-image"));
  await begin(input, states);
  const error = { code: "EXECUTION_FAILED", message: "node pic: x", nodeId: "pic" } as const;
  await execution.nodeFailed(input.executionId, "pic", error);
  const nodes = [
    node("pic", "generate-image", { status: "failed", startedAt: START, durationMs: 5, error }),
    node("clip", "generate-image", { status: "cancelled", startedAt: START, durationMs: 9, cancelReport: "provider_told" }),
    node("song", "generate-image", { status: "failed", startedAt: START, durationMs: 7, error }),
    node("box", "text-box", { status: "skipped" }),
  ];
  await finish(input, end("failed", nodes, error));
  await finish(input, end("failed", nodes, error));
  expect(await log(input)).toEqual([
    ["admitted", undefined],
    ["node.failed", "pic"],
    ["node.failed", "song"],
    ["node.cancelled", "clip"],
    ["node.skipped", "box"],
    ["settled", undefined],
  ]);
});

it("reports a run that ends at its start as a whole", async () => {
  const input = { ...inputOf(newRecord()), held: [] };
  const nodes = [node("in", "request-input", { status: "completed" }), { ...doneNode("out", "response-output", 0), items: 0 }];
  await endsOf(stores, execution).end({ from: "plan", input, part: {} }, end("completed", nodes));
  expect((await log(input)).map(([type]) => type)).toEqual(["admitted", "node.completed", "node.completed", "settled"]);
});

/** A running run with one node, and its end. */
const underWay = async (): Promise<{ input: RunInput; over: RunEnd }> => {
  const input = inputOf(newRecord());
  await begin(input, [node("pic", "generate-image")]);
  return { input, over: end("completed", [doneNode("pic", "generate-image", 5, 40)]) };
};
const keysOf = async ({ executionId, userId }: RunInput): Promise<string[]> => {
  const keys: string[] = [];
  for (let isMore = true; isMore;) {
    const page = (await stores.log.events(executionId, userId, keys.length))!;
    keys.push(...page.events.map(({ key }) => key));
    isMore = page.more;
  }
  return keys;
};

it("ends the log of a run in its state at the decision on its end, whatever is written meanwhile", async () => {
  const { input, over } = await underWay();
  const { executionId } = input;
  let writtenCount = 0;
  const storm = async (writer: number): Promise<void> => {
    for (let at = 0; at < 1_000; at += 1) {
      const news = { key: `${writer}:${at}`, type: "news", at: new Date(), data: { text: "x".repeat(500) } };
      if (!(await stores.log.append(executionId, [news]))) return;
      writtenCount += 1;
    }
  };
  const storms = [0, 1, 2, 3].map(storm);
  while (writtenCount < 40) await new Promise((resolve) => setImmediate(resolve));
  const { events, logParts } = await execution.decideEnding(executionId, "completed");
  const decided = await stores.log.recordedKeys({ events: events!, ...(logParts ? { logParts } : {}) });
  await Promise.all(storms);
  expect(await finish(input, over)).toBe(true);
  expect(await keysOf(input)).toEqual([...decided, "completed:pic", "settled"]);
});

it("ends a run while the last part of its log is moved", async () => {
  const { input, over } = await underWay();
  const { executionId } = input;
  const decided = await execution.decideEnding(executionId, "completed");
  const rows = connection.collection("executions");
  const { events } = (await rows.findOne({ _id: executionId as never })) as unknown as ExecutionRecord;
  const part = { ...(await stores.payloads.putText(JSON.stringify(events), executionId)), count: events.length };
  await rows.updateOne({ _id: executionId as never }, { $set: { events: [], logParts: [part] } });
  expect(await endFree(stores, { ...execution, decideEnding: () => Promise.resolve(decided) }, input, over)).toBe(true);
  expect(await keysOf(input)).toEqual(["admitted", "completed:pic", "settled"]);
});

it("shows the number of a node's calls once it is known", async () => {
  const input = inputOf(newRecord());
  await begin(input, [node("pic", "generate-image", { items: 50 })]);
  await execution.submitted(call(input, "pic", 0, 3), "job");
  await execution.itemCompleted(call(input, "pic", 0, 3), {});
  expect((await stores.log.current((await stores.rows.find(input.executionId))!)).nodes[0]).toMatchObject({
    items: 3,
    itemsDone: 1,
    status: "processing",
  });
});

it("names a node when its first item is called, and each call without a recorded end, in a running and in a cancelled run", async () => {
  const input = inputOf(newRecord());
  await begin(input, [node("pic", "generate-image", { items: 2 })]);
  const item = (at: number) => ({ ...call(input, "pic", 0, 2), item: at, key: `${input.executionId}:pic:${at}` });
  const reads = createReads(stores, DELIVERED);
  const names = async () => {
    const [pic] = (await reads.get(input.executionId, input.userId)).nodes;
    return [pic!.requestId, pic!.calls.map(({ status, requestId }) => [status, requestId])];
  };
  for (const at of [0, 1]) await stores.calls.submitted(item(at), `send-${at}`);
  await execution.submitted(item(1), "job-1");
  expect(await names()).toEqual([
    undefined,
    [
      ["submitted", undefined],
      ["submitted", "job-1"],
    ],
  ]);
  await execution.submitted(item(0), "job-0");
  expect(await names()).toEqual([
    "job-0",
    [
      ["submitted", "job-0"],
      ["submitted", "job-1"],
    ],
  ]);
  const cancelled = node("pic", "generate-image", { status: "cancelled", items: 2, requestId: "job-0" });
  await finish(input, end("cancelled", [cancelled]));
  expect(await names()).toEqual([
    "job-0",
    [
      ["cancelled", "job-0"],
      ["cancelled", "job-1"],
    ],
  ]);
});

it("names the running calls of a node that makes several", async () => {
  const input = inputOf(newRecord());
  await begin(input, [node("pic", "generate-image", { items: 1 })]);
  const reads = createReads(stores, DELIVERED);
  for (const item of [0, 1]) {
    const one = { ...call(input, "pic", 0, 2), item, key: `${input.executionId}:pic:${item}` };
    await stores.calls.submitted(one, `send-${item}`);
    await execution.submitted(one, `job-${item}`);
  }
  const [pic] = (await reads.get(input.executionId, input.userId)).nodes;
  expect(pic!.calls.map(({ requestId }) => requestId)).toEqual(["job-0", "job-1"]);
});
