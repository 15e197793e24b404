import { randomUUID } from "node:crypto";
import { createLogger } from "@nodeloom/platform";
import { final } from "../../src/calls/failures";
import type { CancelResult, ModelCall, SubmittedJob } from "../../src/run/calls";
import type { CallResult, RunEnd, RunInput } from "../../src/run/types";
import { createRunStarter } from "../../src/workflow/client";
import { createSteps } from "../../src/workflow/step";
import type { RunningTemporal } from "@nodeloom/platform/temporal";
import { runOf } from "../support/money";
import { UNNOTED } from "../support/steps";
import { startWorker } from "../support/temporal";

/** Failures never contain text without a UTF-8 form: Temporal's worker would end at every attempt. */

const logger = createLogger("test", "silent");
const { step } = createSteps({
  calls: { recordEnd: () => Promise.resolve() },
  execution: UNNOTED,
  onCancel: () => () => undefined,
  logger,
  stopping: new AbortController().signal,
});
const ends = new Map<string, (end: RunEnd) => void>();
const endOf = (executionId: string): Promise<RunEnd> => new Promise((resolve) => void ends.set(executionId, resolve));
const NOTHING: CallResult = { files: [], text: null, costMicroUsd: 0, requestId: null };
const activities = {
  claim: () => Promise.resolve(true),
  shortJob: () => Promise.resolve({ declined: true, isClaimed: true }),
  submit: step({}, (_call: ModelCall): Promise<SubmittedJob> => {
    throw final("EXECUTION_FAILED", "no \ud800");
  }),
  poll: (): Promise<CallResult> => Promise.resolve(NOTHING),
  cancelJob: (): Promise<CancelResult> => Promise.reject(new Error("nothing is cancelled here")),
  settle: ({ executionId }: RunInput, end: RunEnd) => {
    ends.get(executionId)?.(end);
    return Promise.resolve({ status: end.status, millicredits: 0 });
  },
};
let temporal: RunningTemporal;
const taskQueue = `halves-${randomUUID().slice(0, 8)}`;
beforeAll(async () => {
  temporal = await startWorker(taskQueue, activities, { shutdownGraceMs: 60_000 });
});
afterAll(() => temporal.stop());

it("ends a run whose failure contains half of a surrogate pair", async () => {
  const input = runOf("user", [{ id: "pic", model: "painter", calls: 1, maxMillicredits: 1 }]);
  input.plan.models = { painter: { providerKind: "http-polling", modality: "image", price: { basis: "run", microUsd: 1 } } };
  const end = endOf(input.executionId);
  await createRunStarter({ client: temporal.client, taskQueue }).start(input);
  expect(await end).toMatchObject({ status: "failed", error: { message: "node pic: no \ufffd" } });
});
