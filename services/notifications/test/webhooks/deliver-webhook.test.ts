import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Client } from "@temporalio/client";
import type { temporal } from "@temporalio/proto";
import { DefaultLogger, type InjectedSinks, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import type { Activities, LocalActivities } from "../../src/workflows/activities";
import { DELIVERY_ATTEMPTS, pauseBefore } from "../../src/timing";
import type { DeliveryInput } from "../../src/webhooks/deliveries";
import type { AttemptId, DeliveryEnd, DeliveryStep, AttemptResult, SentAttempt } from "../../src/delivery";
import type { deliverWebhook } from "../../src/workflows";
import type { TimerSinks } from "../support/compressed-timers";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const PAUSES = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];
const DELIVER: keyof { deliverWebhook: typeof deliverWebhook } = "deliverWebhook";

type History = temporal.api.history.v1.IHistory;

const taskQueue = `deliveries-${randomUUID().slice(0, 8)}`;
let connection: NativeConnection;
let client: Client;
let worker: Worker;
let running: Promise<void>;

/** Script of a delivery's attempts, by message ID. */
interface Script {
  send: (attempt: number) => AttemptResult;
  record: (attempt: number, attemptResult: AttemptResult) => DeliveryStep;
  sends: AttemptId[];
  records: { id: AttemptId; result: AttemptResult }[];
  pauses: number[];
  /** Summaries of timers, for operators. */
  notes: (string | undefined)[];
}
const scripts = new Map<string, Script>();

const activities: Pick<Activities, "sendWebhook"> & Pick<LocalActivities, "recordAttempt"> = {
  sendWebhook: async (id) => {
    const script = scripts.get(id.id)!;
    script.sends.push(id);
    return script.send(id.attempt);
  },
  recordAttempt: async (id, attemptResult) => {
    const script = scripts.get(id.id)!;
    script.records.push({ id, result: attemptResult });
    return script.record(id.attempt, attemptResult);
  },
};

const sinks: InjectedSinks<TimerSinks> = {
  timers: {
    onTimer: {
      fn: ({ workflowId }, durationMs, summary) => {
        const { pauses, notes } = scripts.get(workflowId)!;
        pauses.push(durationMs);
        notes.push(summary);
      },
    },
  },
};

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: [] });
  connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS! });
  client = new Client({ connection });
  worker = await Worker.create({
    connection,
    taskQueue,
    workflowsPath: join(__dirname, "..", "..", "src", "workflows", "deliver-webhook.ts"),
    interceptors: { workflowModules: [join(__dirname, "..", "support", "compressed-timers.ts")] },
    activities,
    sinks,
  });
  running = worker.run();
});
afterAll(async () => {
  worker.shutdown();
  await running;
  await connection.close();
});

const answer = (status: number, retryAfterMs: number | null = null): SentAttempt => ({
  url: "https://example.com/hook",
  revision: "r",
  at: 0,
  status,
  error: status < 300 ? null : `the receiver answered ${status}`,
  durationMs: 1,
  retryAfterMs,
});
const recordOutcome: Script["record"] = (attempt, attemptResult) => {
  if ("nothing" in attemptResult) return { end: "nothing to send" };
  if (attemptResult.error === null) return { end: "delivered" };
  return attempt === DELIVERY_ATTEMPTS ? { end: "given up" } : { pauseMs: pauseBefore(attempt + 1, attemptResult.retryAfterMs) };
};

interface DeliveredScript extends Script {
  result: DeliveryEnd;
  history: History;
}
const deliver = async (
  send: Script["send"],
  { record = recordOutcome, input = {} }: { record?: Script["record"]; input?: Partial<DeliveryInput> } = {},
): Promise<DeliveredScript> => {
  const id = randomUUID();
  const script: Script = { send, record, sends: [], records: [], pauses: [], notes: [] };
  scripts.set(id, script);
  const args: Parameters<typeof deliverWebhook> = [id, { delivery: 1, attempt: 1, pauseMs: 0, ...input }];
  const handle = await client.workflow.start<typeof deliverWebhook>(DELIVER, { workflowId: id, taskQueue, args });
  const result = await handle.result();
  return { ...script, result, history: await handle.fetchHistory() };
};

