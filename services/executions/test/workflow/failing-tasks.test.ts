import { randomUUID } from "node:crypto";
import { billing as billingProto } from "@nodeloom/proto";
import { createRunStarter, type RunStarter } from "../../src/workflow/client";
import { createFailingTasks, failuresIn, isSignaled, type FailingTasks } from "../../src/workflow/failing-tasks";
import type { RunningTemporal } from "@nodeloom/platform/temporal";
import { createAbandon } from "../../src/lifecycle/abandon";
import { createCancellation } from "../../src/accept/cancellation";
import type { RunInput } from "../../src/run/types";
import { eventually } from "../../../../test-support/eventually";
import { runOf, startMoney, type Money } from "../support/money";
import { startWorker } from "../support/temporal";

/** Runs whose workflow code throws, on a real Temporal, which repeats their tasks. */

const taskQueue = `failing-${randomUUID().slice(0, 8)}`;
const CANCEL_MS = 2_000;
const PRICE = 6_000;
const WAIT_MS = 60_000;
let money: Money;
let temporal: RunningTemporal;
let starter: RunStarter;
let tasks: FailingTasks;
beforeAll(async () => {
  money = await startMoney();
  temporal = await startWorker(taskQueue, { claim: async () => true, settle: money.settle });
  starter = createRunStarter({ client: temporal.client, taskQueue });
  tasks = createFailingTasks({ client: temporal.client, taskQueue, build: temporal.build });
});
afterAll(async () => {
  await temporal.stop();
  await money.stopBalanced();
});

/** A running run with a failing task: the workflow's code can't read its plan. */
const startFailing = async (): Promise<RunInput> => {
  const userId = randomUUID();
  const kind = billingProto.CreditKind.CREDIT_KIND_PLAN;
  await money.billing.credit(billingProto.CreditRequest.fromPartial({ userId, kind, millicredits: PRICE, reference: randomUUID() }));
  const run = await money.begin(runOf(userId, [{ id: "pics", model: "painter", calls: 1, maxMillicredits: PRICE }]));
  const [step] = run.plan.steps;
  await starter.start({ ...run, plan: { ...run.plan, steps: [{ ...step!, sources: null as never }] } });
  await eventually(() => tasks.isFailing(run.executionId));
  return run;
};

it("a run whose workflow task fails is over within 2 seconds of its cancellation, with its credits free", async () => {
  const { stores, execution, outbox, end, endQueued } = money;
  const run = await startFailing();
  const cancellation = createCancellation({
    ...{ stores, execution, outbox, tasks, end: { endQueued }, awaitDelivered: async () => undefined },
    abandon: createAbandon({ stores, starter, end: { end } }),
  });
  const askedAt = Date.now();
  expect(await cancellation.cancel(run.executionId, run.userId)).toBe("cancel_requested");
  expect(await stores.rows.find(run.executionId)).toMatchObject({ status: "cancelled", millicredits: 0 });
  expect(Date.now() - askedAt).toBeLessThan(CANCEL_MS);
  expect((await money.billing.getAccount({ userId: run.userId })).account).toMatchObject({ heldMillicredits: 0 });
  expect(await starter.isRunning(run.executionId)).toBe(false);
});

it("a workflow with a failing task is found, with the failing build; one that failed on another build gets a signal", async () => {
  const { executionId } = await startFailing();
  const signaled: string[] = [];
  const signal = async (id: string): Promise<void> => {
    signaled.push(id);
    await starter.placed(id);
  };
  await eventually(async () => (await tasks.list()).some(({ workflowId, type }) => workflowId === executionId && type === "executeGraph"));
  expect((await tasks.failures(executionId, signal))!.count).toBeGreaterThanOrEqual(1);
  expect(Date.now() - (await tasks.failures(executionId, signal))!.since.getTime()).toBeLessThan(WAIT_MS);
  expect(signaled).toEqual([]);
  expect(await tasks.isOneBuild()).toBe(true);
  const next = createFailingTasks({ client: temporal.client, taskQueue, build: "the next" });
  expect(await next.isOneBuild()).toBe(false);
  expect(await next.failures(executionId, signal)).toBe(null);
  expect(signaled).toEqual([executionId]);
  await starter.terminate(executionId);
  // The run is over, so no task fails.
  expect(await tasks.isFailing(executionId)).toBe(false);
  await starter.terminate(executionId);
});

describe("the consecutive failures of a task", () => {
  const at = (minute: number) => ({ eventTime: { seconds: minute * 60 } });
  /** A first failed attempt on a build's worker. Newest event first. */
  const failed = (build: string, minute: number): object[] => [
    { ...at(minute), workflowTaskFailedEventAttributes: { identity: `nodeloom@1@host@${build}` } },
  ];
  const timedOut = (build: string, minute: number): object[] => [
    { ...at(minute), eventId: 7, workflowTaskTimedOutEventAttributes: { startedEventId: 6 } },
    { ...at(minute), eventId: 6, workflowTaskStartedEventAttributes: { identity: `nodeloom@1@host@${build}` } },
  ];
  const completedTask = [{ workflowTaskCompletedEventAttributes: {} }];
  const signaled = [{ workflowExecutionSignaledEventAttributes: {} }];

  it.each<[string, object[], number, object | null]>([
    ["count the attempts after the first", [...failed("b", 3), ...completedTask], 11, { count: 10, since: 3 }],
    ["begin after the last task that was done", [...failed("b", 3), ...completedTask, ...failed("b", 1)], 2, { count: 1, since: 3 }],
    ["go on over a signal", [...failed("b", 5), ...signaled, ...failed("b", 2), ...completedTask], 4, { count: 4, since: 2 }],
    ["count those that timed out", [...timedOut("b", 3), ...completedTask], 11, { count: 10, since: 3 }],
    ["end at another build", [...failed("b", 5), ...failed("a", 2)], 4, { count: 3, since: 5 }],
    ["are none on this build while another's is the last", [...failed("a", 5), ...failed("b", 2)], 20, null],
    ["are none without an event", signaled, 20, null],
  ])("%s", (_case, events, attempt, expected) => {
    const failures = failuresIn(events as never, attempt, "b");
    expect(failures && { ...failures, since: failures.since.getTime() / 60_000 }).toEqual(expected);
  });

  it.each<[string, object[], boolean]>([
    ["isn't signaled again until the next failure", [...signaled, ...failed("a", 2)], true],
    ["is signaled again after the next failure", [...failed("a", 5), ...signaled], false],
    ["is signaled first without a signal", failed("a", 2), false],
  ])("a workflow %s", (_case, events, expected) => expect(isSignaled(events as never)).toBe(expected));
});
