import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { WorkflowStartInput } from "@temporalio/client";
import type { Payload } from "@temporalio/common";
import { recordSpans, type RecordedSpans } from "../support/spans";
import { payloadConverter } from "../../src/temporal/converter";
import { tracedActivities, tracedStarts } from "../../src/temporal/tracing";
import { interceptors } from "../../src/temporal/trace";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";
const HEADER = "_tracer-data";
type Headers = Record<string, Payload>;

const TOLD: Headers = { [HEADER]: payloadConverter.toPayload({ traceparent: `00-${TRACE}-${CALLER}-01` }) };
const OTHER: Headers = { other: payloadConverter.toPayload("kept") };

let recorded: RecordedSpans;
beforeEach(() => (recorded = recordSpans()));
afterEach(() => recorded.stop());

describe("the start of a workflow", () => {
  const start = async (): Promise<Headers> => {
    let headers: Headers = {};
    const next = (input: WorkflowStartInput) => {
      headers = input.headers;
      return Promise.resolve({ runId: "0191e5a0-7c3b-7000-8123-456789abcdef", eagerlyStarted: false });
    };
    await tracedStarts.startWithDetails!({ workflowType: "executeGraph", headers: OTHER } as WorkflowStartInput, next as never);
    return headers;
  };

  it("is a span that the workflow receives", async () => {
    const { [HEADER]: header, ...rest } = await start();
    const [span] = await recorded.left();
    expect(span).toMatchObject({ name: "StartWorkflow:executeGraph", kind: SpanKind.CLIENT });
    const { traceId, spanId } = span!.spanContext();
    expect(payloadConverter.fromPayload(header!)).toEqual({ traceparent: `00-${traceId}-${spanId}-01` });
    expect(rest).toEqual(OTHER);
  });

  it("sends nothing if the process isn't traced", async () => {
    await recorded.stop();
    expect(await start()).toEqual(OTHER);
  });
});

describe("a workflow", () => {
  /** Headers of the activities of a workflow that was started with some headers. */
  const activitiesOf = async (headers: Headers): Promise<Headers[]> => {
    const { inbound, outbound } = interceptors();
    const sentHeaders: Headers[] = [];
    const next = (input: { headers: Headers }) => Promise.resolve(sentHeaders.push(input.headers));
    await inbound![0]!.execute!({ args: [], headers }, () => Promise.resolve());
    const scheduled = { headers: OTHER } as never;
    await outbound![0]!.scheduleActivity!(scheduled, next as never);
    await outbound![0]!.scheduleLocalActivity!(scheduled, next as never);
    return sentHeaders;
  };

  it("passes its activities, including local ones, the trace of its start, with their other headers", async () => {
    expect(await activitiesOf(TOLD)).toEqual([
      { ...OTHER, ...TOLD },
      { ...OTHER, ...TOLD },
    ]);
  });

  it("started outside a trace passes none on, whatever another one received", async () => {
    await activitiesOf(TOLD);
    expect(await activitiesOf({})).toEqual([OTHER, OTHER]);
  });
});

it("makes every attempt of an activity a span of the received trace, failed if it failed", async () => {
  const attempt = (number: number, outcome: () => Promise<unknown>): Promise<unknown> => {
    const { inbound } = tracedActivities({ info: { activityType: "submit", attempt: number } } as never);
    return inbound!.execute!({ args: [], headers: TOLD }, outcome as never);
  };
  await expect(attempt(1, () => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect(await attempt(2, () => Promise.resolve("done"))).toBe("done");
  const span = { name: "RunActivity:submit", parentSpanContext: { traceId: TRACE, spanId: CALLER } };
  expect(await recorded.left()).toMatchObject([
    { ...span, status: { code: SpanStatusCode.ERROR }, attributes: { "temporal.attempt": 1 } },
    { ...span, status: { code: SpanStatusCode.UNSET }, attributes: { "temporal.attempt": 2 } },
  ]);
});
