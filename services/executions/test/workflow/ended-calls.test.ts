import { MockActivityEnvironment } from "@temporalio/testing";
import { DefaultLogger } from "@temporalio/worker";
import { createLogger } from "@nodeloom/platform";
import { final } from "../../src/calls/failures";
import { createTextStreams } from "../../src/calls/text-streams";
import type { ModelCall } from "../../src/run/calls";
import type { CallResult } from "../../src/run/types";
import type { CallRecord } from "../../src/run/call-record";
import { createActivities, type ActivityOptions } from "../../src/workflow/activities";

/** Records of calls that fail or aren't awaited. */

const DONE: CallResult = {
  files: [{ url: "http://media.test/1.wav", contentType: "audio/wav" }],
  text: null,
  costMicroUsd: 7,
  requestId: "j",
};
const CALL = { key: "run:song:1", executionId: "run", userId: "u", nodeId: "song", item: 1, items: 2, model: "m" } as ModelCall;
const JOB = { requestId: "j", submittedAt: 0 };
const COMPLETED = {
  _id: "run:song:1",
  status: "completed",
  costMicroUsd: 7,
  requestId: "j",
  outputsJson: JSON.stringify({ audio: DONE.files }),
};

const activitiesOf = (parts: object) => {
  const recorded: CallRecord[] = [];
  const nothing = (): Promise<void> => Promise.resolve();
  const activities = createActivities({
    execution: { nodeStarted: nothing, itemCompleted: nothing, nodeFailed: nothing },
    calls: {
      recordEnd: (call: CallRecord) => {
        recorded.push(call);
        return Promise.resolve();
      },
    },
    textStreams: createTextStreams({ publish: () => undefined, subscribe: () => () => undefined }),
    ...{ webhooks: {}, onCancel: () => () => undefined, logger: createLogger("test", "silent"), stopping: new AbortController().signal },
    ...parts,
  } as unknown as ActivityOptions);
  return { activities, recorded };
};
const inActivity = <T>(work: () => Promise<T>): Promise<T> =>
  new MockActivityEnvironment({}, { logger: new DefaultLogger("ERROR") }).run(work) as Promise<T>;

it.each([
  ["a job", (stopped: object) => ({ jobs: { cancel: () => Promise.resolve(stopped) } })],
  ["a request that is answered with files", (stopped: object) => ({ files: { stop: () => Promise.resolve(stopped) } })],
])("records %s that had finished when it was stopped, with its output", async (_, parts) => {
  const stop = async (finished: CallResult | null) => {
    const stopped = { report: "stopped", finished };
    const callParts = parts(stopped);
    const { activities, recorded } = activitiesOf(callParts);
    const answer = await inActivity(() => ("jobs" in callParts ? activities.cancelJob(CALL, JOB) : activities.stopFiles(CALL)));
    expect(answer).toEqual(stopped);
    return recorded;
  };
  expect(await stop(DONE)).toMatchObject([COMPLETED]);
  expect(await stop(null)).toEqual([]);
});

it("records a failed job with its provider's id", async () => {
  const { activities, recorded } = activitiesOf({ jobs: { poll: () => Promise.reject(final("EXECUTION_FAILED", "it broke")) } });
  await expect(inActivity(() => activities.poll(CALL, JOB))).rejects.toThrow("it broke");
  expect(recorded).toMatchObject([{ _id: "run:song:1", status: "failed", requestId: "j" }]);
});
