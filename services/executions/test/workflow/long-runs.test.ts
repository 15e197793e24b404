import { randomUUID } from "node:crypto";
import { unavailable } from "@nodeloom/kernel";
import type { ExtendInput } from "../../src/workflow/activity-types";
import type { ModelCall } from "../../src/run/calls";
import type { CallResult, HeldItem, RunEnd, RunInput } from "../../src/run/types";
import { createRunStarter, type RunStarter } from "../../src/workflow/client";
import type { RunningTemporal } from "@nodeloom/platform/temporal";
import { startWorker } from "../support/temporal";
import { inputWith, planWith } from "../support/run-inputs";

/** Runs on a real Temporal with simulated activities: many large calls, an outage of billing, and a worker that stops. */

const taskQueue = `long-${randomUUID().slice(0, 8)}`;
const ends = new Map<string, RunEnd>();
const extensions: string[] = [];
let isBillingDown = false;
/** Followed calls, by worker. */
const followed: string[] = [];
let release: () => void;
let released: Promise<void>;

const result = (call: ModelCall): CallResult => ({
  files: [{ url: `http://media.test/${call.item}.png`, contentType: "image/png" }],
  text: null,
  costMicroUsd: 1,
  requestId: "j",
});

const activitiesOf = (worker: string) => ({
  claim: () => Promise.resolve(true),
  settle: ({ executionId }: RunInput, end: RunEnd) => {
    ends.set(executionId, end);
    return Promise.resolve({ status: end.status, millicredits: 0 });
  },
  extendHold: ({ items }: ExtendInput): Promise<HeldItem[]> => {
    extensions.push(isBillingDown ? "away" : "held");
    if (isBillingDown) return Promise.reject(unavailable("billing is away"));
    return Promise.resolve(items.map(({ key }) => ({ key, source: "credits", millicredits: 1 })));
  },
  runFiles: (call: ModelCall) => Promise.resolve(result(call)),
  shortJob: () => Promise.resolve({ declined: true, isClaimed: true }),
  submit: () => Promise.resolve({ requestId: "j" }),
  poll: async (call: ModelCall) => {
    followed.push(worker);
    await released;
    return result(call);
  },
});

let first: RunningTemporal;
let starter: RunStarter;
beforeAll(async () => {
  first = await startWorker(taskQueue, activitiesOf("first"));
  starter = createRunStarter({ client: first.client, taskQueue });
});
beforeEach(() => {
  released = new Promise((resolve) => {
    release = resolve;
  });
});
afterAll(() => first.stop());

const ITEM_CHARS = 14_000;

interface RunOptions {
  input?: Partial<RunInput>;
  maxCalls?: number;
  promptChars?: number;
}

/** A run of several nodes, each with a fan-out over prompts. */
const inputOf = (
  nodes: number,
  items: number,
  providerKind: "direct-http" | "http-polling",
  { input = {}, maxCalls, promptChars = ITEM_CHARS }: RunOptions = {},
): RunInput => {
  const values = Array.from({ length: items }, (_, item) => `${item}`);
  const ids = Array.from({ length: nodes }, (_, node) => `node-${node}`);
  const steps = ids.map((id) => ({
    ...{ id, type: "generate-image" as const, model: "m", literals: { prompt: "{{x}} ".padEnd(promptChars, "a loom ") } },
    sources: { x: [{ value: values.length === 1 ? values[0]! : values }] },
    ...{ listPorts: [], textPorts: ["prompt"], inputNames: ["prompt"], maxItems: 1, itemLimit: Math.max(50, items), maxMillicredits: 1 },
  }));
  const plan = planWith(steps, {
    models: { m: { providerKind, modality: "image", price: { basis: "run", microUsd: 1 } } },
    output: { images: ids.map((node) => ({ node, port: "image" })) },
    ...(maxCalls === undefined ? {} : { maxCalls }),
  });
  return inputWith(randomUUID(), plan, input);
};
const endOf = async (input: RunInput): Promise<RunEnd> => {
  await first.client.workflow.getHandle(input.executionId).result();
  return ends.get(input.executionId)!;
};
const eventsOf = async ({ executionId }: RunInput) => (await first.client.workflow.getHandle(executionId).fetchHistory()).events ?? [];

/** Size of a workflow task above which Temporal ends the run. */
const GRPC_BYTES = 4_000_000;

it("makes many large calls in waves that are small enough for Temporal", async () => {
  const input = inputOf(8, 45, "direct-http");
  expect(8 * 45 * ITEM_CHARS).toBeGreaterThan(GRPC_BYTES);
  await starter.start(input);
  expect(await endOf(input)).toMatchObject({ status: "completed", error: null });
  const events = await eventsOf(input);
  const byTask = new Map<string, number>();
  for (const { activityTaskScheduledEventAttributes: call } of events) {
    if (!call) continue;
    const task = String(call.workflowTaskCompletedEventId);
    const bytes = (call.input?.payloads ?? []).reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
    byTask.set(task, (byTask.get(task) ?? 0) + bytes);
  }
  expect(byTask.size).toBeGreaterThan(4);
  expect(Math.max(...byTask.values())).toBeLessThan(1_200_000);
});

it("makes thousands of calls, at most 500 at once", async () => {
  const input = inputOf(2, 700, "direct-http", { maxCalls: 5_000, promptChars: 100 });
  await starter.start(input);
  expect(await endOf(input)).toMatchObject({ status: "completed", error: null });
  let [underWay, mostUnderWay, calls] = [0, 0, 0];
  for (const { activityTaskScheduledEventAttributes: scheduled, activityTaskCompletedEventAttributes: completed } of await eventsOf(
    input,
  )) {
    if (scheduled?.activityType?.name === "runFiles") [underWay, calls] = [underWay + 1, calls + 1];
    if (completed) underWay -= 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
  }
  expect({ calls, mostUnderWay }).toEqual({ calls: 1_400, mostUnderWay: 500 });
});

it("waits for unavailable billing if a list gets longer, and holds before any further call", async () => {
  isBillingDown = true;
  extensions.length = 0;
  const input = inputOf(1, 3, "direct-http");
  await starter.start(input);
  while (extensions.length < 4) await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await eventsOf(input)).filter((event) => event.activityTaskScheduledEventAttributes)).toEqual([]);
  isBillingDown = false;
  const end = await endOf(input);
  expect(end).toMatchObject({ status: "completed" });
  expect(end.extended?.map(({ key }) => key)).toEqual(["node-0:1", "node-0:2"]);
  expect(extensions.filter((what) => what === "held")).toHaveLength(1);
});

it("continues on another worker when its own stops", async () => {
  const second = await startWorker(taskQueue, activitiesOf("second"));
  try {
    const runs = Array.from({ length: 6 }, () => inputOf(1, 1, "http-polling"));
    for (const input of runs) await starter.start(input);
    while (followed.length < runs.length) await new Promise((resolve) => setTimeout(resolve, 20));
    const draining = second.drain();
    release();
    await draining;
    for (const input of runs) expect(await endOf(input)).toMatchObject({ status: "completed", error: null });
  } finally {
    await second.close();
  }
});
