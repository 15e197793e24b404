import { once } from "node:events";
import http2 from "node:http2";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";

/**
 * Proxies in front of servers. They forward all bytes and report each exchange when its response arrives.
 * @typedef {object} Seen
 * @property {string} what
 * @property {number} bytes of the request
 * @property {number} fromMs since the epoch
 * @property {number} toMs
 * @typedef {(seen: Seen) => void} Tell
 */

/** Milliseconds since the epoch, with fractions. */
export const nowMs = () => performance.timeOrigin + performance.now();

const require = createRequire(new URL("../../../services/platform/package.json", import.meta.url));
/** @type {{ BSON: { deserialize: (bytes: Buffer) => Record<string, any> } }} */
const { BSON } = require("mongoose").mongo;

const US_PER_MS = 1_000;
const MONGO_HEAD = 16;
const OP_MSG = 2013;
/** Commands that the driver sends for itself. */
const DRIVERS_OWN = new Set(["hello", "ismaster", "isMaster", "ping", "endSessions"]);

/** Command in a message of MongoDB's wire protocol; undefined for the driver's own commands. @param {Buffer} message */
const mongoCommand = (message) => {
  if (message.readInt32LE(12) !== OP_MSG) return undefined;
  let at = MONGO_HEAD + 4;
  let items = 0;
  /** @type {Record<string, any>} */
  let body = {};
  while (at + 4 < message.length) {
    const kind = message[at];
    const size = message.readInt32LE(at + 1);
    if (kind === 0) body = BSON.deserialize(message.subarray(at + 1, at + 1 + size));
    else for (let next = message.indexOf(0, at + 5) + 1; next < at + 1 + size; next += message.readInt32LE(next)) items += 1;
    at += 1 + size;
  }
  const [command = ""] = Object.keys(body);
  if (DRIVERS_OWN.has(command)) return undefined;
  items ||= (body.documents ?? body.updates ?? body.deletes ?? [0]).length;
  return `${String(body.$db).replace(/^.*_/, "")}.${body[command]} ${command}${items > 1 ? ` of ${items}` : ""}`;
};

/** Splits a stream into messages, which start with their length. @param {(message: Buffer) => void} each */
const mongoMessages = (each) => {
  let rest = Buffer.alloc(0);
  return (/** @type {Buffer} */ chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= MONGO_HEAD && rest.length >= rest.readInt32LE(0)) {
      const size = rest.readInt32LE(0);
      each(rest.subarray(0, size));
      rest = rest.subarray(size);
    }
  };
};

/** Reads one connection; each response names its request. @param {Tell} tell */
const mongoReader = (tell) => {
  /** @type {Map<number, Omit<Seen, "toMs">>} */
  const requests = new Map();
  return {
    request: mongoMessages((message) => {
      const what = mongoCommand(message);
      if (what !== undefined) requests.set(message.readInt32LE(4), { what, bytes: message.length, fromMs: nowMs() });
    }),
    answer: mongoMessages((message) => {
      const request = requests.get(message.readInt32LE(8));
      requests.delete(message.readInt32LE(8));
      if (request) tell({ ...request, toMs: nowMs() });
    }),
  };
};

/** Reads commands of Redis: lists of texts with lengths. Responses don't name their command. @param {Tell} tell */
const redisReader = (tell) => {
  let rest = Buffer.alloc(0);
  /** @param {number} at @returns {[number, number] | undefined} the number after a line's mark, and the start of the next line */
  const line = (at) => {
    const end = rest.indexOf("\r\n", at);
    return end < 0 ? undefined : [Number(rest.toString("utf8", at + 1, end)), end + 2];
  };
  /** @returns {{ name: string, size: number } | undefined} */
  const first = () => {
    const head = line(0);
    if (head === undefined) return undefined;
    let [remaining, at] = head;
    let name = "";
    for (; remaining > 0; remaining -= 1) {
      const item = line(at);
      if (item === undefined || rest.length < item[1] + item[0] + 2) return undefined;
      name ||= rest.toString("utf8", item[1], item[1] + item[0]);
      at = item[1] + item[0] + 2;
    }
    return { name, size: at };
  };
  const request = (/** @type {Buffer} */ chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (let command = first(); command !== undefined; command = first()) {
      const atMs = nowMs();
      tell({ what: command.name.toUpperCase(), bytes: command.size, fromMs: atMs, toMs: atMs });
      rest = rest.subarray(command.size);
    }
  };
  return { request, answer: () => undefined };
};

