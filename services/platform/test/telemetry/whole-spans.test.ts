import { context, trace } from "@opentelemetry/api";
import { tracing } from "@opentelemetry/sdk-node";
import { wholeSpans } from "../../src/telemetry/whole-spans";

const start = () => {
  const exporter = new tracing.InMemorySpanExporter();
  const provider = new tracing.BasicTracerProvider({ spanProcessors: [wholeSpans(new tracing.SimpleSpanProcessor(exporter))] });
  const tracer = provider.getTracer("test");
  const span = (name: string, parent?: ReturnType<typeof tracer.startSpan>) =>
    tracer.startSpan(name, {}, parent ? trace.setSpan(context.active(), parent) : context.active());
  return { exporter, provider, span, sent: () => exporter.getFinishedSpans().map(({ name }) => name) };
};

it("sends no span of work that has not ended: who is killed leaves none behind without a parent", () => {
  const { span, sent } = start();
  const activity = span("activity");
  const call = span("call", activity);
  span("within the call", call).end();
  call.end();
  expect(sent()).toEqual([]);
  activity.end();
  expect(sent()).toEqual(["within the call", "call", "activity"]);
});

it("sends what ends after its work, and what of a long one is too much to hold", () => {
  const { span, sent } = start();
  const request = span("request");
  const late = span("late", request);
  for (let count = 0; count < 70; count += 1) span("poll", request).end();
  expect(sent()).toEqual(Array<string>(6).fill("poll"));
  request.end();
  expect(sent().slice(70)).toEqual(["request"]);
  late.end();
  expect(sent().at(-1)).toBe("late");
});

it("sends what it holds when the process stops in order", async () => {
  const { exporter, provider, span } = start();
  const sent: string[] = [];
  exporter.export = (spans, done) => {
    sent.push(...spans.map(({ name }) => name));
    done({ code: 0 });
  };
  span("call", span("activity")).end();
  await provider.shutdown();
  expect(sent).toEqual(["call"]);
});
