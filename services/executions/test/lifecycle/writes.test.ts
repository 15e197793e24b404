import { randomUUID } from "node:crypto";
import { connectMongo } from "@nodeloom/platform";
import { eventually } from "../../../../test-support/eventually";
import type { CallContext, RunEnd, RunInput } from "../../src/run/types";
import { createExecution, type Execution } from "../../src/lifecycle/execution";
import { newRecord } from "../../src/run/record";
import { createStores } from "../../src/record/stores";
import { initialNodes } from "../../src/run/nodes";
import { endFree, readsOf } from "../support/index";
import { runOf } from "../support/money";

/** A store in its own database, with a list of its commands. */
const open = async () => {
  const uri = new URL(process.env.MONGODB_URI!);
  uri.searchParams.set("monitorCommands", "true");
  const connection = await connectMongo({ uri: uri.href, database: `test_${randomUUID().slice(0, 8)}_executions` });
  const stores = createStores(connection);
  const commands: string[] = [];
  connection.getClient().on("commandStarted", ({ commandName, command }) => {
    const collection: unknown = command[commandName];
    if (typeof collection === "string") commands.push(`${commandName} ${collection}`);
  });
  const stop = async (): Promise<void> => {
    await connection.dropDatabase();
    await connection.close();
  };
  return { connection, stores, commands, stop };
};

it("writes the row of a free run with a short job three times, with its progress and public id in the last write", async () => {
  const { stores, commands, stop } = await open();
  const execution = createExecution({ stores, channel: { publish: () => undefined } });
  const input = runOf("user", [{ id: "pic", model: "painter", calls: 1, maxMillicredits: 1 }]);
  const { executionId, userId } = input;
  const nodes = initialNodes(input.plan);
  const call: CallContext = { executionId, userId, nodeId: "pic", nodeIndex: 0, item: 0, items: 1, startedAt: Date.now(), key: "" };
  const end: RunEnd = {
    status: "completed",
    result: {},
    error: null,
    requestId: "later job",
    nodes: nodes.map((node) => ({ ...node, status: "completed", startedAt: Date.now(), durationMs: 1 })),
    completed: [],
  };
  await stores.rows.insert(newRecord(input, nodes));
  expect(await execution.claim(executionId, 1, "workflow")).not.toBeNull();
  const progress = [
    execution.nodeStarted(call, true),
    execution.submitted(call, "job", true),
    execution.itemCompleted(call, { files: [] }, true),
  ];
  expect(await endFree(stores, execution, input, end)).toBe(true);
  await Promise.all(progress);
  expect(commands.filter((command) => command.endsWith("executions"))).toEqual([
    "insert executions",
    ...["findAndModify executions", "findAndModify executions"],
  ]);
  expect((await stores.rows.find(executionId))?.requestId).toBe("job");
  const log = await stores.log.events(executionId, userId, 0);
  expect(log!.events.map(({ key }) => key)).toEqual(["admitted", "started:pic", "submitted:pic:0", "completed:pic", "settled"]);
  await stop();
});

const callOf = ({ executionId, userId }: RunInput): CallContext => ({
  ...{ executionId, userId, nodeId: "fetch", nodeIndex: 0, item: 0, items: 1, startedAt: Date.now(), key: `${executionId}:fetch:0` },
});

/** A run under way that holds nothing, with a node that planning evaluated. */
const underWay = async ({ stores }: Pick<Awaited<ReturnType<typeof open>>, "stores">, execution: Execution) => {
  const planned = runOf("user", [{ id: "fetch", model: "http", calls: 1, maxMillicredits: 0 }]);
  const evaluated = [{ id: "in", type: "request-input" as const, warnings: [] }];
  const input: RunInput = { ...planned, plan: { ...planned.plan, evaluated } };
  const nodes = initialNodes(input.plan);
  await stores.rows.insert(newRecord(input, nodes));
  expect(await execution.claim(input.executionId, 1, "workflow")).not.toBeNull();
  const endedNodes = nodes.map((node) => ({ ...node, status: "completed" as const, startedAt: Date.now(), durationMs: 1 }));
  const end: RunEnd = { status: "completed", result: {}, error: null, requestId: null, nodes: endedNodes, completed: [] };
  return { input, end };
};
const keysOf = async ({ stores }: Pick<Awaited<ReturnType<typeof open>>, "stores">, { executionId, userId }: RunInput): Promise<string[]> =>
  (await stores.log.events(executionId, userId, 0))!.events.map(({ key }) => key);

it("decides and writes the end of a run that holds nothing in one update, with its progress", async () => {
  const opened = await open();
  const { stores, commands, stop } = opened;
  const execution = createExecution({ stores, channel: { publish: () => undefined } });
  const { input, end } = await underWay(opened, execution);
  commands.length = 0;
  const progress = [execution.nodeStarted(callOf(input), true), execution.itemCompleted(callOf(input), { status: 200 }, true)];
  expect(await endFree(stores, execution, input, end)).toBe(true);
  await Promise.all(progress);
  expect(commands).toEqual(["findAndModify executions"]);
  expect(await stores.rows.find(input.executionId)).toMatchObject({ status: "completed", ending: "completed", resultJson: "{}" });
  expect(await keysOf(opened, input)).toEqual(["admitted", "completed:in", "started:fetch", "completed:fetch", "settled"]);
  await stop();
});

