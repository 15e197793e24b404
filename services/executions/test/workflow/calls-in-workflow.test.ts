import { randomUUID } from "node:crypto";
import { ApplicationFailure } from "@temporalio/activity";
import { RUN_CANCELLED, type CallResult, type RunEnd, type RunInput } from "../../src/run/types";
import type { Activities, LocalActivities } from "../../src/workflow/activity-types";
import type { ReusedResult } from "../../src/run/call-record";
import type { CancelResult, ModelCall, ReuseInput, StepFailure } from "../../src/run/calls";
import type { PlanStep } from "@nodeloom/kernel";
import { createRunStarter, type RunStarter } from "../../src/workflow/client";
import type { RunningTemporal } from "@nodeloom/platform/temporal";
import { TIMING } from "../../src/run/timing";
import { startWorker } from "../support/temporal";
import { inputWith, planWith } from "../support/run-inputs";

/** Simulates the activities of a run and records their inputs. */
interface Script {
  submit?: (attempt: number, call: ModelCall) => void;
  poll: () => CallResult;
  cancelJob?: () => CancelResult;
  submits: number[];
  cancels: number;
  end?: RunEnd;
  reused?: (ReusedResult | null)[];
  looks?: ReuseInput[];
  extended?: string[];
}
const scripts = new Map<string, Script>();
const scriptOf = (executionId: string): Script => scripts.get(executionId)!;
const DONE: CallResult = {
  files: [{ url: "http://media.test/1.mp4", contentType: "video/mp4" }],
  text: null,
  costMicroUsd: 1,
  requestId: "j",
};

const activities = {
  claim: () => Promise.resolve(true),
  // As if too many calls were in progress: an activity makes the call.
  shortJob: () => Promise.resolve({ declined: true }),
  settle: async ({ executionId }, end) => {
    scriptOf(executionId).end = end;
    return { status: end.status, millicredits: 0 };
  },
  takeOver: async (input) => {
    const script = scriptOf(input.calls[0]!.executionId);
    (script.looks ??= []).push(input);
    return script.reused!;
  },
  extendHold: async ({ executionId, items }) => {
    const script = scriptOf(executionId);
    (script.extended ??= []).push(...items.map(({ key }) => key));
    return items.map(({ key, maxMillicredits }) => ({ key, source: "credits", millicredits: maxMillicredits }));
  },
  submit: async (call) => {
    const { submits, submit } = scriptOf(call.executionId);
    submits.push(Date.now());
    submit?.(submits.length, call);
    return { requestId: "j" };
  },
  poll: async ({ executionId }) => scriptOf(executionId).poll(),
  cancelJob: async ({ executionId }) => {
    const script = scriptOf(executionId);
    script.cancels += 1;
    return script.cancelJob!();
  },
} satisfies Partial<Activities & LocalActivities>;

let temporal: RunningTemporal;
let starter: RunStarter;

beforeAll(async () => {
  const taskQueue = `calls-${randomUUID().slice(0, 8)}`;
  temporal = await startWorker(taskQueue, activities);
  starter = createRunStarter({ client: temporal.client, taskQueue });
});
afterAll(() => temporal.stop());

const inputOf = (executionId: string, more: Partial<RunInput["plan"]> = {}): RunInput => {
  const step = {
    ...{ id: "clip", type: "generate-video" as const, model: "m", literals: { prompt: "a loom" }, sources: {} },
    ...{ listPorts: [], textPorts: ["prompt"], inputNames: ["prompt"], maxItems: 1, maxMillicredits: 1 },
  };
  const plan = planWith([step], {
    models: { m: { providerKind: "http-polling", modality: "video", price: { basis: "run", microUsd: 1 } } },
    output: { videos: [{ node: "clip", port: "video" }] },
    ...more,
  });
  return inputWith(executionId, plan);
};

