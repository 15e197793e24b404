import { endSpan, recordSpans, startSpan, type Span } from "../../src/telemetry/span";
import { wholeSpans } from "../../src/telemetry/whole-spans";

let ids = 0;
let sent: string[];
let whole: ReturnType<typeof wholeSpans>;
beforeEach(() => {
  sent = [];
  whole = wholeSpans(({ name }) => sent.push(name));
  const newId = (): string => String((ids += 1));
  recordSpans({ newTraceId: newId, newSpanId: newId, isOfShare: () => true, end: whole.end });
});
afterEach(() => recordSpans(undefined));
const start = (name: string, within?: Span): Span => startSpan({ name, within })!;

it("sends no span of work that has not ended: who is killed leaves none behind without a parent", () => {
  const activity = start("activity");
  const call = start("call", activity);
  endSpan(start("within the call", call));
  endSpan(call);
  expect(sent).toEqual([]);
  endSpan(activity);
  expect(sent).toEqual(["within the call", "call", "activity"]);
});

it("sends what ends after its work, and what of a long one is too much to hold", () => {
  const request = start("request");
  const late = start("late", request);
  for (let count = 0; count < 70; count += 1) endSpan(start("poll", request));
  expect(sent).toEqual(Array<string>(6).fill("poll"));
  endSpan(request);
  expect(sent.slice(70)).toEqual(["request"]);
  endSpan(late);
  expect(sent.at(-1)).toBe("late");
});

it("holds a bounded number of spans, of however much work", () => {
  for (let count = 0; count < 5_000; count += 1) endSpan(start("call", start("endless")));
  expect(sent).toHaveLength(5_000 - 4_096);
});

it("sends what it holds when the process stops in order", () => {
  endSpan(start("call", start("activity")));
  whole.letAllGo();
  expect(sent).toEqual(["call"]);
});
