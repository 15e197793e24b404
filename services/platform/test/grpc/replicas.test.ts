import type { ServiceDefinition } from "@grpc/grpc-js";
import { promises as dns } from "node:dns";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { createGrpcClient, createLogger, grpcService, startGrpcServer, unary, type ClientOf, type RunningGrpcServer } from "../../src";
import type { ConnectionTimes } from "../../src/grpc/connection";
import { makeCertificates, type TestCertificates } from "../../../../test-support/certificates";
import { eventually } from "../../../../test-support/eventually";
import { JSON_SERVICE, type JsonServer } from "../support/json-service";

/** Replicas are addresses of one name and port, as behind a headless service of Kubernetes. */

const logger = createLogger("test", "silent");
const TIMES: Partial<ConnectionTimes> = { renewMs: 300, resolveEveryMs: 50 };
/** Settings with which a peer is soon declared lost, even a slow one. */
const IMPATIENT: Partial<ConnectionTimes> = { ...TIMES, keepaliveMs: 200, keepaliveTimeoutMs: 200 };
const ADDRESSES = ["127.0.0.2", "127.0.0.3", "127.0.0.4"] as const;
/** Number of latest calls that show which replica is used now. */
const LATEST = 40;
/** Limit that is reached only if the guarantee is broken. */
const LONG_MS = 60_000;

interface AccountsServer extends JsonServer {
  /** Its calls go to the replica of their account. */
  hold: JsonServer["unary"];
}
const HOLD = { ...JSON_SERVICE.unary, path: "/nodeloom.billing.v1.BillingService/Hold" };
const SERVICE = { ...JSON_SERVICE, hold: HOLD } as unknown as ServiceDefinition<AccountsServer>;

let certificates: TestCertificates;
let port: number;
let client: ClientOf<AccountsServer>;
const running = new Map<string, RunningGrpcServer>();
let resolved: string[];

const listening = (server: Server, at: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(at, host, () => resolve((server.address() as AddressInfo).port));
  });

/** A port that is free on all addresses. */
const commonPort = async (): Promise<number> => {
  const servers = ADDRESSES.map(() => createServer());
  try {
    const listenPort = await listening(servers[0]!, 0, ADDRESSES[0]);
    await Promise.all(ADDRESSES.slice(1).map((host, index) => listening(servers[index + 1]!, listenPort, host)));
    return listenPort;
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
};

const startReplica = async (host: string): Promise<void> => {
  const answer = unary(() => Promise.resolve(host));
  const services = [grpcService(SERVICE, { unary: answer, hold: answer } as unknown as AccountsServer)];
  const listen = `${host}:${port}`;
  running.set(host, await startGrpcServer({ listen, services, logger, tls: certificates.of("billing"), connections: TIMES }));
};
const stopReplica = async (host: string): Promise<void> => {
  await running.get(host)?.stop();
  running.delete(host);
};

const connectTo = (connections: Partial<ConnectionTimes>): ClientOf<AccountsServer> =>
  createGrpcClient<AccountsServer>(SERVICE, { address: `billing:${port}`, tls: certificates.of("gateway"), connections });

/**
 * Makes calls, a few at a time, until the condition holds.
 * @returns the replicas that answered, and every error
 */
const callUntil = async (isEnough: (answers: string[]) => boolean): Promise<{ answers: string[]; errors: unknown[] }> => {
  const [answers, errors]: [string[], unknown[]] = [[], []];
  const end = Date.now() + LONG_MS;
  const caller = async (): Promise<void> => {
    while (!isEnough(answers) && Date.now() < end) {
      await client.unary({}).then(
        (answer) => answers.push(String(answer)),
        (error: unknown) => errors.push(error),
      );
      await delay(2);
    }
  };
  await Promise.all(Array.from({ length: 8 }, caller));
  return { answers, errors };
};

beforeAll(async () => {
  certificates = await makeCertificates("billing", "gateway");
  const lookup = dns.lookup.bind(dns) as (host: string, options: object) => Promise<unknown>;
  jest
    .spyOn(dns, "lookup")
    .mockImplementation(((host: string, options: object) =>
      host === "billing" ? Promise.resolve(resolved.map((address) => ({ address, family: 4 }))) : lookup(host, options)) as never);
});
afterAll(async () => {
  jest.restoreAllMocks();
  await certificates?.remove();
});

beforeEach(async () => {
  port = await commonPort();
  resolved = [...ADDRESSES.slice(0, 1)];
  client = connectTo(TIMES);
});
afterEach(async () => {
  client.close();
  await Promise.all([...running.keys()].map(stopReplica));
});

it("gives a replica that joins later its share of calls from connected clients, without an error", async () => {
  await startReplica(ADDRESSES[0]);
  expect((await callUntil((answers) => answers.length > 20)).errors).toEqual([]);
  await startReplica(ADDRESSES[1]);
  resolved = [...ADDRESSES.slice(0, 2)];
  const { answers, errors } = await callUntil((all) => {
    const latest = all.slice(-LATEST);
    return latest.filter((host) => host === ADDRESSES[1]).length >= latest.length / 4 && latest.length === LATEST;
  });
  expect(errors).toEqual([]);
  expect(answers).toContain(ADDRESSES[1]);
});

it("fails no call while replicas are replaced one after another", async () => {
  resolved = [...ADDRESSES];
  await Promise.all(ADDRESSES.map(startReplica));
  let [isDone, hosts]: [boolean, string[]] = [false, []];
  const calls = callUntil((all) => ((hosts = all), isDone));
  /** Resolves when only this replica, or only other replicas, answered the latest calls. */
  const isCalled = (host: string, isExpected: boolean): Promise<boolean> =>
    eventually(() => hosts.length >= LATEST && hosts.slice(-LATEST).includes(host) === isExpected);
  for (const host of ADDRESSES) {
    await isCalled(host, true);
    // As in Kubernetes, the name loses the address before the process stops.
    resolved = ADDRESSES.filter((other) => other !== host);
    await isCalled(host, false);
    await stopReplica(host);
    await startReplica(host);
    resolved = [...ADDRESSES];
  }
  isDone = true;
  const { answers, errors } = await calls;
  expect(errors).toEqual([]);
  expect(new Set(answers).size).toBe(ADDRESSES.length);
});

it("stops calling a peer that vanished silently, and calls the others", async () => {
  client.close();
  client = connectTo(IMPATIENT);
  resolved = [...ADDRESSES.slice(0, 2)];
  await startReplica(ADDRESSES[0]);
  // The other address forwards bytes until the test makes it drop them, and never closes a connection.
  let swallow = false;
  const sockets: Socket[] = [];
  const relay = createServer((incoming) => {
    const outgoing = connect(port, ADDRESSES[0]);
    sockets.push(incoming, outgoing);
    incoming.on("data", (bytes) => swallow || outgoing.write(bytes)).on("error", () => undefined);
    outgoing.on("data", (bytes) => swallow || incoming.write(bytes)).on("error", () => undefined);
  });
  await listening(relay, port, ADDRESSES[1]);
  await callUntil((answers) => answers.length > 20);
  expect(sockets.length).toBeGreaterThan(0);
  swallow = true;
  // Running calls fail when the connection is closed. Later calls succeed, although the name still has the address.
  const calm = (latest: { error: boolean }[]): boolean => latest.length >= 50 && latest.slice(-50).every(({ error }) => !error);
  const calls: { error: boolean }[] = [];
  for (const end = Date.now() + LONG_MS; !calm(calls) && Date.now() < end;) {
    await client.unary({}, { deadlineMs: 10_000 }).then(
      () => calls.push({ error: false }),
      () => calls.push({ error: true }),
    );
  }
  expect(calm(calls)).toBe(true);
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => relay.close(resolve));
});