/** @param {import("node:net").Server | http2.Http2Server} server */
const listening = async (server) => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  return /** @type {import("node:net").AddressInfo} */ (server.address()).port;
};

/**
 * @param {number} target port of the server
 * @param {"mongodb" | "redis"} kind
 * @param {Tell} tell
 * @returns {Promise<number>} port of the proxy
 */
export const readAlong = (target, kind, tell) =>
  listening(
    createServer((client) => {
      const server = connect(target, "127.0.0.1");
      const { request, answer } = kind === "mongodb" ? mongoReader(tell) : redisReader(tell);
      for (const socket of [client, server]) socket.setNoDelay();
      client.on("data", request).pipe(server);
      server.on("data", answer).pipe(client);
      for (const [one, other] of [
        [client, server],
        [server, client],
      ])
        one?.on("error", () => undefined).on("close", () => other?.destroy());
    }),
  );

const nameOf = (/** @type {unknown} */ path) => String(path).split("/").at(-1) ?? "";

/** Proxy for gRPC. @param {number} target @param {Tell} tell @returns {Promise<number>} */
export const readCalls = (target, tell) => {
  /** @type {http2.ClientHttp2Session | undefined} */
  let session;
  const upstream = () => {
    if (!session || session.closed || session.destroyed) session = http2.connect(`http://127.0.0.1:${target}`).on("error", () => undefined);
    return session;
  };
  const server = http2.createServer({ settings: { maxConcurrentStreams: 1_000 } });
  server.on("stream", (incoming, headers) => {
    const outgoing = upstream().request(headers);
    const fromMs = nowMs();
    let bytes = 0;
    /** @type {http2.IncomingHttpHeaders} */
    let trailers = {};
    incoming.on("data", (chunk) => (bytes += chunk.length));
    incoming.on("error", () => undefined).pipe(outgoing);
    incoming.on("close", () => tell({ what: nameOf(headers[":path"]), bytes, fromMs, toMs: nowMs() }));
    incoming.on("close", () => outgoing.close(http2.constants.NGHTTP2_CANCEL));
    incoming.on("wantTrailers", () => incoming.sendTrailers(trailers));
    outgoing.on("error", () => incoming.close(http2.constants.NGHTTP2_CANCEL));
    outgoing.on("trailers", (frame) => (trailers = frame));
    outgoing.on("response", (head, flags) => {
      if (incoming.destroyed) return;
      const isWhole = (flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      incoming.respond(head, isWhole ? { endStream: true } : { waitForTrailers: true });
      if (!isWhole) outgoing.pipe(incoming);
    });
  });
  return listening(server);
};

/**
 * A trace collector that reports the calls that services answer.
 * @param {Tell} tell @param {(request: Buffer) => any[]} spansOf @returns {Promise<number>}
 */
export const readSpans = (tell, spansOf) => {
  const server = http2.createServer();
  server.on("stream", (stream, headers) => {
    /** @type {Buffer[]} */
    const chunks = [];
    stream.on("data", (/** @type {Buffer} */ chunk) => chunks.push(chunk)).on("error", () => undefined);
    stream.on("end", () => {
      if (nameOf(headers[":path"]) === "Export" && String(headers[":path"]).includes("trace"))
        for (const { name, kind, localEndpoint, timestamp, duration } of spansOf(Buffer.concat(chunks).subarray(5))) {
          const what = `${localEndpoint.serviceName}: ${name}${kind === "CLIENT" ? " (asks)" : ""}`;
          tell({ what, bytes: 0, fromMs: timestamp / US_PER_MS, toMs: (timestamp + duration) / US_PER_MS });
        }
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(Buffer.alloc(5));
    });
  });
  return listening(server);
};
