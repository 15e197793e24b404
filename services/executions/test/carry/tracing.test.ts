import type { WorkflowStartInput } from "@temporalio/client";
import type { Workflow, WorkflowCreateOptions } from "@temporalio/worker/lib/workflow/interface";
import { recordEndedSpans } from "../../../platform/test/support/spans";
import { payloadConverter } from "../../src/carry/payloads/converter";
import { tracedActivities, tracedStarts, tracedWorkflow } from "../../src/carry/tracing";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";
const RUN = "0191e5a0-7c3b-7000-8123-456789abcdef";
/** Of every worker that has a part in the run. */
const OF_RUN = "8123456789abcdef";
const HEADER = "_tracer-data";

const headersOf = (spanId: string) => ({ [HEADER]: payloadConverter.toPayload({ traceparent: `00-${TRACE}-${spanId}-01` }) });
const toldBy = (headers: object | null | undefined): unknown => {
  const payload = (headers as Record<string, Parameters<typeof payloadConverter.fromPayload>[0]> | undefined)?.[HEADER];
  return payload && payloadConverter.fromPayload(payload);
};

let recorded: ReturnType<typeof recordEndedSpans>;
beforeEach(() => (recorded = recordEndedSpans()));
afterEach(() => recorded.stop());

type Activation = Parameters<Workflow["activate"]>[0];
type Completion = Awaited<ReturnType<Workflow["activate"]>>;

/** A worker's part in a run, which answers each activation with some commands. */
const workOn = (commands: object[]) => {
  const completion = { successful: { commands } } as unknown as Completion;
  const workflow = { activate: () => Promise.resolve(completion) } as unknown as Workflow;
  const info = { workflowType: "executeGraph", runId: RUN, startTime: new Date(Date.now() - 5_000) };
  const traced = tracedWorkflow(workflow, { info } as unknown as WorkflowCreateOptions);
  return (activation: object) => traced.activate(activation as Activation);
};
const begin = (headers: object | null = headersOf(CALLER)) => ({ jobs: [{ initializeWorkflow: { headers } }] });

describe("a workflow", () => {
  it("is one span of the trace that it was started in, sent when it completes", async () => {
    const activate = workOn([{ completeWorkflowExecution: {} }]);
    await activate(begin());
    expect(recorded.ended).toEqual([
      expect.objectContaining({ name: "RunWorkflow:executeGraph", traceId: TRACE, spanId: OF_RUN, parentId: CALLER, hasFailed: false }),
    ]);
    expect(recorded.ended[0]!.durationMs).toBeGreaterThanOrEqual(5_000);
  });

  it.each([
    { end: { failWorkflowExecution: {} }, hasFailed: true },
    { end: { cancelWorkflowExecution: {} }, hasFailed: false },
  ])("that ends by $end has failed: $hasFailed", async ({ end, hasFailed }) => {
    await workOn([end])(begin());
    expect(recorded.ended).toEqual([expect.objectContaining({ spanId: OF_RUN, hasFailed })]);
  });

  it("is the parent of the activities that it asks for, local ones too, and keeps their other headers", async () => {
    const other = payloadConverter.toPayload("kept");
    const commands = [{ scheduleActivity: { headers: { other } } }, { scheduleLocalActivity: {} }, { startTimer: {} }];
    await workOn(commands)(begin());
    const [activity, local, timer] = commands as { scheduleActivity?: { headers: object }; scheduleLocalActivity?: { headers: object } }[];
    const parent = { traceparent: `00-${TRACE}-${OF_RUN}-01` };
    expect([toldBy(activity!.scheduleActivity!.headers), toldBy(local!.scheduleLocalActivity!.headers)]).toEqual([parent, parent]);
    expect(activity!.scheduleActivity!.headers).toHaveProperty("other", other);
    expect(timer).toEqual({ startTimer: {} });
    expect(recorded.ended).toEqual([]);
  });

  it("has the same span on the worker that goes on with it", async () => {
    const first = [{ scheduleActivity: {} as { headers?: object } }];
    const second = [{ scheduleActivity: {} as { headers?: object } }];
    await workOn(first)(begin());
    await workOn(second)({ ...begin(), isReplaying: true });
    expect(toldBy(first[0]!.scheduleActivity.headers)).toEqual(toldBy(second[0]!.scheduleActivity.headers));
  });

  it("is not sent again by a worker that replays its end", async () => {
    await workOn([{ completeWorkflowExecution: {} }])({ ...begin(), isReplaying: true });
    expect(recorded.ended).toEqual([]);
  });

  it.each([null, {}])("that was started outside of a trace is left as it is: %j", async (headers) => {
    const commands = [{ scheduleActivity: {} }, { completeWorkflowExecution: {} }];
    await workOn(commands)(begin(headers));
    expect(commands).toEqual([{ scheduleActivity: {} }, { completeWorkflowExecution: {} }]);
    expect(recorded.ended).toEqual([]);
  });

  it("is left as it is in a process that is not traced", async () => {
    recorded.stop();
    const commands = [{ scheduleActivity: {} }];
    await workOn(commands)(begin());
    expect(commands).toEqual([{ scheduleActivity: {} }]);
  });
});

/** What Temporal is told with the start of a workflow. */
const start = async (): Promise<unknown> => {
  let given: unknown;
  const next = (input: WorkflowStartInput) => {
    given = toldBy(input.headers);
    return Promise.resolve({ runId: RUN, eagerlyStarted: false });
  };
  await tracedStarts.startWithDetails!({ workflowType: "executeGraph", headers: {} } as WorkflowStartInput, next as never);
  return given;
};

it("tells a workflow the span of its start", async () => {
  const given = await start();
  const [span] = recorded.ended;
  expect(span).toMatchObject({ name: "StartWorkflow:executeGraph", kind: "client" });
  expect(given).toEqual({ traceparent: `00-${span!.traceId}-${span!.spanId}-01` });
});

it("tells a workflow nothing where the process is not traced", async () => {
  recorded.stop();
  expect(await start()).toBeUndefined();
});

it("makes every attempt of an activity a span of the workflow's, failed when it failed", async () => {
  const attempt = (number: number, outcome: () => Promise<unknown>): Promise<unknown> => {
    const { inbound } = tracedActivities({ info: { activityType: "submit", attempt: number } } as never);
    return inbound!.execute!({ args: [], headers: headersOf(OF_RUN) }, outcome as never);
  };
  await expect(attempt(1, () => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect(await attempt(2, () => Promise.resolve("done"))).toBe("done");
  const span = { name: "RunActivity:submit", traceId: TRACE, parentId: OF_RUN };
  expect(recorded.ended).toEqual([
    expect.objectContaining({ ...span, hasFailed: true, attributes: { "temporal.attempt": 1 } }),
    expect.objectContaining({ ...span, hasFailed: false, attributes: { "temporal.attempt": 2 } }),
  ]);
});
