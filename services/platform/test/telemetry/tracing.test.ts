import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { inCalledSpan, inClientSpan, inLinkedTrace, inSpan, spanNamer } from "../../src/telemetry/tracing";
import { requestContext, withRequestContext } from "../../src";
import { recordSpans, type RecordedSpans } from "../support/spans";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";
const traceHeaders = (flags = "01") => ({ traceparent: `00-${TRACE}-${CALLER}-${flags}` });

let recorded: RecordedSpans;
beforeEach(() => (recorded = recordSpans()));
afterEach(() => recorded.stop());
const nothing = (): Promise<void> => Promise.resolve();
/** Exported spans. Fails if there are spans with other names. */
const expectSpans = async (...names: string[]) => {
  const spans = await recorded.left();
  expect(spans.map(({ name }) => name).sort()).toEqual([...names].sort());
  return names.map((name) => spans.find((span) => span.name === name)!);
};

/**
 * Makes a call with some headers that itself calls another process.
 * @returns the headers that the other process gets
 */
const passOn = async (headers: Record<string, string>): Promise<Record<string, string>> => {
  let passedOn: Record<string, string> = {};
  await inCalledSpan("asked", {}, headers, () => inClientSpan("ask", {}, (passedHeaders) => ((passedOn = passedHeaders), nothing())));
  return passedOn;
};

describe("a trace", () => {
  it("continues another process's trace in calls to the next", async () => {
    const passedOn = await passOn({ ...traceHeaders(), tracestate: "vendor=1" });
    const [askedSpan, asking] = await expectSpans("asked", "ask");
    expect(askedSpan!.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: CALLER, isRemote: true });
    const { spanId } = asking!.spanContext();
    expect([asking!.kind, asking!.parentSpanContext]).toEqual([SpanKind.CLIENT, askedSpan!.spanContext()]);
    expect(passedOn).toEqual({ traceparent: `00-${TRACE}-${spanId}-01`, tracestate: "vendor=1" });
  });

  it.each([{}, { traceparent: "00-nonsense" }, { traceparent: `00-${"0".repeat(32)}-${CALLER}-01` }])(
    "starts a new trace if none is given, whatever is in progress here: %j",
    async (headers) => {
      await inSpan("outer", {}, () => passOn(headers as Record<string, string>));
      const [askedSpan, outer] = await expectSpans("asked", "outer", "ask");
      expect(askedSpan!.parentSpanContext).toBeUndefined();
      expect(askedSpan!.spanContext().traceId).not.toBe(outer!.spanContext().traceId);
    },
  );

  it("of its own links to the trace that it came from", async () => {
    await inCalledSpan("request", {}, traceHeaders(), () => inLinkedTrace("delivery", nothing));
    const [delivery, request] = await expectSpans("delivery", "request");
    expect(delivery!.parentSpanContext).toBeUndefined();
    expect(delivery!.links).toMatchObject([{ context: request!.spanContext() }]);
    expect(delivery!.spanContext().traceId).not.toBe(TRACE);
  });

  it.each([
    { caller: "records it", flags: "01", share: 0 },
    { caller: "does not record it", flags: "00", share: 1 },
  ])("with no recorded part where the caller $caller and the share is $share", async ({ flags, share }) => {
    await recorded.stop();
    recorded = recordSpans(share);
    expect((await passOn(traceHeaders(flags))).traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
    await expectSpans();
  });

  it("isn't passed on by a process without tracing", async () => {
    await recorded.stop();
    expect(await passOn(traceHeaders())).toEqual({});
  });
});

it("records a failure without the error's text, and rethrows the error", async () => {
  await expect(inSpan("call", {}, () => Promise.reject(new Error("away")))).rejects.toThrow("away");
  const [call] = await expectSpans("call");
  expect([call!.status, call!.events]).toEqual([{ code: SpanStatusCode.ERROR }, []]);
});

it("keeps the request beside the span, and the span beside the request", async () => {
  await withRequestContext({ requestId: "r" }, () =>
    inSpan("call", {}, async () => {
      await nothing();
      expect(requestContext()).toEqual({ requestId: "r" });
      const span = trace.getActiveSpan();
      withRequestContext({ requestId: "other" }, () => expect(trace.getActiveSpan()).toBe(span));
      await inCalledSpan("asked", {}, {}, async () => expect(requestContext()).toEqual({ requestId: "r" }));
    }),
  );
  expect([trace.getSpan(context.active()), requestContext()]).toEqual([undefined, undefined]);
});

it("renames the active span if more is known, and does nothing without one", async () => {
  spanNamer()("none", {});
  await inSpan("GET", { attributes: { method: "GET" } }, async () => {
    const rename = spanNamer();
    await nothing();
    rename("GET /api/workflows", { route: "/api/workflows" });
  });
  const [request] = await expectSpans("GET /api/workflows");
  expect(request!.attributes).toEqual({ method: "GET", route: "/api/workflows" });
});