it("ends a run that holds nothing as cancelled if it was cancelled first, and loses no progress of another process", async () => {
  const opened = await open();
  const { stores, stop } = opened;
  const [execution, another] = [1, 2].map(() => createExecution({ stores, channel: { publish: () => undefined } }));
  const { input, end } = await underWay(opened, execution!);
  await another!.nodeStarted(callOf(input));
  await another!.itemCompleted(callOf(input), { status: 200 });
  expect(await execution!.requestCancel(input.executionId, "user")).not.toBeNull();
  expect(await endFree(stores, execution!, input, end)).toBe(false);
  expect(await stores.rows.find(input.executionId)).toMatchObject({ status: "cancelled", ending: "cancelled" });
  const progress = ["admitted", "completed:in", "started:fetch", "completed:fetch"];
  expect(await keysOf(opened, input)).toEqual([...progress, "cancel_requested", "settled"]);

  const other = await underWay(opened, execution!);
  await another!.itemCompleted(callOf(other.input), { status: 200 });
  expect(await endFree(stores, execution!, other.input, other.end)).toBe(true);
  expect(await keysOf(opened, other.input)).toEqual(["admitted", "completed:in", "completed:fetch", "settled"]);
  await stop();
});

it("doesn't read a run for the call that follows its claim, but stops calls as soon as it is cancelled", async () => {
  const opened = await open();
  const { connection, stores, commands, stop } = opened;
  const execution = createExecution({ stores, channel: { publish: () => undefined } });
  const elsewhere = await connectMongo({ uri: process.env.MONGODB_URI!, database: connection.name });
  const isCancelled = async ({ executionId }: RunInput) => (await stores.rows.callStanding(executionId)).isCancelled;
  const [here, there] = [await underWay(opened, execution), await underWay(opened, execution)];
  commands.length = 0;
  expect(await stores.rows.callStanding(here.input.executionId)).toEqual({ isCancelled: false, baseTier: "pro" });
  expect(commands).toEqual([]);
  await execution.requestCancel(here.input.executionId, "user");
  expect(await isCancelled(here.input)).toBe(true);
  const another = createExecution({ stores: createStores(elsewhere), channel: { publish: () => undefined } });
  await another.requestCancel(there.input.executionId, "user");
  await eventually(() => isCancelled(there.input));
  await elsewhere.close();
  await stop();
});

it("reads the logs of all running runs of a list with one query", async () => {
  const { stores, commands, stop } = await open();
  const execution = createExecution({ stores, channel: { publish: () => undefined } });
  const inputs = Array.from({ length: 5 }, () => runOf("lister", [{ id: "pic", model: "painter", calls: 1, maxMillicredits: 1 }]));
  for (const input of inputs) {
    await stores.rows.insert(newRecord(input, initialNodes(input.plan)));
    await execution.claim(input.executionId, 1, "workflow");
    await execution.submitted({ ...input, nodeId: "pic", nodeIndex: 0, item: 0, items: 1, startedAt: 0, key: "" }, "job");
  }
  commands.length = 0;
  const { executions } = await readsOf(stores).page(stores.rows.list({ userId: "lister", limit: 6 }), 5);
  expect(executions.map(({ nodes }) => nodes[0]!.status)).toEqual(inputs.map(() => "processing"));
  expect(commands).toEqual(["find executions", "find executions"]);
  await stop();
});

it("keeps the provider's name that a run got first, whatever later calls report", async () => {
  const { connection, stores, commands, stop } = await open();
  const input = runOf("user", [{ id: "pic", model: "painter", calls: 4, maxMillicredits: 1 }], { mode: "async" });
  const { executionId, userId } = input;
  const nodes = initialNodes(input.plan);
  await stores.rows.insert(newRecord(input, nodes));
  const elsewhere = await connectMongo({ uri: process.env.MONGODB_URI!, database: connection.name });
  const [one, other] = [stores, createStores(elsewhere)].map((of) =>
    createExecution({ stores: of, channel: { publish: () => undefined } }),
  );
  await one!.claim(executionId, 1, "workflow");
  const submitted = (of: typeof one, item: number): Promise<void> =>
    of!.submitted({ executionId, userId, nodeId: "pic", nodeIndex: 0, item, items: 4, startedAt: 1, key: "" }, `job-${item}`);
  const nameOf = async () => (await stores.rows.find(executionId))?.requestId;
  await submitted(one, 1);
  expect(await nameOf()).toBe("job-1");
  commands.length = 0;
  await submitted(one, 0);
  expect(commands).toEqual(["findAndModify executions"]);
  await submitted(other, 2);
  expect(await nameOf()).toBe("job-1");
  const waiting = submitted(one, 3);
  const decided = await one!.decideEnding(executionId, "completed");
  await waiting;
  expect(decided.requestId).toBe("job-1");
  const endedNodes = nodes.map((node) => ({ ...node, status: "completed" as const, startedAt: 1 }));
  const end: RunEnd = { status: "completed", result: {}, error: null, requestId: "job-0", nodes: endedNodes, completed: [] };
  await endFree(stores, one!, input, end);
  expect(await nameOf()).toBe("job-1");
  const log = await stores.log.events(executionId, userId, 0);
  expect(log!.events.filter(({ type }) => type === "submitted").map(({ data }) => data.item)).toEqual([1, 0, 2, 3]);
  await elsewhere.close();
  await stop();
});