/** Runs one job with a script, and returns its end. */
const run = async (
  part: Omit<Script, "submits" | "cancels">,
  plan: Partial<RunInput["plan"]> = {},
  more: Partial<RunInput> = {},
): Promise<Script & { end: RunEnd; executionId: string }> => {
  const executionId = randomUUID();
  const script: Script = { ...part, submits: [], cancels: 0 };
  scripts.set(executionId, script);
  await starter.start({ ...inputOf(executionId, plan), ...more });
  await temporal.client.workflow.getHandle(executionId).result();
  return { ...(script as Script & { end: RunEnd }), executionId };
};
const failing = (details?: StepFailure) => (): never => {
  const problem = { code: "EXECUTION_FAILED", message: "node clip: it is silent", nodeId: "clip" };
  throw ApplicationFailure.nonRetryable(problem.message, problem.code, problem, ...(details ? [details] : []));
};

it("stops the job of a silent provider, and reports the outcome", async () => {
  const { end, cancels } = await run({
    poll: failing({ jobMayRun: true }),
    cancelJob: () => ({ report: "provider_told", finished: null }),
  });
  expect(cancels).toBe(1);
  expect(end).toMatchObject({
    status: "failed",
    error: { message: "node clip: it is silent" },
    nodes: [{ status: "failed", cancelReport: "provider_told" }],
  });
});

it("charges a job whose output moderation rejected, and calls no other model", async () => {
  const problem = { code: "CONTENT_REFUSED", message: "node clip: its output was refused", nodeId: "clip" };
  const refusing = (): never => {
    throw ApplicationFailure.nonRetryable(problem.message, problem.code, problem, { refused: { costMicroUsd: 7, requestId: null } });
  };
  const { end, cancels } = await run({ poll: refusing });
  expect(cancels).toBe(0);
  expect(end).toMatchObject({
    status: "failed",
    error: { code: "CONTENT_REFUSED" },
    completed: [{ key: "clip:0", nodeId: "clip", costMicroUsd: 7 }],
    nodes: [{ status: "failed" }],
  });
  expect(end.underWay).toEqual([]);
});

it("charges the output that was finished when its job was stopped, even if moderation rejected it", async () => {
  const { end } = await run({
    poll: failing({ jobMayRun: true }),
    cancelJob: () => ({
      report: "stopped",
      finished: null,
      refused: { costMicroUsd: 5, requestId: null },
      message: "its output was refused",
    }),
  });
  expect(end).toMatchObject({ status: "failed", completed: [{ costMicroUsd: 5 }] });
});

it("keeps the output that a stopped job had finished", async () => {
  const { end } = await run({ poll: failing({ jobMayRun: true }), cancelJob: () => ({ report: "stopped", finished: DONE }) });
  expect(end).toMatchObject({
    status: "completed",
    result: { videos: [{ url: "http://media.test/1.mp4" }] },
    completed: [{ nodeId: "clip" }],
  });
});

it("notices within half a minute that the process making a call died, and sends a heartbeat every ten seconds", async () => {
  const { executionId } = await run({ poll: failing({ jobMayRun: true }), cancelJob: () => ({ report: "stopped", finished: DONE }) });
  const { events } = await temporal.client.workflow.getHandle(executionId).fetchHistory();
  const calls = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: call }) => (call ? [call] : []));
  expect(calls.map(({ activityType }) => activityType?.name)).toEqual(["submit", "poll", "cancelJob"]);
  expect(calls.map(({ heartbeatTimeout }) => Number(heartbeatTimeout?.seconds))).toEqual([5, 30, 5]);
  expect(TIMING.heartbeat / TIMING.beatsPerTimeout).toBe(10_000);
});

it("takes its turn among the users, also in Temporal's queues", async () => {
  const { executionId } = await run({ poll: () => DONE });
  const { events } = await temporal.client.workflow.getHandle(executionId).fetchHistory();
  const { userId } = inputOf(executionId);
  expect(events![0]!.workflowExecutionStartedEventAttributes?.priority).toMatchObject({ fairnessKey: userId });
});

it("doesn't stop a job that has ended", async () => {
  const { end, cancels } = await run({ poll: failing() });
  expect([end.status, cancels]).toEqual(["failed", 0]);
});

