import { once } from "node:events";
import http2 from "node:http2";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";

/**
 * What is said on the way to a server, as counts: each of these stands before one, hands everything on, and tells what it saw.
 * @typedef {(what: string, bytes: number) => void} Count
 */

const require = createRequire(new URL("../../../services/platform/package.json", import.meta.url));
/** @type {{ BSON: { deserialize: (bytes: Buffer) => Record<string, any> } }} */
const { BSON } = require("mongoose").mongo;

const MONGO_HEAD = 16;
const OP_MSG = 2013;
/** Commands that drivers send by themselves, for no query. */
const DRIVERS_OWN = new Set(["hello", "ismaster", "isMaster", "ping", "endSessions"]);

/** @param {Buffer} message one of MongoDB's wire protocol @param {Count} count */
const countMongo = (message, count) => {
  if (message.readInt32LE(12) !== OP_MSG) return;
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
  if (DRIVERS_OWN.has(command)) return;
  items ||= (body.documents ?? body.updates ?? body.deletes ?? [0]).length;
  count(`${String(body.$db).replace(/^.*_/, "")}.${body[command]} ${command}${items > 1 ? ` of ${items}` : ""}`, message.length);
};

/** Messages that begin with their length. @param {Count} count */
const mongoReader = (count) => {
  let rest = Buffer.alloc(0);
  return (/** @type {Buffer} */ chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= MONGO_HEAD && rest.length >= rest.readInt32LE(0)) {
      const size = rest.readInt32LE(0);
      countMongo(rest.subarray(0, size), count);
      rest = rest.subarray(size);
    }
  };
};

/** Redis' commands: lists of texts with their lengths. @param {Count} count */
const redisReader = (count) => {
  let rest = Buffer.alloc(0);
  /** @param {number} at @returns {[number, number] | undefined} the number on a line behind its mark, and where the next begins */
  const line = (at) => {
    const end = rest.indexOf("\r\n", at);
    return end < 0 ? undefined : [Number(rest.toString("utf8", at + 1, end)), end + 2];
  };
  /** @returns {{ name: string, size: number } | undefined} */
  const first = () => {
    const head = line(0);
    if (head === undefined) return undefined;
    let [left, at] = head;
    let name = "";
    for (; left > 0; left -= 1) {
      const item = line(at);
      if (item === undefined || rest.length < item[1] + item[0] + 2) return undefined;
      name ||= rest.toString("utf8", item[1], item[1] + item[0]);
      at = item[1] + item[0] + 2;
    }
    return { name, size: at };
  };
  return (/** @type {Buffer} */ chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (let command = first(); command !== undefined; command = first()) {
      count(command.name.toUpperCase(), command.size);
      rest = rest.subarray(command.size);
    }
  };
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
 * @param {Count} count
 * @returns {Promise<number>} where it listens
 */
export const countBytes = (target, kind, count) =>
  listening(
    createServer((client) => {
      const server = connect(target, "127.0.0.1");
      const read = kind === "mongodb" ? mongoReader(count) : redisReader(count);
      client.on("data", (/** @type {Buffer} */ chunk) => read(chunk)).pipe(server);
      server.pipe(client);
      for (const [one, other] of [
        [client, server],
        [server, client],
      ])
        one?.on("error", () => undefined).on("close", () => other?.destroy());
    }),
  );

const nameOf = (/** @type {unknown} */ path) => String(path).split("/").at(-1) ?? "";

/** The same for gRPC. @param {number} target @param {Count} count @returns {Promise<number>} */
export const countCalls = (target, count) => {
  /** @type {http2.ClientHttp2Session | undefined} */
  let session;
  const upstream = () => {
    if (!session || session.closed || session.destroyed) session = http2.connect(`http://127.0.0.1:${target}`).on("error", () => undefined);
    return session;
  };
  const server = http2.createServer({ settings: { maxConcurrentStreams: 1_000 } });
  server.on("stream", (incoming, headers) => {
    const outgoing = upstream().request(headers);
    let bytes = 0;
    /** @type {http2.IncomingHttpHeaders} */
    let trailers = {};
    incoming.on("data", (chunk) => (bytes += chunk.length)).on("end", () => count(nameOf(headers[":path"]), bytes));
    incoming.on("error", () => undefined).pipe(outgoing);
    incoming.on("close", () => outgoing.close(http2.constants.NGHTTP2_CANCEL));
    incoming.on("wantTrailers", () => incoming.sendTrailers(trailers));
    outgoing.on("error", () => incoming.close(http2.constants.NGHTTP2_CANCEL));
    outgoing.on("trailers", (given) => (trailers = given));
    outgoing.on("response", (head, flags) => {
      if (incoming.destroyed) return;
      const isWhole = (flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      incoming.respond(head, isWhole ? { endStream: true } : { waitForTrailers: true });
      if (!isWhole) outgoing.pipe(incoming);
    });
  });
  return listening(server);
};

/** A collector of traces that counts the calls which services answer. @param {Count} count @param {(request: Buffer) => any[]} spansOf @returns {Promise<number>} */
export const countSpans = (count, spansOf) => {
  const server = http2.createServer();
  server.on("stream", (stream, headers) => {
    /** @type {Buffer[]} */
    const chunks = [];
    stream.on("data", (/** @type {Buffer} */ chunk) => chunks.push(chunk)).on("error", () => undefined);
    stream.on("end", () => {
      if (nameOf(headers[":path"]) === "Export" && String(headers[":path"]).includes("trace"))
        for (const { name, kind, localEndpoint } of spansOf(Buffer.concat(chunks).subarray(5)))
          count(`${localEndpoint.serviceName}: ${name}${kind === "CLIENT" ? " (asks)" : ""}`, 0);
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(Buffer.alloc(5));
    });
  });
  return listening(server);
};
