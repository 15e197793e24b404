import { randomUUID } from "node:crypto";
import { Context } from "@temporalio/activity";
import { createLogger } from "@nodeloom/platform";
import { deferred } from "../../../../test-support/deferred";
import { final, TryAgain } from "../../src/calls/failures";
import type { CancelResult, ModelCall, SubmittedJob } from "../../src/run/calls";
import type { CallResult, RunEnd, RunInput } from "../../src/run/types";
import { createRunStarter } from "../../src/workflow/client";
import { createSteps } from "../../src/workflow/step";
import type { RunningTemporal } from "@nodeloom/platform/temporal";
import { runOf } from "../support/money";
import { UNNOTED } from "../support/steps";
import { startWorker } from "../support/temporal";

/** One step of a run over several attempts, like Temporal's. */

const logger = createLogger("test", "silent");
const { step } = createSteps({
  calls: { recordEnd: () => Promise.resolve() },
  execution: UNNOTED,
  onCancel: () => () => undefined,
  logger,
  stopping: new AbortController().signal,
});
/** Retry deadline of each attempt. */
const triesUntil: number[] = [];
const LONG_AGO = 1_000;

/** A request answered with files, in progress until the test ends it. */
interface Request {
  attempts: number;
  start: Promise<void>;
  begin: () => void;
  answer: () => void;
  answered: Promise<void>;
}
const newRequest = (): Request => {
  const { promise: hasBegun, resolve: begin } = deferred();
  const { promise: answered, resolve: answer } = deferred();
  return { attempts: 0, start: hasBegun, begin, answer, answered };
};
const request = newRequest();

const ends = new Map<string, (end: RunEnd) => void>();
const endOf = (executionId: string): Promise<RunEnd> => new Promise((resolve) => void ends.set(executionId, resolve));
const NOTHING: CallResult = { files: [], text: null, costMicroUsd: 0, requestId: null };

const activities = {
  claim: () => Promise.resolve(true),
  shortJob: () => Promise.resolve({ declined: true, isClaimed: true }),
  submit: step({}, (call: ModelCall, { clock }): Promise<SubmittedJob> => {
    triesUntil.push(clock.triesUntil());
    if (triesUntil.length > 1) return Promise.resolve({ requestId: call.key });
    Context.current().heartbeat({ askedAt: LONG_AGO });
    throw new TryAgain(final("EXECUTION_FAILED", "busy"), 10);
  }),
  poll: (): Promise<CallResult> => Promise.resolve(NOTHING),
  cancelJob: (): Promise<CancelResult> => Promise.reject(new Error("nothing is cancelled here")),
  runFiles: step({}, async (_call: ModelCall, { cancelled }): Promise<CallResult> => {
    request.attempts += 1;
    request.begin();
    const rejection = new Promise<never>((_, reject) =>
      cancelled.addEventListener("abort", () => reject(final("EXECUTION_FAILED", "given up"))),
    );
    await Promise.race([request.answered, rejection]);
    return NOTHING;
  }),
  settle: ({ executionId }: RunInput, end: RunEnd) => {
    ends.get(executionId)?.(end);
    return Promise.resolve({ status: end.status, millicredits: 0 });
  },
};

let temporal: RunningTemporal;
const taskQueue = `steps-${randomUUID().slice(0, 8)}`;
const startOne = (): Promise<RunningTemporal> => startWorker(taskQueue, activities, { shutdownGraceMs: 60_000 });
beforeAll(async () => {
  temporal = await startOne();
});
afterAll(() => temporal.stop());

const start = async (providerKind: string): Promise<RunEnd> => {
  const input = runOf("user", [{ id: "pic", model: "painter", calls: 1, maxMillicredits: 1 }]);
  input.plan.models = { painter: { providerKind, modality: "image", price: { basis: "run", microUsd: 1 } } };
  const end = endOf(input.executionId);
  await createRunStarter({ client: temporal.client, taskQueue }).start(input);
  return end;
};

it("tries a provider for one period over all its attempts, on any worker", async () => {
  expect(await start("http-polling")).toMatchObject({ status: "completed" });
  expect(triesUntil).toHaveLength(2);
  expect(triesUntil[1]).toBeLessThan(Date.parse("2000-01-01T00:00:00Z"));
});

it("finishes a request that can't continue elsewhere when its process must stop", async () => {
  const end = start("direct-http");
  await request.start;
  const stopping = temporal;
  const drained = stopping.drain();
  temporal = await startOne();
  request.answer();
  await drained;
  await stopping.close();
  expect(await end).toMatchObject({ status: "completed" });
  expect(request.attempts).toBe(1);
});
