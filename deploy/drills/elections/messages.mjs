/** Messages of MongoDB's wire protocol. Specification: https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/ */
import { createRequire } from "node:module";

const platform = createRequire(new URL("../../../services/platform/package.json", import.meta.url));
/** @type {any} */
const { BSON } = platform("mongoose").mongo;

const HEADER_BYTES = 16;
const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
/** Flags of a message. */
const CHECKSUM = 1;
const EXHAUST_ALLOWED = 0x1_00_00;
/** Keeps the types of numbers, so that a document is written as it was read. */
const EXACT = { promoteValues: false, promoteBuffers: false };

/**
 * @typedef {object} Request
 * @property {number} id
 * @property {boolean} isLegacy true for the first message of a connection, which uses the former format
 * @property {boolean} isStream true if the driver wants one reply after another
 * @property {Record<string, any>} command
 * @property {Buffer[]} sequences sections of documents, as they arrived
 */

/** Cuts a stream of bytes into messages. @param {(message: Buffer) => void} onMessage @returns {(bytes: Buffer) => void} */
export const createCutter = (onMessage) => {
  /** @type {Buffer} */
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
      const length = rest.readInt32LE(0);
      onMessage(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  };
};

/** @param {Buffer} bytes @returns {Record<string, any>} */
const documentOf = (bytes) => BSON.deserialize(bytes, EXACT);

/** @param {Buffer} message @returns {Request} */
export const readRequest = (message) => {
  const [id, code] = [message.readInt32LE(4), message.readInt32LE(12)];
  if (code === OP_QUERY) {
    const name = message.indexOf(0, HEADER_BYTES + 4);
    return { id, isLegacy: true, isStream: false, command: documentOf(message.subarray(name + 9)), sequences: [] };
  }
  if (code !== OP_MSG) throw new Error(`the message has the unknown format ${code}`);
  const flags = message.readUInt32LE(HEADER_BYTES);
  const end = message.length - (flags & CHECKSUM ? 4 : 0);
  /** @type {Buffer[]} */
  const sequences = [];
  let command;
  for (let at = HEADER_BYTES + 4; at < end;) {
    const size = message.readInt32LE(at + 1);
    const section = message.subarray(at, at + 1 + size);
    if (section[0] === 0) command = documentOf(section.subarray(1));
    else sequences.push(section);
    at += 1 + size;
  }
  if (!command) throw new Error("the message has no command");
  return { id, isLegacy: false, isStream: (flags & EXHAUST_ALLOWED) !== 0, command, sequences };
};

/** @param {number} code @param {number} id @param {number} responseTo @param {Buffer[]} parts */
const message = (code, id, responseTo, parts) => {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeInt32LE(HEADER_BYTES + parts.reduce((sum, { length }) => sum + length, 0), 0);
  header.writeInt32LE(id, 4);
  header.writeInt32LE(responseTo, 8);
  header.writeInt32LE(code, 12);
  return Buffer.concat([header, ...parts]);
};

const NO_FLAGS = Buffer.alloc(4);
const MORE_TO_COME = Buffer.from([2, 0, 0, 0]);
const BODY = Buffer.alloc(1);

/** @param {number} id @param {Record<string, any>} command @param {readonly Buffer[]} sequences */
export const writeRequest = (id, command, sequences) => message(OP_MSG, id, 0, [NO_FLAGS, BODY, BSON.serialize(command), ...sequences]);

/** @param {Request} request @param {Record<string, any>} reply @param {{ isMoreToCome?: boolean }} [options] */
export const writeReply = ({ id, isLegacy }, reply, { isMoreToCome = false } = {}) => {
  const body = BSON.serialize(reply);
  if (!isLegacy) return message(OP_MSG, 0, id, [isMoreToCome ? MORE_TO_COME : NO_FLAGS, BODY, body]);
  const prefix = Buffer.alloc(20);
  prefix.writeInt32LE(1, 16);
  return message(OP_REPLY, 0, id, [prefix, body]);
};

/** Addresses a stored reply to another request. @param {Buffer} reply @param {Request} request */
export const replyTo = (reply, { id }) => {
  const copy = Buffer.from(reply);
  copy.writeInt32LE(id, 8);
  return copy;
};

export const { Long, ObjectId } = BSON;
