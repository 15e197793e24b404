import { ROOT_CONTEXT, trace, type Span, type Tracer } from "@opentelemetry/api";
import { TracerProvider, type SpanProcessor } from "@opentelemetry/sdk-trace";
import { wholeSpans } from "../../src/telemetry/whole-spans";

let sentNames: string[];
let provider: TracerProvider;
let tracer: Tracer;
beforeEach(() => {
  sentNames = [];
  const collecting: SpanProcessor = {
    onStart: () => undefined,
    onEnd: ({ name }) => void sentNames.push(name),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  provider = new TracerProvider({ spanProcessors: [wholeSpans(collecting)] });
  tracer = provider.getTracer("test");
});
const start = (name: string, within?: Span): Span =>
  tracer.startSpan(name, {}, within ? trace.setSpan(ROOT_CONTEXT, within) : ROOT_CONTEXT);

it("sends no span of unfinished work, so that a killed process leaves no spans without a parent", () => {
  const activity = start("activity");
  const call = start("call", activity);
  start("within the call", call).end();
  call.end();
  expect(sentNames).toEqual([]);
  activity.end();
  expect(sentNames).toEqual(["within the call", "call", "activity"]);
});

it("treats another process's request as its own work, even with a parent there", () => {
  const caller = trace.wrapSpanContext({
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    traceFlags: 1,
    isRemote: true,
  });
  const served = start("served", caller);
  start("call", served).end();
  expect(sentNames).toEqual([]);
  served.end();
  expect(sentNames).toEqual(["call", "served"]);
});

it("sends spans that end after their work, and those of long work beyond the limit", () => {
  const request = start("request");
  const late = start("late", request);
  for (let count = 0; count < 70; count += 1) start("poll", request).end();
  expect(sentNames).toEqual(Array<string>(6).fill("poll"));
  request.end();
  expect(sentNames.slice(70)).toEqual(["request"]);
  late.end();
  expect(sentNames.at(-1)).toBe("late");
});

it("holds a limited number of spans, for any amount of work", () => {
  for (let count = 0; count < 5_000; count += 1) start("call", start("endless")).end();
  expect(sentNames).toHaveLength(5_000 - 4_096);
});

it("sends its held spans when the process stops normally", async () => {
  start("call", start("activity")).end();
  await provider.shutdown();
  expect(sentNames).toEqual(["call"]);
});
