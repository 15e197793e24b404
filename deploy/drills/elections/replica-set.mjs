/**
 * A replica set of three members in front of one MongoDB server without replication. The members share the server's data, as if each write
 * were replicated at once. Drivers see what an election shows them: members that step down or vanish, commands that are interrupted before
 * or after they wrote, replies that are lost, sessions whose writes are repeated, and majorities that take time. Writes that a new primary
 * never received can't be shown.
 */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { createCutter, Long, ObjectId, readRequest, replyTo, writeReply, writeRequest } from "./messages.mjs";

/** @typedef {import("./messages.mjs").Request} Request */
/** @typedef {{ code: number, codeName: string, errmsg: string }} Failure */

const NAME = "drill";
const MEMBERS = 3;
const MAJORITY_MS = 8;
const MAX_AWAIT_MS = 10_000;

const HELLOS = new Set(["hello", "ismaster", "isMaster"]);
/** Commands that any member answers. */
const ANYWHERE = new Set(["ping", "buildInfo", "buildinfo", "connectionStatus", "endSessions", "getMore", "killCursors"]);
const WRITES = new Set(["insert", "update", "delete", "findAndModify", "findandmodify"]);
/** Fields that only members of a replica set understand. */
const REPLICATION_FIELDS = ["lsid", "txnNumber", "$clusterTime", "$readPreference", "readConcern", "writeConcern", "stmtId"];

const NOT_PRIMARY = { code: 10107, codeName: "NotWritablePrimary", errmsg: "not primary" };
const NO_READS = { code: 13435, codeName: "NotPrimaryNoSecondaryOk", errmsg: "not primary and secondaryOk=false" };
const INTERRUPTED = {
  code: 11602,
  codeName: "InterruptedDueToReplStateChange",
  errmsg: "operation was interrupted because of a change of the member's state",
};

/** @param {Request} request */
const nameOf = ({ command }) => Object.keys(command)[0] ?? "";

/** @param {Request} request @param {Failure} failure */
const failed = (request, failure) =>
  writeReply(request, { ok: 0, ...failure, ...("txnNumber" in request.command ? { errorLabels: ["RetryableWriteError"] } : {}) });

