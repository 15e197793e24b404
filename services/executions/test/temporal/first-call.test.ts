import { randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import { createLogger } from "@nodeloom/platform";
import type { RunEnd, RunInput, RunOutcome } from "../../src/contract/run-types";
import { createActivities, type ActivityOptions } from "../../src/temporal/activities";
import { createRunStarter, type RunStarter } from "../../src/temporal/client";
import type { RunningTemporal } from "../../src/temporal/worker";
import type { CallRecord } from "../../src/record/call-store";
import { startWorker } from "../support/temporal";

/** What happened of a run, in order. */
const said = new Map<string, string[]>();
const note = (executionId: string, what: string): void => void said.get(executionId)!.push(what);
/** What a run's claims come to, one after the other; the last one holds from then on. */
const claims = new Map<string, (boolean | Error)[]>();
const ends = new Map<string, RunEnd>();
/** Runs that can't be settled at first. */
const unsettled = new Set<string>();
const LARGE = { id: "get", type: "http-request", literals: { method: "GET", url: "http://large.test/" } };
const LARGE_BODY = "x".repeat(300 * 1024);
/** Addresses that can't be called. */
const refused = new Set<string>();
/** Runs whose jobs are never done. */
const endless = new Set<string>();

let temporal: RunningTemporal;
let starter: RunStarter;

beforeAll(async () => {
  const nothing = (): Promise<void> => Promise.resolve();
  const logger = createLogger("test", "silent");
  const activities = createActivities({
    execution: {
      ...{ nodeStarted: nothing, itemCompleted: nothing, nodeFailed: nothing, submitted: nothing },
      claim: (id: string) => {
        note(id, "claim");
        const outcomes = claims.get(id)!;
        const outcome = outcomes.length > 1 ? outcomes.shift()! : outcomes[0]!;
        if (outcome instanceof Error) return Promise.reject(outcome);
        return Promise.resolve(outcome ? { row: {}, again: false } : null);
      },
    },
    calls: {
      callStanding: () => Promise.resolve({ isCancelled: false, baseTier: "pro" }),
      callEnded: ({ executionId, nodeId }: CallRecord) => {
        if (nodeId !== "other") note(executionId, "record");
        return Promise.resolve();
      },
    },
    outgoing: { call: nothing },
    httpRequest: ({ url }: { url: string }, key: string) => {
      note(key.split(":")[0]!, "call");
      if (refused.has(url)) return Promise.reject(new DomainError("failed", "EXECUTION_FAILED", "it is refused"));
      return Promise.resolve({ status: 200, body: url === LARGE.literals.url ? LARGE_BODY : "here" });
    },
    jobs: {
      submit: ({ executionId }: { executionId: string }) => {
        note(executionId, "submit");
        return Promise.resolve({ requestId: "j" });
      },
      poll: async ({ executionId }: { executionId: string }, _job: unknown, signal: AbortSignal) => {
        note(executionId, "poll");
        if (endless.delete(executionId))
          await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
        return { files: [{ url: "http://media.test/1.mp4", contentType: "video/mp4" }], text: null, costMicroUsd: 1, requestId: "j" };
      },
    },
    settlement: {
      settle: ({ executionId }: RunInput, end: RunEnd): Promise<RunOutcome> => {
        note(executionId, "settle");
        if (unsettled.delete(executionId)) return Promise.reject(new DomainError("unavailable", "SERVICE_UNAVAILABLE", "billing is away"));
        ends.set(executionId, end);
        return Promise.resolve({ status: end.status, millicredits: 0 });
      },
    },
    ...{ onClaimed: () => undefined, webhooks: {}, onCancel: () => () => undefined, logger, stopping: new AbortController().signal },
  } as unknown as ActivityOptions);
  const taskQueue = `first-${randomUUID().slice(0, 8)}`;
  temporal = await startWorker(taskQueue, activities);
  starter = createRunStarter({ client: temporal.client, taskQueue });
});
afterAll(() => temporal.stop());

const HTTP = { id: "get", type: "http-request", literals: { method: "GET", url: "http://host.test/" } };
const VIDEO = { id: "clip", type: "generate-video", model: "m", literals: { prompt: "a loom" } };
const step = (of: object) => ({ sources: {}, listPorts: [], textPorts: [], inputNames: [], maxItems: 1, maxMillicredits: 0, ...of });

const inputOf = (executionId: string, steps: object[], output: RunInput["plan"]["output"] = {}): RunInput =>
  ({
    ...{ executionId, userId: "u", mode: "sync", workflowSlug: "w", source: "canvas", keyId: null, webhook: null, concurrency: 0 },
    ...{ modelIds: [], holds: [], holdId: executionId, receivedAt: Date.now(), attempt: 1 },
    plan: {
      ...{ steps: steps.map(step), evaluated: [], warnings: {}, output, outputNodes: [], markupPermille: 1_000 },
      used: { valueBytes: 0, calls: 0, work: 0 },
      models: { m: { providerKind: "http-polling", modality: "video", price: { basis: "run", microUsd: 1 } } },
    },
  }) as unknown as RunInput;

interface Options {
  /** Its first job is never done. */
  isEndless?: boolean;
  isUnsettled?: boolean;
  /** What its result is made of. */
  output?: RunInput["plan"]["output"];
}

/** Carries a run to its end. @returns what happened, its outcome, and the steps and activities of its history */
const run = async (steps: object[], outcomes: (boolean | Error)[] = [true], { isEndless, isUnsettled, output }: Options = {}) => {
  const executionId = randomUUID();
  said.set(executionId, []);
  claims.set(executionId, outcomes);
  if (isEndless) endless.add(executionId);
  if (isUnsettled) unsettled.add(executionId);
  await starter.start(inputOf(executionId, steps, output));
  const handle = temporal.client.workflow.getHandle(executionId);
  const outcome = (await handle.result()) as RunOutcome;
  const { events } = await handle.fetchHistory();
  const count = (of: string): number => (events ?? []).filter((event) => of in event && event[of as keyof typeof event]).length;
  const counts = { markers: count("markerRecordedEventAttributes"), activities: count("activityTaskScheduledEventAttributes") };
  return { said: said.get(executionId)!, outcome, ...counts, end: ends.get(executionId) };
};

it("claims and settles a run with its only call: one step", async () => {
  const { said: happened, markers, activities, outcome, end } = await run([HTTP]);
  expect(happened).toEqual(["claim", "call", "settle"]);
  expect([markers, activities, outcome]).toEqual([1, 0, { status: "completed", millicredits: 0 }]);
  expect(end?.nodes).toMatchObject([{ id: "get", status: "completed", items: 1, itemsDone: 1 }]);
});

it("tells what a run's only call gave by the run, which then needs no record of the call", async () => {
  const { said: happened, end } = await run([HTTP]);
  expect(happened).not.toContain("record");
  expect(JSON.parse(end!.nodes[0]!.outputsJson!)).toEqual({ status: 200, body: "here" });
});

it("tells what a run's only job gave by the run, too, unless that could not be settled with it", async () => {
  const told = { video: [{ url: "http://media.test/1.mp4", contentType: "video/mp4" }] };
  const { end } = await run([VIDEO]);
  expect(JSON.parse(end!.nodes[0]!.outputsJson!)).toEqual(told);
  const { said: happened, end: later } = await run([VIDEO], [true], { isUnsettled: true });
  expect(happened).toEqual(["claim", "submit", "poll", "settle", "record", "settle"]);
  expect([later?.status, later?.nodes[0]?.outputsJson]).toEqual(["completed", undefined]);
});

it("submits and follows a job by one step that claims and settles the run", async () => {
  const { said: happened, markers, activities, end } = await run([VIDEO]);
  expect(happened).toEqual(["claim", "submit", "poll", "settle"]);
  expect([markers, activities, end?.requestId]).toEqual([1, 0, "j"]);
  expect(end?.completed).toEqual([{ key: "clip:0", nodeId: "clip", costMicroUsd: 1 }]);
  expect([end?.underWay, end?.nodes[0]]).toMatchObject([[], { status: "completed", requestId: "j" }]);
});

it("evaluates what follows a run's only call before it settles the run", async () => {
  const text = { id: "box", type: "text-box", literals: { text: "Said: {{x}}" }, sources: { x: [{ node: "get", port: "body" }] } };
  const { said: happened, markers, end } = await run([HTTP, text], [true], { output: { text: [{ node: "box", port: "text" }] } });
  expect(happened).toEqual(["claim", "call", "settle"]);
  expect([markers, end?.result]).toEqual([1, { text: "Said: here" }]);
});

it("leaves what is made of a large answer to the workflow's thread", async () => {
  const { said: happened, markers, end } = await run([LARGE]);
  expect(happened).toEqual(["claim", "call", "record", "settle"]);
  expect([markers, end?.status]).toEqual([2, "completed"]);
});

it("settles a run by itself that could not be settled with its only call, which is made once", async () => {
  const { said: happened, markers, outcome, end } = await run([HTTP], [true], { isUnsettled: true });
  expect(happened).toEqual(["claim", "call", "settle", "record", "settle"]);
  expect([markers, outcome, end?.status]).toEqual([2, { status: "completed", millicredits: 0 }, "completed"]);
});

it("settles a run of two calls after the second", async () => {
  const second = { ...HTTP, id: "other", sources: { body: [{ node: "get", port: "body" }] } };
  const { said: happened, end } = await run([HTTP, second]);
  expect(happened).toEqual(["claim", "call", "record", "call", "settle"]);
  expect(end?.nodes.map(({ status }) => status)).toEqual(["completed", "completed"]);
});

it("follows a job by an activity that is not done soon, and submits it once", async () => {
  const { said: happened, activities, end } = await run([VIDEO], [true], { isEndless: true });
  expect(happened).toEqual(["claim", "submit", "poll", "poll", "record", "settle"]);
  expect([activities, end?.status]).toEqual([1, "completed"]);
});

it.each([
  ["a first call", [HTTP]],
  ["a job", [VIDEO]],
  ["two at once", [HTTP, { ...HTTP, id: "other" }]],
])("makes nothing of a run that another workflow carries: neither %s nor its settlement", async (_, steps) => {
  const { said: happened, outcome } = await run(steps, [false]);
  expect(new Set(happened)).toEqual(new Set(["claim"]));
  expect(outcome).toEqual({ unclaimed: true });
});

it("claims a run before any of the calls that it begins with together", async () => {
  const { said: happened } = await run([HTTP, { ...HTTP, id: "other" }]);
  expect(happened.filter((what) => what !== "record")).toEqual(["claim", "call", "call", "settle"]);
});

it("claims a run again, and makes its call by an activity, when it could not be claimed with the call", async () => {
  const { said: happened, activities, end } = await run([HTTP], [new Error("the database is away"), true]);
  expect(happened).toEqual(["claim", "claim", "call", "record", "settle"]);
  expect([activities, end?.status]).toEqual([1, "completed"]);
});

it("claims a run once whose first call fails for good", async () => {
  refused.add("http://refused.test/");
  const { said: happened, markers, end } = await run([{ ...HTTP, literals: { method: "GET", url: "http://refused.test/" } }]);
  expect(happened).toEqual(["claim", "call", "record", "settle"]);
  expect([markers, end?.status]).toEqual([2, "failed"]);
});

it("claims a run that makes no call before it is settled", async () => {
  const { said: happened, end } = await run([{ id: "box", type: "text-box", literals: { text: "here" } }]);
  expect(happened).toEqual(["claim", "settle"]);
  expect(end?.status).toBe("completed");
});