describe("accounts", () => {
  const ACCOUNTS = Array.from({ length: 60 }, (_, index) => `user-${index}`);
  let clients: ClientOf<AccountsServer>[];

  /** Calls without an account go to the replicas in turn, so they show that the client is connected to all. */
  const connectToAll = async (connections: Partial<ConnectionTimes>): Promise<ClientOf<AccountsServer>> => {
    const connected = connectTo(connections);
    for (const reached = new Set<unknown>(); reached.size < ADDRESSES.length;) reached.add(await connected.unary({}));
    return connected;
  };
  beforeEach(async () => {
    resolved = [...ADDRESSES];
    await Promise.all(ADDRESSES.map(startReplica));
    const first = await connectToAll({ ...TIMES, renewMs: LONG_MS });
    resolved = [...ADDRESSES].reverse();
    clients = [first, await connectToAll({ ...TIMES, renewMs: LONG_MS })];
  });
  afterEach(() => clients.forEach((one) => one.close()));

  const chosenBy = (one: ClientOf<AccountsServer>): Promise<unknown[]> => Promise.all(ACCOUNTS.map((userId) => one.hold({ userId })));

  it("have one replica each, the same for all clients, and are spread over all replicas", async () => {
    const chosen = await chosenBy(clients[0]!);
    expect(await chosenBy(clients[0]!)).toEqual(chosen);
    expect(await chosenBy(clients[1]!)).toEqual(chosen);
    for (const host of ADDRESSES) expect(chosen.filter((one) => one === host).length).toBeGreaterThan(ACCOUNTS.length / 10);
  });

  it("keep their replica if another one leaves, and return to theirs when it is back", async () => {
    const before = await chosenBy(clients[0]!);
    await stopReplica(ADDRESSES[0]);
    const during = await chosenBy(clients[0]!);
    expect(during).not.toContain(ADDRESSES[0]);
    expect(during.filter((host, index) => host !== before[index]).length).toBe(before.filter((host) => host === ADDRESSES[0]).length);
    await startReplica(ADDRESSES[0]);
    expect(await eventually(async () => isDeepStrictEqual(await chosenBy(clients[0]!), before))).toBe(true);
  });
});