/** Sends requests over one connection to the server, one after another. @param {number} port */
const createBackend = async (port) => {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  /** @type {{ resolve: (reply: Buffer) => void, reject: (error: Error) => void }[]} */
  const waiting = [];
  socket.on(
    "data",
    createCutter((reply) => waiting.shift()?.resolve(Buffer.from(reply))),
  );
  const end = () => waiting.splice(0).forEach(({ reject }) => reject(new Error("the server closed the connection")));
  socket.on("error", end).on("close", end);
  return {
    /** @param {Buffer} request @returns {Promise<Buffer>} */
    send: (request) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
};

/**
 * Starts the members.
 * @param {number} serverPort port of the MongoDB server on loopback
 */
export const startReplicaSet = async (serverPort) => {
  let [primary, term, stateChanges] = [0, 1, 0];
  /** @type {Set<() => void>} */
  const watchers = new Set();
  const counts = { writes: 0, repeated: 0, interruptedBefore: 0, interruptedAfter: 0, lostReplies: 0, notPrimary: 0 };
  /** Last retryable write of each session, with its reply. @type {Map<string, { number: string, reply: Promise<Buffer> }>} */
  const lastWrites = new Map();
  /** True while an election goes on, so that commands under way are interrupted. */
  let isElecting = false;
  /** Replies of writes to lose. */
  let lossesLeft = 0;

  const changeState = () => {
    stateChanges += 1;
    for (const watcher of watchers) watcher();
  };

  /** @type {{ port: number, processId: any, sockets: Set<import("node:net").Socket>, isGone: boolean, server: import("node:net").Server }[]} */
  const members = [];
  const hosts = () => members.map(({ port }) => `127.0.0.1:${port}`);

  /** @param {number} index */
  const hello = (index) => {
    const member = members[index];
    const isPrimary = index === primary;
    return {
      ...{ helloOk: true, ismaster: isPrimary, isWritablePrimary: isPrimary, secondary: !isPrimary },
      topologyVersion: { processId: member?.processId, counter: Long.fromNumber(stateChanges) },
      ...{ setName: NAME, setVersion: 1, hosts: hosts(), me: hosts()[index] },
      ...(primary < 0 ? {} : { primary: hosts()[primary] }),
      ...(isPrimary ? { electionId: new ObjectId(term.toString(16).padStart(24, "0")) } : {}),
      ...{ maxBsonObjectSize: 16_777_216, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000 },
      ...{ localTime: new Date(), logicalSessionTimeoutMinutes: 30, minWireVersion: 0, maxWireVersion: 13, readOnly: false, ok: 1 },
    };
  };

  /** Waits until the state differs from a known one. @param {number} known @param {number} maxMs */
  const stateAfter = async (known, maxMs) => {
    if (known !== stateChanges) return;
    await new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        watchers.delete(finish);
        resolve(undefined);
      };
      const timer = setTimeout(finish, Math.min(maxMs, MAX_AWAIT_MS));
      watchers.add(finish);
    });
  };

  /**
   * Sends the state at once, or when it differs from the one that the driver knows. If the driver wants a stream, each change follows.
   * @param {number} index @param {Request} request @param {import("node:net").Socket} client
   */
  const sendHello = async (index, request, client) => {
    const { topologyVersion, maxAwaitTimeMS } = request.command;
    let knownChanges = topologyVersion && maxAwaitTimeMS !== undefined ? Number(topologyVersion.counter) : -1;
    do {
      await stateAfter(knownChanges, Number(maxAwaitTimeMS ?? 0));
      knownChanges = stateChanges;
      if (!client.destroyed) client.write(writeReply(request, hello(index), { isMoreToCome: request.isStream }));
    } while (request.isStream && !client.destroyed);
  };

  /** @param {Request} request @param {Awaited<ReturnType<typeof createBackend>>} backend */
  const execute = ({ id, command, sequences }, backend) => {
    const standalone = Object.fromEntries(Object.entries(command).filter(([field]) => !REPLICATION_FIELDS.includes(field)));
    return backend.send(writeRequest(id, standalone, sequences));
  };

  /** Executes a retryable write once per number of its session. @param {Request} request @param {Awaited<ReturnType<typeof createBackend>>} backend */
  const write = async (request, backend) => {
    counts.writes += 1;
    const { lsid, txnNumber } = request.command;
    if (txnNumber === undefined) return execute(request, backend);
    const [session, number] = [lsid.id.toString("hex"), String(txnNumber)];
    const last = lastWrites.get(session);
    if (last?.number === number) {
      counts.repeated += 1;
      return replyTo(await last.reply, request);
    }
    const reply = execute(request, backend);
    lastWrites.set(session, { number, reply });
    return reply;
  };

  /** @param {number} index @param {Request} request @param {Awaited<ReturnType<typeof createBackend>>} backend @returns {Promise<Buffer | undefined>} undefined if the reply is lost */
  const answer = async (index, request, backend) => {
    const name = nameOf(request);
    if (ANYWHERE.has(name)) return execute(request, backend);
    const isWrite = WRITES.has(name);
    if (index !== primary) {
      counts.notPrimary += 1;
      return failed(request, isWrite ? NOT_PRIMARY : NO_READS);
    }
    const termAtStart = term;
    if (!isWrite) {
      const reply = await execute(request, backend);
      return term === termAtStart && index === primary ? reply : failed(request, INTERRUPTED);
    }
    // The write waits for its turn; an election in that time prevents it.
    await delay(Math.random() * MAJORITY_MS);
    if (isElecting || term !== termAtStart) {
      counts.interruptedBefore += 1;
      return failed(request, INTERRUPTED);
    }
    const reply = await write(request, backend);
    await delay(Math.random() * MAJORITY_MS);
    if (isElecting || term !== termAtStart) {
      counts.interruptedAfter += 1;
      return failed(request, INTERRUPTED);
    }
    if (lossesLeft === 0) return reply;
    lossesLeft -= 1;
    counts.lostReplies += 1;
    return undefined;
  };

  /** @param {number} index @param {import("node:net").Socket} client */
  const serve = async (index, client) => {
    const member = /** @type {typeof members[number]} */ (members[index]);
    if (member.isGone) return void client.destroy();
    member.sockets.add(client);
    client.on("error", () => client.destroy());
    /** @type {Promise<Awaited<ReturnType<typeof createBackend>>> | undefined} */
    let backend;
    client.on("close", () => {
      member.sockets.delete(client);
      void backend?.then(({ close }) => close()).catch(() => undefined);
    });
    let turn = Promise.resolve();
    const one = async (/** @type {Request} */ request) => {
      if (HELLOS.has(nameOf(request))) return sendHello(index, request, client);
      backend ??= createBackend(serverPort);
      const reply = await answer(index, request, await backend);
      if (reply === undefined) client.destroy();
      else if (!client.destroyed) client.write(reply);
    };
    client.on(
      "data",
      createCutter((bytes) => {
        const request = readRequest(Buffer.from(bytes));
        turn = turn.then(() => one(request)).catch(() => void client.destroy());
      }),
    );
  };

  for (let index = 0; index < MEMBERS; index += 1) {
    const server = createServer((client) => void serve(index, client)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    members.push({ port, processId: new ObjectId(), sockets: new Set(), isGone: false, server });
  }

  return {
    uri: `mongodb://${hosts().join(",")}/?replicaSet=${NAME}`,
    counts,

    /** Lets the primary step down. Another member becomes primary. @param {{ electionMs: number, crash?: boolean }} options crash: the primary closes all connections, and is unreachable during the election */
    stepDown: async ({ electionMs, crash = false }) => {
      const former = primary;
      const member = /** @type {typeof members[number]} */ (members[former]);
      isElecting = true;
      primary = -1;
      term += 1;
      member.isGone = crash;
      if (crash) for (const socket of member.sockets) socket.destroy();
      changeState();
      await delay(electionMs);
      primary = (former + 1 + Math.floor(Math.random() * (MEMBERS - 1))) % MEMBERS;
      member.isGone = false;
      if (crash) member.processId = new ObjectId();
      isElecting = false;
      changeState();
    },

    /** Loses the replies of the next writes after they were carried out. @param {number} count */
    loseReplies: (count) => void (lossesLeft += count),

    close: () => {
      for (const { server, sockets } of members) {
        server.close();
        for (const socket of sockets) socket.destroy();
      }
    },
  };
};
