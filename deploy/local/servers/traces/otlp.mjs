/**
 * The part of OpenTelemetry's protocol (OTLP over gRPC) that a trace viewer needs. It uses no library, because the launcher runs before
 * dependencies are installed. Field numbers are from opentelemetry/proto/trace/v1/trace.proto and common/v1/common.proto.
 */

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 };

/**
 * Fields of one protobuf message.
 * @param {Buffer} message
 * @returns {Generator<{ number: number, value: bigint | Buffer }>} varints and fixed64 as bigint; fixed32 as its four bytes
 */
const fields = function* (message) {
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at];
      if (byte === undefined) throw new Error("a message ends within a number");
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  /** @param {number} size */
  const take = (size) => {
    if (at + size > message.length) throw new Error("a message ends within a field");
    at += size;
    return message.subarray(at - size, at);
  };
  while (at < message.length) {
    const tag = Number(varint());
    const [number, wire] = [tag >> 3, tag & 7];
    if (wire === WIRE.varint) yield { number, value: varint() };
    else if (wire === WIRE.fixed64) yield { number, value: take(8).readBigUInt64LE() };
    else if (wire === WIRE.bytes) yield { number, value: take(Number(varint())) };
    else if (wire === WIRE.fixed32) yield { number, value: take(4) };
    else throw new Error(`a field of an unknown kind: ${wire}`);
  }
};

/** Values of one field number. @param {Buffer} message @param {number} number */
const all = (message, number) =>
  [...fields(message)].flatMap((field) => (field.number === number && Buffer.isBuffer(field.value) ? [field.value] : []));

/** @param {Buffer} message @param {number} number */
const text = (message, number) => all(message, number).at(-1)?.toString() ?? "";
/** @param {Buffer} message @param {number} number */
const id = (message, number) => all(message, number).at(-1)?.toString("hex") ?? "";
/** @param {Buffer} message @param {number} number */
const integer = (message, number) => {
  const value = [...fields(message)].findLast((field) => field.number === number)?.value;
  return typeof value === "bigint" ? value : 0n;
};

const ANY = { string: 1, bool: 2, int: 3, double: 4 };

/** @param {Buffer} value value of an attribute; lists and maps are omitted */
const anyText = (value) => {
  const [field] = fields(value);
  if (field === undefined) return "";
  if (field.number === ANY.string) return text(value, ANY.string);
  if (field.number === ANY.bool) return String(field.value === 1n);
  if (typeof field.value !== "bigint") return "";
  if (field.number === ANY.int) return String(BigInt.asIntN(64, field.value));
  if (field.number !== ANY.double) return "";
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(field.value);
  return String(bytes.readDoubleLE());
};

/** @param {Buffer} message @param {number} number @returns {Record<string, string>} */
const attributes = (message, number) =>
  Object.fromEntries(all(message, number).map((entry) => [text(entry, 1), anyText(all(entry, 2).at(-1) ?? Buffer.alloc(0))]));

/** Indexed by OpenTelemetry's span kind. */
const KINDS = [undefined, undefined, "SERVER", "CLIENT", "PRODUCER", "CONSUMER"];
const FAILED = 2n;
const NS_PER_US = 1_000n;

/** @param {Buffer} span @param {string} serviceName */
const zipkinSpan = (span, serviceName) => {
  const [startedAt, endedAt] = [integer(span, 7), integer(span, 8)];
  const [status] = all(span, 15);
  const links = all(span, 13).map((link, index) => [`link.${index}`, id(link, 1)]);
  const parentId = id(span, 4);
  const failed = status !== undefined && integer(status, 3) === FAILED;
  return {
    traceId: id(span, 1),
    id: id(span, 2),
    ...(parentId === "" ? {} : { parentId }),
    name: text(span, 5),
    kind: KINDS[Number(integer(span, 6))],
    timestamp: Number(startedAt / NS_PER_US),
    // Zipkin treats a zero duration as unknown.
    duration: Math.max(1, Number((endedAt - startedAt) / NS_PER_US)),
    localEndpoint: { serviceName },
    tags: { ...attributes(span, 9), ...Object.fromEntries(links), ...(failed ? { error: text(status, 2) || "failed" } : {}) },
  };
};

/**
 * Converts an ExportTraceServiceRequest to spans of Zipkin's API (v2, JSON).
 * @param {Buffer} request
 * @throws if it isn't a valid message
 */
export const zipkinSpans = (request) =>
  all(request, 1).flatMap((ofResource) => {
    const serviceName = all(ofResource, 1).map((resource) => attributes(resource, 1)["service.name"])[0] ?? "unknown";
    return all(ofResource, 2).flatMap((ofScope) => all(ofScope, 2).map((span) => zipkinSpan(span, serviceName)));
  });