/** Summaries of events in the timeline, for operators. */
const summaries = ({ events }: History): unknown[] =>
  (events ?? [])
    .filter((event) => event.activityTaskScheduledEventAttributes)
    .map(({ userMetadata }) => JSON.parse(Buffer.from(userMetadata!.summary!.data!).toString()) as unknown);

it("makes eight attempts over 27 and a half hours, then stops", async () => {
  const { result, sends, pauses, notes, history } = await deliver(() => answer(500));
  expect(result).toBe("given up");
  expect(pauses).toEqual(PAUSES);
  expect(sends.map(({ delivery, attempt }) => [delivery, attempt])).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => [1, attempt]));
  expect(summaries(history)).toEqual(sends.map(({ attempt }) => `attempt ${attempt}`));
  expect(notes).toEqual(sends.slice(1).map(({ attempt }) => `before attempt ${attempt}`));
});

it("stops at the attempt that succeeds, and passes each attempt's outcome on", async () => {
  const { result, sends, records, pauses } = await deliver((attempt) => answer(attempt === 3 ? 204 : 500), {
    input: { delivery: 4 },
  });
  expect(result).toBe("delivered");
  expect(pauses).toEqual(PAUSES.slice(0, 2));
  expect(records.map(({ id, result: sent }) => [id.delivery, id.attempt, (sent as SentAttempt).status])).toEqual([
    [4, 1, 500],
    [4, 2, 500],
    [4, 3, 204],
  ]);
  expect(records.map(({ id }) => id)).toEqual(sends);
});

it("waits longer if the receiver asks for that, and never shorter", async () => {
  const requestedMs = [HOUR, 60 * SECOND, null, 7 * HOUR, 24 * HOUR, null, null, 99 * HOUR];
  const { pauses } = await deliver((attempt) => answer(503, requestedMs[attempt - 1]!));
  expect(pauses).toEqual([HOUR, 5 * MINUTE, 30 * MINUTE, 7 * HOUR, 24 * HOUR, 10 * HOUR, 10 * HOUR]);
});

it.each<[DeliveryEnd, AttemptResult]>([
  ["disabled", answer(410)],
  ["disabled", { nothing: "disabled" }],
  ["nothing to send", { nothing: "skipped" }],
  ["superseded", { nothing: "superseded" }],
])("ends as %s in this case", async (end, attemptResult) => {
  const { result, sends, pauses } = await deliver((attempt) => (attempt === 2 ? attemptResult : answer(500)), {
    record: (attempt) => (attempt === 2 ? { end } : { pauseMs: pauseBefore(attempt + 1, null) }),
  });
  expect([result, sends.length, pauses]).toEqual([end, 2, PAUSES.slice(0, 1)]);
});

it("doesn't send again if the outcome couldn't be recorded at once", async () => {
  let refusals = 2;
  const { result, sends, records } = await deliver(() => answer(204), {
    record: (attempt, attemptResult) => {
      refusals -= 1;
      if (refusals >= 0) throw new Error("the store is away");
      return recordOutcome(attempt, attemptResult);
    },
  });
  expect([result, sends.length, records.length]).toEqual(["delivered", 1, 3]);
});

it("doesn't count attempts that weren't sent", async () => {
  let away = true;
  const { result, sends, records } = await deliver(() => {
    if (!away) return answer(204);
    away = false;
    throw new Error("identity is away");
  });
  expect(result).toBe("delivered");
  expect(sends.map(({ attempt }) => attempt)).toEqual([1, 1]);
  expect(records).toHaveLength(1);
});

it("continues with the next attempt, after the rest of its pause", async () => {
  const { result, sends, pauses } = await deliver(() => answer(500), { input: { delivery: 2, attempt: 7, pauseMs: HOUR } });
  expect([result, pauses]).toEqual(["given up", [HOUR, 10 * HOUR]]);
  expect(sends.map(({ delivery, attempt }) => [delivery, attempt])).toEqual([
    [2, 7],
    [2, 8],
  ]);
});
