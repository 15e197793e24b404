import { activeSpan } from "../../src/telemetry/context";
import { inCalledSpan, inClientSpan, inLinkedTrace, inSpan, spanNamer, spanOverProcesses } from "../../src/telemetry/tracing";
import { requestContext, withRequestContext } from "../../src";
import { recordEndedSpans } from "../support/spans";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";
const OWN = "00f067aa0ba902b7";
const told = (flags = "01") => ({ traceparent: `00-${TRACE}-${CALLER}-${flags}` });

let recorded: ReturnType<typeof recordEndedSpans>;
beforeEach(() => (recorded = recordEndedSpans()));
afterEach(() => recorded.stop());
const nothing = (): Promise<void> => Promise.resolve();

describe("a span of several processes", () => {
  const start = (headers = told()) => spanOverProcesses("RunWorkflow", OWN, headers);

  it("has the same id in each of them, for what hangs from it", () => {
    const headers = { traceparent: `00-${TRACE}-${OWN}-01` };
    expect([start()?.traceHeaders, start()?.traceHeaders]).toEqual([headers, headers]);
  });

  it("is sent by the one that ends it alone, from its first beginning", () => {
    start();
    expect(recorded.ended).toEqual([]);
    const startedAt = Date.now() - 60_000;
    start()!.end({ startedAt, hasFailed: false });
    expect(recorded.ended).toEqual([
      expect.objectContaining({ name: "RunWorkflow", traceId: TRACE, spanId: OWN, parentId: CALLER, isParentRemote: true, startedAt }),
    ]);
    expect(recorded.ended[0]!.durationMs).toBeGreaterThanOrEqual(60_000);
  });

  it.each([true, false])("says whether it failed: %s", (hasFailed) => {
    start()!.end({ startedAt: Date.now(), hasFailed });
    expect(recorded.ended).toEqual([expect.objectContaining({ hasFailed })]);
  });

  it("is not sent where its trace is not recorded, and tells the next that it isn't", () => {
    const span = start(told("00"))!;
    span.end({ startedAt: Date.now(), hasFailed: false });
    expect(span.traceHeaders).toEqual({ traceparent: `00-${TRACE}-${OWN}-00` });
    expect(recorded.ended).toEqual([]);
  });

  it.each([{}, { traceparent: "00-nonsense" }, { traceparent: `00-${"0".repeat(32)}-${CALLER}-01` }])(
    "is none where no trace is told: %j",
    (headers) => {
      expect(start(headers as ReturnType<typeof told>)).toBeUndefined();
    },
  );

  it("is none in a process that is not traced", () => {
    recorded.stop();
    expect(start()).toBeUndefined();
  });
});

describe("a trace", () => {
  it("goes on from what another process tells to what is asked of the next", async () => {
    let passedOn: object = {};
    const ask = (): Promise<void> =>
      inClientSpan("ask", {}, (headers) => {
        passedOn = headers;
        return nothing();
      });
    await inCalledSpan("asked", {}, { ...told(), tracestate: "vendor=1" }, ask);
    const [asking, asked] = recorded.ended;
    expect(asked).toMatchObject({ name: "asked", traceId: TRACE, parentId: CALLER, isParentRemote: true });
    expect(asking).toMatchObject({ name: "ask", kind: "client", traceId: TRACE, parentId: asked!.spanId, isParentRemote: false });
    expect(passedOn).toEqual({ traceparent: `00-${TRACE}-${asking!.spanId}-01`, tracestate: "vendor=1" });
  });

  it("begins anew where none is told, whatever is under way here", async () => {
    await inSpan({ name: "outer" }, () => inCalledSpan("asked", {}, {}, nothing));
    const [asked, outer] = recorded.ended;
    expect(asked!.parentId).toBeUndefined();
    expect(asked!.traceId).not.toBe(outer!.traceId);
  });

  it("of its own names the one that it came from", async () => {
    await inCalledSpan("request", {}, told(), () => inLinkedTrace("delivery", nothing));
    const [delivery, request] = recorded.ended;
    expect(delivery).toMatchObject({ parentId: undefined, link: { traceId: TRACE, spanId: request!.spanId } });
    expect(delivery!.traceId).not.toBe(TRACE);
  });

  it.each([
    { caller: "records it", flags: "01", share: false },
    { caller: "does not record it", flags: "00", share: true },
  ])("of which no part is recorded where the caller $caller and the share says $share", async ({ flags, share }) => {
    recorded = recordEndedSpans(() => share);
    let passedOn: Record<string, string> = {};
    const ask = (): Promise<void> => inClientSpan("ask", {}, (headers) => ((passedOn = headers), nothing()));
    await inCalledSpan("asked", {}, told(flags), ask);
    expect(recorded.ended).toEqual([]);
    expect(passedOn.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
  });
});

it("notes what fails, and lets the error through", async () => {
  const failing = inSpan({ name: "call" }, () => Promise.reject(new Error("away")));
  await expect(failing).rejects.toThrow("away");
  expect(recorded.ended).toEqual([expect.objectContaining({ name: "call", hasFailed: true })]);
});

it("keeps the request beside the span, and the span beside the request", async () => {
  await withRequestContext({ requestId: "r" }, () =>
    inSpan({ name: "call" }, async () => {
      await nothing();
      expect(requestContext()).toEqual({ requestId: "r" });
      withRequestContext({ requestId: "other" }, () => expect(activeSpan()?.name).toBe("call"));
    }),
  );
  expect([activeSpan(), requestContext()]).toEqual([undefined, undefined]);
});

it("renames the active span when more is known, and does nothing without one", async () => {
  spanNamer()("none", {});
  await inSpan({ name: "GET", attributes: { method: "GET" } }, async () => {
    const rename = spanNamer();
    await nothing();
    rename("GET /api/workflows", { route: "/api/workflows" });
  });
  expect(recorded.ended).toEqual([
    expect.objectContaining({ name: "GET /api/workflows", attributes: { method: "GET", route: "/api/workflows" } }),
  ]);
});
