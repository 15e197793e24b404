import { randomUUID } from "node:crypto";
import { connectMongo } from "@nodeloom/platform";
import type { CallContext, RunEnd } from "../../src/run/types";
import { createExecution } from "../../src/lifecycle/execution";
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

it("writes the row of a run with a short call four times, with its progress in the decision on its end", async () => {
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
    requestId: "job",
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
    ...["findAndModify executions", "findAndModify executions", "findAndModify executions"],
  ]);
  const log = await stores.log.events(executionId, userId, 0);
  expect(log!.events.map(({ key }) => key)).toEqual(["admitted", "started:pic", "submitted:pic:0", "completed:pic", "settled"]);
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