it("submits again when the provider asked for it, and not before", async () => {
  const { end, submits } = await run({
    submit: (attempt) => {
      if (attempt === 1) throw ApplicationFailure.create({ message: "busy", type: "PROVIDER_SUBMIT_FAILED", nextRetryDelay: 900 });
    },
    poll: () => DONE,
  });
  expect(end.status).toBe("completed");
  expect(submits).toHaveLength(2);
  expect(submits[1]! - submits[0]!).toBeGreaterThanOrEqual(880);
});

it("passes to every call the files of a template's author that its run can use", async () => {
  const authorFiles = { f1: { url: "http://media.test/f1.png", contentType: "image/png" } };
  const calls: ModelCall[] = [];
  const submit = (_attempt: number, call: ModelCall): void => void calls.push(call);
  await run({ submit, poll: () => DONE }, { authorFiles });
  await run({ submit, poll: () => DONE });
  expect(calls.map((call) => call.authorFiles)).toEqual([authorFiles, undefined]);
});

/** Fails a call whose run is being cancelled. */
const callOff = (): never => {
  throw ApplicationFailure.nonRetryable("the run is being cancelled", RUN_CANCELLED);
};

it("ends a run as cancelled if a call finds it cancelled, even if the signal is lost", async () => {
  const { end, cancels } = await run({ submit: callOff, poll: () => DONE });
  expect([end.status, cancels]).toEqual(["cancelled", 0]);
  expect(end.nodes).toMatchObject([{ status: "cancelled", cancelReport: "stopped" }]);
});

/** A step that creates a clip for each of two prompts. */
const twoClips = (): Partial<RunInput["plan"]> => {
  const [step] = inputOf("").plan.steps;
  return { steps: [{ ...step!, sources: { prompt: [{ value: ["a loom", "a reed"] }] }, maxItems: 2, maxMillicredits: 5 }] };
};
const KEPT: ReusedResult = {
  outputs: { video: [{ url: "http://media.test/0.mp4", contentType: "video/mp4" }] },
  from: "before",
  savedMicroUsd: 1,
};
const reuse = { sources: ["before"], again: [], requests: [] };
const urlsOf = ({ end }: { end: RunEnd }): string[] => (end.result as { videos: { url: string }[] }).videos.map(({ url }) => url);

it("makes and pays only for the calls of a rerun that no earlier run has made", async () => {
  const holds = [{ key: "clip:1", source: "credits", millicredits: 5 }] as const;
  const ran = await run({ poll: () => DONE, reused: [KEPT, null] }, twoClips(), { reuse, held: [...holds] });
  expect(urlsOf(ran)).toEqual(["http://media.test/0.mp4", "http://media.test/1.mp4"]);
  expect(ran.submits).toHaveLength(1);
  expect(ran.end.completed.map(({ key }) => key)).toEqual(["clip:1"]);
  expect(ran.end.nodes).toMatchObject([{ status: "completed", items: 2, itemsDone: 2 }]);
  expect(ran.looks).toMatchObject([{ sources: ["before"], calls: [{ item: 0 }, { item: 1 }] }]);
  // The credits were held before the run.
  expect(ran.extended).toBeUndefined();
});

it("holds the price of a reused call that must be repeated, before it is sent", async () => {
  const holds = [{ key: "clip:1", source: "credits", millicredits: 5 }] as const;
  const ran = await run({ poll: () => DONE, reused: [null, null] }, twoClips(), { reuse, held: [...holds] });
  expect(ran.extended).toEqual(["clip:0"]);
  expect(ran.end.extended).toEqual([{ key: "clip:0", source: "credits", millicredits: 5 }]);
  expect(ran.submits).toHaveLength(2);
});

it("makes the calls of named nodes without looking them up, and records the source of a single reused call", async () => {
  const again = await run({ poll: () => DONE, reused: [KEPT] }, {}, { reuse: { ...reuse, again: ["clip"] } });
  expect([again.looks, again.submits.length]).toEqual([undefined, 1]);
  const takenRun = await run({ poll: () => DONE, reused: [KEPT] }, {}, { reuse });
  expect([takenRun.end.nodes[0]!.reusedFrom, takenRun.submits.length]).toEqual(["before", 0]);
});

