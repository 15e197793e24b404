import http2 from "node:http2";
import { listenOnLoopback } from "../loopback.mjs";
import { zipkinSpans } from "./otlp.mjs";

const EXPORT_TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
/** gRPC prefixes each message with a flag and a length. */
const FRAME_HEAD = 5;
const MAX_REQUEST_BYTES = 16 * 1024 * 1024;
const HAND_ON_MS = 5_000;
const GRPC = { ok: "0", unavailable: "14" };

/** Empty response to every export. */
const NOTHING = Buffer.alloc(FRAME_HEAD);

/** @param {http2.ServerHttp2Stream} stream @returns {Promise<Buffer>} the message of a unary call */
const messageOf = async (stream) => {
  /** @type {Buffer[]} */
  const chunks = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > MAX_REQUEST_BYTES) throw new Error("an export is too large");
    chunks.push(chunk);
  }
  const framed = Buffer.concat(chunks);
  if (framed[0] !== 0) throw new Error("an export is compressed");
  return framed.subarray(FRAME_HEAD);
};

/** @param {http2.ServerHttp2Stream} stream @param {string} status */
const answer = (stream, status) => {
  if (stream.destroyed) return;
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": status }));
  stream.end(status === GRPC.ok ? NOTHING : undefined);
};

/**
 * An OpenTelemetry collector (OTLP over gRPC) on loopback that passes spans to Zipkin's API and drops all other data.
 * @param {{ port: number, zipkinUrl: string, log: (line: string) => void }} options
 * @returns {Promise<{ stop: () => Promise<void> }>}
 */
export const startCollector = async ({ port, zipkinUrl, log }) => {
  /** @param {Buffer} request */
  const handOn = async (request) => {
    const spans = zipkinSpans(request);
    if (spans.length === 0) return;
    const response = await fetch(`${zipkinUrl}/api/v2/spans`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(spans),
      signal: AbortSignal.timeout(HAND_ON_MS),
    });
    if (!response.ok) throw new Error(`Zipkin answered ${response.status}`);
  };
  const server = http2.createServer();
  /** @type {Set<http2.ServerHttp2Session>} */
  const sessions = new Set();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session)).on("error", () => session.destroy());
  });
  server.on("stream", (stream, headers) => {
    stream.on("error", () => stream.destroy());
    const received = messageOf(stream);
    const handled = headers[":path"] === EXPORT_TRACES ? received.then(handOn) : received;
    void handled.then(
      () => answer(stream, GRPC.ok),
      (error) => {
        log(`traces: ${error instanceof Error ? error.message : String(error)}\n`);
        answer(stream, GRPC.unavailable);
      },
    );
  });
  return listenOnLoopback(server, port, () => sessions.forEach((session) => session.destroy()));
};
