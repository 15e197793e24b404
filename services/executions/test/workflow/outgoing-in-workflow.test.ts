import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { createEgressClient, createLogger, type EgressClient } from "@nodeloom/platform";
import { createHttpRequest } from "../../src/calls/http-request";
import type { Outgoing } from "../../src/workflow/step-failures";
import type { Activities, LocalActivities } from "../../src/workflow/activity-types";
import type { HttpNodeCall } from "../../src/run/calls";
import type { RunEnd, RunInput } from "../../src/run/types";
import { createActivities, type ActivityOptions } from "../../src/workflow/activities";
import { createRunStarter, type RunStarter } from "../../src/workflow/client";
import type { RunningTemporal } from "@nodeloom/platform/temporal";
import { startRecorder, type Recorder } from "../../../../test-support/recorder";
import { openOutgoing } from "../support";
import { startWorker } from "../support/temporal";
import { inputWith, planWith } from "../support/run-inputs";

const PER_WINDOW = 2;

let server: Recorder;
let url: string;
let seenCount: number;
let egress: EgressClient;
/** Budget of the running test's calls. */
let budget: Awaited<ReturnType<typeof openOutgoing>>;
let waited: EventEmitter;
/** Deadlines of counted calls. */
let untils: number[];
let temporal: RunningTemporal;
let starter: RunStarter;
const ends = new Map<string, RunEnd>();

beforeAll(async () => {
  server = await startRecorder((response) => {
    seenCount += 1;
    response.end("here");
  });
  url = `${server.url}/`;
  egress = createEgressClient({ allow: [server.address] });
  const nothing = (): Promise<void> => Promise.resolve();
  const activities = createActivities({
    execution: {
      nodeStarted: nothing,
      itemCompleted: nothing,
      nodeFailed: nothing,
      claim: () => Promise.resolve({ row: {}, again: false }),
    },
    calls: { recordEnd: nothing },
    rows: { callStanding: () => Promise.resolve({ isCancelled: false, baseTier: "pro" }) },
    httpRequest: (call: HttpNodeCall, signal: AbortSignal) =>
      createHttpRequest({ egress, keepAnswer: () => Promise.resolve(undefined) })(call, signal),
    outgoing: {
      call: (...call: Parameters<Outgoing["call"]>) => {
        untils.push(call[2]);
        return budget.outgoing.call(...call).catch((error: unknown) => {
          waited.emit("waits");
          throw error;
        });
      },
    },
    onClaimed: () => undefined,
    webhooks: {},
    onCancel: () => () => undefined,
    logger: createLogger("test", "silent"),
    stopping: new AbortController().signal,
  } as unknown as ActivityOptions);
  const taskQueue = `outgoing-${randomUUID().slice(0, 8)}`;
  temporal = await startWorker(taskQueue, {
    ...activities,
    claim: () => Promise.resolve(true),
    settle: ({ executionId }, end) => {
      ends.set(executionId, end);
      return Promise.resolve({ status: end.status, millicredits: 0 });
    },
  } satisfies Partial<Activities & LocalActivities>);
  starter = createRunStarter({ client: temporal.client, taskQueue });
});
afterAll(async () => {
  await temporal.stop();
  await egress.close();
  await server.close();
});
beforeEach(() => {
  seenCount = 0;
  waited = new EventEmitter();
  untils = [];
});
afterEach(() => budget.stop());

const openWindows = async (windowSeconds: number): Promise<void> => {
  budget = await openOutgoing({ calls: { perMinute: 100, perHostPerMinute: PER_WINDOW }, windowSeconds });
};

const inputOf = (executionId: string, calls: number): RunInput => {
  const steps = Array.from({ length: calls }, (_, n) => ({
    ...{ id: `call${n}`, type: "http-request" as const, sources: {}, listPorts: [], textPorts: [], inputNames: [] },
    ...{ maxItems: 1, maxMillicredits: 0, literals: { method: "GET", url } },
  }));
  return inputWith(executionId, planWith(steps), { mode: "sync" });
};

/** Starts a run with several calls. @returns its end */
const run = async (calls: number, part: Partial<RunInput> = {}): Promise<{ executionId: string; end: Promise<RunEnd> }> => {
  const executionId = randomUUID();
  await starter.start({ ...inputOf(executionId, calls), ...part });
  const result = temporal.client.workflow.getHandle(executionId).result();
  return { executionId, end: result.then(() => ends.get(executionId)!) };
};

it("a run that calls a host faster than its user's limit waits for its turns, and completes", async () => {
  await openWindows(2);
  const waits = once(waited, "waits");
  const { end } = await run(3 * PER_WINDOW);
  await waits;
  expect(await end).toMatchObject({ status: "completed" });
  expect(seenCount).toBe(3 * PER_WINDOW);
});

it("a call whose turn would be too late fails its run, and reports the limit, the host and the time", async () => {
  await openWindows(3_600);
  const { end } = await run(PER_WINDOW + 1);
  expect(await end).toMatchObject({
    status: "failed",
    error: {
      code: "OUTGOING_LIMIT_EXCEEDED",
      nodeId: expect.stringMatching(/^call\d$/) as string,
      message: expect.stringMatching(/^node call\d: more than 2 outgoing calls a minute to 127\.0\.0\.1; try again at 20.*Z$/) as string,
    },
  });
  expect(seenCount).toBeLessThanOrEqual(PER_WINDOW);
});

it("a call made first in the workflow task, and then by an activity, has one waiting time for both", async () => {
  await openWindows(2);
  for (let call = 0; call < PER_WINDOW; call += 1) await budget.outgoing.call({ userId: "u", baseTier: "pro" }, url, Infinity);
  const { end } = await run(1, { attempt: 1 });
  expect(await end).toMatchObject({ status: "completed" });
  expect(untils.length).toBeGreaterThan(1);
  expect(new Set(untils).size).toBe(1);
});

it("a run whose call waits for its turn is cancelled at once", async () => {
  await openWindows(300);
  const waits = once(waited, "waits");
  const { executionId, end } = await run(PER_WINDOW + 1);
  await waits;
  await starter.cancel(executionId);
  expect(await end).toMatchObject({ status: "cancelled" });
  expect(seenCount).toBe(PER_WINDOW);
});
