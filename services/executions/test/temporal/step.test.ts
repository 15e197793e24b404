import { randomUUID } from "node:crypto";
import { Context } from "@temporalio/activity";
import { createLogger } from "@nodeloom/platform";
import { final, TryAgain } from "../../src/calls/failures";
import type { Activities, CancelResult, LocalActivities, ModelCall, SubmittedJob } from "../../src/contract/activity-types";
import type { CallResult, RunEnd } from "../../src/contract/run-types";
import { bundlePath } from "../../src/temporal/bundle";
import { createRunStarter } from "../../src/temporal/client";
import { createSteps } from "../../src/temporal/step";
import { connectTemporal, type RunningTemporal } from "../../src/temporal/worker";
import { runOf } from "../support/money";

/** One step of a run over several attempts, as Temporal makes them. */

const logger = createLogger("test", "silent");
const { step } = createSteps({
  calls: { callEnded: () => Promise.resolve() },
  execution: { nodeStarted: () => Promise.resolve(), nodeFailed: () => Promise.resolve(), itemCompleted: () => Promise.resolve() },
  onCancel: () => () => undefined,
  logger,
  stopping: new AbortController().signal,
});
/** Until when each attempt may try its provider. */
const triesUntil: number[] = [];
let over: (end: RunEnd) => void;
const ended = new Promise<RunEnd>((resolve) => (over = resolve));
const LONG_AGO = 1_000;

const activities = {
  claim: () => Promise.resolve(true),
  submit: step({}, (call: ModelCall, { clock }): Promise<SubmittedJob> => {
    triesUntil.push(clock.triesUntil());
    if (triesUntil.length > 1) return Promise.resolve({ requestId: call.key });
    Context.current().heartbeat({ askedAt: LONG_AGO });
    throw new TryAgain(final("EXECUTION_FAILED", "busy"), 10);
  }),
  poll: (): Promise<CallResult> => Promise.resolve({ files: [], text: null, costMicroUsd: 0, requestId: null }),
  cancelJob: (): Promise<CancelResult> => Promise.reject(new Error("nothing is cancelled here")),
  settle: (_input: unknown, end: RunEnd) => {
    over(end);
    return Promise.resolve({ status: end.status, millicredits: 0 });
  },
};

let temporal: RunningTemporal;
const taskQueue = `steps-${randomUUID().slice(0, 8)}`;
beforeAll(async () => {
  temporal = await connectTemporal({
    address: process.env.TEMPORAL_ADDRESS!,
    namespace: "default",
    taskQueue,
    dataConverter: {},
    logger,
    workflowBundle: { codePath: bundlePath },
    shutdownGraceMs: 2_000,
  });
  await temporal.work(activities as unknown as Activities & LocalActivities);
});
afterAll(() => temporal.stop());

it("tries a provider for one span of time over all its attempts, whichever worker makes them", async () => {
  const input = runOf("user", [{ id: "pic", model: "painter", calls: 1, maxMillicredits: 1 }]);
  input.plan.models = { painter: { providerKind: "http-polling", modality: "image", price: { basis: "run", microUsd: 1 } } };
  await createRunStarter({ client: temporal.client, taskQueue }).start(input);
  expect(await ended).toMatchObject({ status: "completed" });
  expect(triesUntil).toHaveLength(2);
  expect(triesUntil[1]).toBeLessThan(Date.parse("2000-01-01T00:00:00Z"));
});
