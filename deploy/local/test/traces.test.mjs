import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { json } from "node:stream/consumers";
import { test } from "node:test";
import { startCollector } from "../servers/traces/collector.mjs";
import { zipkinSpans } from "../servers/traces/otlp.mjs";
import { freePort } from "../servers/ports.cjs";

const require = createRequire(new URL("../../../services/platform/package.json", import.meta.url));
const { SpanKind, SpanStatusCode, context, trace } = require("@opentelemetry/api");
const { OTLPTraceExporter } = require("@opentelemetry/exporter-trace-otlp-grpc");
const { resourceFromAttributes } = require("@opentelemetry/resources");
const { BatchSpanProcessor, TracerProvider } = require("@opentelemetry/sdk-trace");

/** Simulates Zipkin's API. */
const startZipkin = async () => {
  /** @type {any[]} */
  const spans = [];
  const server = createServer(async (request, response) => {
    spans.push(.../** @type {any[]} */ (await json(request)));
    response.writeHead(202).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { spans, url: `http://127.0.0.1:${port}`, stop: () => server.close() };
};

test("spans sent to the collector are shown with names, kinds, parents, times, attributes, failures and links", async () => {
  const zipkin = await startZipkin();
  const port = await freePort();
  const collector = await startCollector({ port, zipkinUrl: zipkin.url, log: (line) => assert.fail(line) });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": "gateway" }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `http://127.0.0.1:${port}` }) })],
  });
  const tracer = provider.getTracer("test");
  const other = tracer.startSpan("another");
  const attributes = { text: "höllo", count: -7, ratio: 0.5, right: true, list: ["left out"] };
  /** @type {[number, number]} */
  const startTime = [1_700_000_000, 123_456_000];
  const parent = tracer.startSpan("GET /x", { kind: SpanKind.SERVER, startTime, attributes, links: [{ context: other.spanContext() }] });
  const child = tracer.startSpan("a call", { kind: SpanKind.CLIENT }, trace.setSpan(context.active(), parent));
  child.setStatus({ code: SpanStatusCode.ERROR, message: "refused" });
  child.end();
  parent.end([1_700_000_001, 123_456_000]);
  await provider.shutdown();
  await collector.stop();
  zipkin.stop();

  const { traceId, spanId } = parent.spanContext();
  const shownSpan = zipkin.spans.find(({ id }) => id === spanId);
  assert.deepEqual(shownSpan, {
    traceId,
    id: spanId,
    name: "GET /x",
    kind: "SERVER",
    timestamp: 1_700_000_000_123_456,
    duration: 1_000_000,
    localEndpoint: { serviceName: "gateway" },
    tags: { text: "höllo", count: "-7", ratio: "0.5", right: "true", list: "", "link.0": other.spanContext().traceId },
  });
  const called = zipkin.spans.find(({ id }) => id === child.spanContext().spanId);
  assert.equal(called.parentId, spanId);
  assert.equal(called.kind, "CLIENT");
  assert.equal(called.tags.error, "refused");
});

test("a truncated message is rejected", () => {
  assert.throws(() => zipkinSpans(Buffer.from([0x0a, 0x05, 0x01])), /ends within a field/);
  assert.throws(() => zipkinSpans(Buffer.from([0x0a, 0x80])), /ends within a number/);
});
