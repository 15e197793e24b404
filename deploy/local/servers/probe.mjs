import { connect } from "node:net";
import http2 from "node:http2";

const PROBE_TIMEOUT_MS = 2_000;
const PROBE_INTERVAL_MS = 40;

/**
 * Sends `request` over TCP. Resolves to true if the first bytes of the answer satisfy `accepts`.
 * @param {{ host: string, port: number, request?: Buffer | string, accepts?: (answer: Buffer) => boolean }} options
 * @returns {Promise<boolean>}
 */
const exchange = ({ host, port, request, accepts }) =>
  new Promise((resolve) => {
    const socket = connect({ host, port });
    /** @param {boolean} answer */
    const finish = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(PROBE_TIMEOUT_MS, () => finish(false));
    socket.once("error", () => finish(false));
    socket.once("close", () => finish(false));
    socket.once("connect", () => {
      if (request === undefined) finish(true);
      else socket.write(request);
    });
    socket.once("data", (answer) => finish(accepts?.(answer) ?? true));
  });

/** @param {string} host @param {number} port */
export const acceptsConnections = (host, port) => exchange({ host, port });

/** @param {string} host @param {number} port */
export const answersRedisPing = (host, port) =>
  exchange({
    host,
    port,
    request: "PING\r\n",
    // A server that requires a password is alive too.
    accepts: (answer) => /^(\+PONG|-NOAUTH)/.test(answer.toString("latin1")),
  });

/** `{ ping: 1, $db: "admin" }` as one OP_MSG: every server answers it, even before authentication. */
const mongoPing = () => {
  const elements = Buffer.concat([
    Buffer.from("\x10ping\0\x01\0\0\0", "latin1"),
    Buffer.from("\x02$db\0\x06\0\0\0admin\0", "latin1"),
    Buffer.from([0]),
  ]);
  const document = Buffer.alloc(4 + elements.length);
  document.writeInt32LE(document.length, 0);
  elements.copy(document, 4);
  const OP_MSG = 2013;
  const header = Buffer.alloc(21);
  header.writeInt32LE(header.length + document.length, 0);
  header.writeInt32LE(1, 4);
  header.writeInt32LE(OP_MSG, 12);
  return Buffer.concat([header, document]);
};

/** @param {string} host @param {number} port */
export const answersMongoPing = (host, port) =>
  exchange({ host, port, request: mongoPing(), accepts: (answer) => answer.includes("\x01ok\0", 0, "latin1") });

/**
 * Makes one unary gRPC call without a library.
 * @param {{ authority: string, path: string, message: Buffer }} options
 * @returns {Promise<Buffer | undefined>} the reply's message; undefined if the call failed
 */
const unaryCall = ({ authority, path, message }) =>
  new Promise((resolve) => {
    const session = http2.connect(`http://${authority}`);
    /** @param {Buffer} [reply] */
    const finish = (reply) => {
      clearTimeout(timer);
      session.destroy();
      resolve(reply);
    };
    const timer = setTimeout(finish, PROBE_TIMEOUT_MS);
    session.once("error", () => finish());
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" });
    /** @type {Buffer[]} */
    const chunks = [];
    let status = "";
    stream.on("response", (headers) => (status = String(headers["grpc-status"] ?? status)));
    stream.on("trailers", (trailers) => (status = String(trailers["grpc-status"] ?? status)));
    stream.on("data", (chunk) => chunks.push(chunk));
    stream.on("error", () => finish());
    stream.on("end", () => finish(status === "0" ? Buffer.concat(chunks).subarray(5) : undefined));
    const frame = Buffer.alloc(5);
    frame.writeUInt32BE(message.length, 1);
    stream.end(Buffer.concat([frame, message]));
  });

const SERVING = 1;

/** True if a gRPC server reports that it serves. @param {string} address host:port */
export const servesGrpc = async (address) => {
  const health = await unaryCall({ authority: address, path: "/grpc.health.v1.Health/Check", message: Buffer.alloc(0) });
  return health?.[1] === SERVING;
};

/** True if an HTTP GET returns 200. @param {string} url */
export const answersHttp = async (url) => {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })).status === 200;
  } catch {
    return false;
  }
};

/** A protobuf message with one string field, numbered 1. @param {string} text */
const stringMessage = (text) => Buffer.concat([Buffer.from([0x0a, text.length]), Buffer.from(text)]);

/**
 * True if a Temporal server is healthy and its frontend knows the namespace.
 * @param {string} address host:port
 * @param {string} namespace
 */
export const servesTemporalNamespace = async (address, namespace) => {
  const service = "temporal.api.workflowservice.v1.WorkflowService";
  const health = await unaryCall({ authority: address, path: "/grpc.health.v1.Health/Check", message: stringMessage(service) });
  if (health?.[1] !== SERVING) return false;
  const described = await unaryCall({ authority: address, path: `/${service}/DescribeNamespace`, message: stringMessage(namespace) });
  return described !== undefined;
};

/**
 * Repeats a probe until it returns true.
 * @param {() => Promise<boolean>} probe
 * @param {{ deadlineMs: number, given?: AbortSignal }} options
 * @returns {Promise<boolean>} false after the deadline or an abort
 */
export const waitUntil = async (probe, { deadlineMs, given }) => {
  const deadline = Date.now() + deadlineMs;
  while (Date.now() < deadline && given?.aborted !== true) {
    if (await probe()) return true;
    await new Promise((resolve) => setTimeout(resolve, PROBE_INTERVAL_MS));
  }
  return false;
};