const refusing = (details?: StepFailure): never => {
  const problem = { code: "PROVIDER_SUBMIT_FAILED", message: "node clip: it refuses", nodeId: "clip" };
  throw ApplicationFailure.nonRetryable(problem.message, problem.code, problem, ...(details ? [details] : []));
};
const promptOf = ({ inputs }: ModelCall): unknown => inputs.prompt;
/** A step that runs once per prompt. */
const clips = (id: string, prompts: readonly string[], more: Partial<PlanStep> = {}): PlanStep => ({
  ...inputOf("").plan.steps[0]!,
  ...{ id, literals: {}, maxItems: prompts.length },
  sources: { prompt: [{ value: prompts }], ...more.sources },
  inputNames: ["prompt", ...Object.keys(more.sources ?? {})],
  skipsFailed: true,
});

it("skips failed items if their node says so, drops their positions in later pairs, and counts them", async () => {
  const paired: unknown[] = [];
  const submit = (_attempt: number, call: ModelCall): void => {
    if (call.nodeId === "pair") paired.push([call.item, promptOf(call)]);
    else if (promptOf(call) === "b") refusing();
  };
  const steps = [clips("clip", ["a", "b", "c"]), clips("pair", ["x", "y", "z"], { sources: { image: [{ node: "clip", port: "video" }] } })];
  const { end } = await run({ submit, poll: () => DONE }, { steps, output: { videos: [{ node: "pair", port: "video" }] } });
  expect(end).toMatchObject({ status: "completed", result: { videos: [1, 2].map(() => ({ url: DONE.files[0]!.url })) } });
  expect(paired.sort()).toEqual([
    [0, "x"],
    [2, "z"],
  ]);
  const [clip, pair] = end.nodes;
  expect(clip).toMatchObject({ status: "completed", items: 3, itemsDone: 3, warnings: ["1 of 3 items failed and were left out"] });
  expect(clip!.itemErrors).toMatchObject([{ item: 1, error: { code: "PROVIDER_SUBMIT_FAILED" } }]);
  expect(pair).toMatchObject({ items: 2, warnings: [] });
  expect(end.completed.map(({ key }) => key).sort()).toEqual(["clip:0", "clip:2", "pair:0", "pair:2"]);
});

it("fails a node if every item fails, although it skips failed ones", async () => {
  const { end } = await run({ submit: () => refusing(), poll: () => DONE }, { steps: [clips("clip", ["a", "b"])] });
  expect(end).toMatchObject({ status: "failed", error: { code: "PROVIDER_SUBMIT_FAILED", nodeId: "clip" }, completed: [] });
});

it("calls the next model if one rejects, with a separate key, and none if a job may be running", async () => {
  const tries = (details: StepFailure) => {
    const keys: string[] = [];
    const submit = (_attempt: number, { key, model }: ModelCall): void => {
      keys.push(key.split(":").slice(1).join(":"));
      if (model === "m") refusing(details);
    };
    const { steps, models } = inputOf("").plan;
    const [step] = steps;
    const fallback = [{ ...step!, model: "n" }];
    return run({ submit, poll: () => DONE }, { steps: [{ ...step!, fallback }], models: { ...models, n: models.m! } }).then(({ end }) => ({
      end,
      keys,
    }));
  };
  const certain = await tries({ mayTryAnother: true });
  expect(certain.keys).toEqual(["clip:0", "clip:0.alt1"]);
  expect(certain.end).toMatchObject({ status: "completed", usedAlternatives: ["n"], completed: [{ key: "clip:0.alt1" }] });
  const uncertain = await tries({ jobMayRun: true });
  expect(uncertain.keys).toEqual(["clip:0"]);
  expect(uncertain.end).toMatchObject({ status: "failed", completed: [] });
});
