import { randomUUID } from "node:crypto";
import { createLogger } from "@nodeloom/platform";
import { NativeConnection, Worker } from "@temporalio/worker";
import { eventually } from "../../../platform/test/support/eventually";
import type { Activities, LocalActivities } from "../../src/contract/activity-types";
import type { RunInput } from "../../src/contract/run-types";
import { bundlePath } from "../../src/temporal/bundle";
import { createEarlierQueues } from "../../src/temporal/earlier-queues";
import { earlierQueues, isOfOtherFormat, RUN_FORMAT, runQueue, workerIdentity } from "../../src/temporal/run-queues";
import type { RunningTemporal } from "../../src/temporal/worker";
import { connectToTemporal } from "../support/temporal";

const logger = createLogger("test", "silent");
const workflowBundle = { codePath: bundlePath };
const name = `formats-${randomUUID().slice(0, 8)}`;
const [earlier] = earlierQueues(name) as [string];
const carriedBy = new Map<string, string>();
let temporal: RunningTemporal;

/** Activities of a run without nodes. */
const activitiesOf = (worker: string) =>
  ({
    claim: ({ executionId }: { executionId: string }) => {
      carriedBy.set(executionId, worker);
      return Promise.resolve(true);
    },
    settle: () => Promise.resolve({ status: "completed", millicredits: 0 }),
  }) as unknown as Activities & LocalActivities;

const inputOf = (executionId: string): RunInput => ({
  ...{ executionId, userId: "u", mode: "sync", workflowSlug: "w", source: "canvas", keyId: null, webhook: null, concurrency: 0 },
  plan: { steps: [], evaluated: [], warnings: {}, models: {}, output: {}, outputNodes: [], markupPermille: 1_000 },
  ...{ modelIds: [], holds: [], holdId: `${executionId}.1`, attempt: 1, held: [], receivedAt: Date.now() },
});

const startRun = async (taskQueue: string): Promise<string> => {
  const executionId = randomUUID();
  await temporal.client.workflow.start("executeGraph", { workflowId: executionId, taskQueue, args: [inputOf(executionId)] });
  return executionId;
};
const ended = (executionId: string): Promise<unknown> => temporal.client.workflow.getHandle(executionId).result();

/** Temporal lists what is open a moment after it was started. */
const untilOpen = (taskQueue: string, workflows: number): Promise<number> =>
  eventually(
    async () => (await temporal.client.workflow.count(`TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'`)).count,
    (count) => count === workflows,
  );

const startReleaseBefore = async (taskQueue: string): Promise<() => Promise<void>> => {
  const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS! });
  const activities = { ...activitiesOf("the release before") };
  const worker = await Worker.create({ connection, namespace: "default", taskQueue, workflowBundle, activities });
  const running = worker.run();
  return async () => {
    worker.shutdown();
    await running;
    await connection.close();
  };
};

beforeAll(async () => {
  temporal = await connectToTemporal(runQueue(name), { shutdownGraceMs: 1_000 });
});
afterAll(() => temporal.stop());

it("names the queues of formats apart, and the first as it was before there were formats", () => {
  const names = [runQueue("nodeloom"), ...earlierQueues("nodeloom")];
  expect(new Set(names).size).toBe(RUN_FORMAT);
  expect(names[0]).toBe(`nodeloom-${RUN_FORMAT}`);
  expect(names.at(-1)).toBe("nodeloom");
});

it("tells workers of other formats by their names, those of before there were formats too", () => {
  expect(isOfOtherFormat(workerIdentity("7@host"))).toBe(false);
  for (const other of ["7@host", `nodeloom-${RUN_FORMAT + 1}@7@host`, `nodeloom-${RUN_FORMAT}0@7@host`, ""])
    expect(isOfOtherFormat(other)).toBe(true);
});

it("goes on with a run that an earlier release has started, when nobody of that release is there", async () => {
  const executionId = await startRun(earlier);
  const next = await connectToTemporal(runQueue(name), { earlierQueues: earlierQueues(name), shutdownGraceMs: 1_000 });
  try {
    await untilOpen(earlier, 1);
    await next.work(activitiesOf("the next release"));
    await ended(executionId);
    expect(carriedBy.get(executionId)).toBe("the next release");
  } finally {
    await next.stop();
  }
});

it("leaves a queue alone while a worker of an earlier release polls it, and while nothing is open in it", async () => {
  const queue = `${name}-shared`;
  const taken: string[] = [];
  const work = (taskQueue: string) => {
    taken.push(taskQueue);
    return Promise.resolve({ stop: () => Promise.resolve(void taken.pop()) });
  };
  const queues = createEarlierQueues({ client: temporal.client, queues: [queue], work, logger });
  await queues.look();
  expect(taken).toEqual([]);
  const stopReleaseBefore = await startReleaseBefore(queue);
  const first = await startRun(queue);
  await ended(first);
  expect(carriedBy.get(first)).toBe("the release before");
  // A workflow that nothing ends, so that there is something open beside the worker that polls.
  await temporal.client.workflow.start("executeGraph", {
    ...{ workflowId: randomUUID(), taskQueue: queue, args: [inputOf(randomUUID())] },
    startDelay: "1 day",
  });
  await untilOpen(queue, 1);
  await queues.look();
  expect(taken).toEqual([]);
  await stopReleaseBefore();
  await queues.stop();
});

it("takes a queue up once, and leaves it when nothing is open in it any more", async () => {
  const queue = `${name}-left`;
  const taken: string[] = [];
  const work = (taskQueue: string) => {
    taken.push(taskQueue);
    return Promise.resolve({ stop: () => Promise.resolve(void taken.pop()) });
  };
  const queues = createEarlierQueues({ client: temporal.client, queues: [queue], work, logger });
  const executionId = await startRun(queue);
  await untilOpen(queue, 1);
  await queues.look();
  await queues.look();
  expect(taken).toEqual([queue]);
  await temporal.client.workflow.getHandle(executionId).terminate();
  await untilOpen(queue, 0);
  await queues.look();
  expect(taken).toEqual([]);
});
