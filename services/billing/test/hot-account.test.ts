import { createGrpcClient, grpcService, startGrpcServer, type RunningGrpcServer } from "@nodeloom/platform";
import { billing as proto } from "@nodeloom/proto";
import { createBilling, type Billing } from "../src/billing";
import { billingHandlers } from "../src/server";
import { logger, ownStore, type OwnStore } from "./support/database";
import { accountOf, holdRequest, settleRequest, topUp, type BillingClient } from "./support/instance";

/** Several replicas of billing, with clients that connect to them. Replicas share only the database. */

const REPLICAS = 4;
const USERS = ["user-1", "user-2"];
const RUNS = 150;
const IN_PARALLEL = 10;
const PRICE = 1_000;
const COST = 300;
/** Maximum share of conditional updates that lose against another replica's update. */
const LOST_SHARE = 0.05;

interface Writes {
  all: number;
  lost: number;
}
interface Replica {
  billing: Billing;
  server: RunningGrpcServer;
  writes: Writes;
}

let own: OwnStore;
let replicas: Replica[];

const startReplica = async (): Promise<Replica> => {
  const writes: Writes = { all: 0, lost: 0 };
  const commit: OwnStore["store"]["commit"] = async (before, after) => {
    writes.all += 1;
    const isWritten = await own.store.commit(before, after);
    if (!isWritten) writes.lost += 1;
    return isWritten;
  };
  const billing = createBilling({ store: { ...own.store, commit }, logger });
  const services = [grpcService(proto.BillingServiceService, billingHandlers(billing))];
  return { billing, writes, server: await startGrpcServer({ listen: "127.0.0.1:0", services, logger }) };
};

const clientOf = (known: readonly Replica[]): BillingClient =>
  createGrpcClient<proto.BillingServiceServer>(proto.BillingServiceService, {
    address: `ipv4:${known.map(({ server }) => `127.0.0.1:${server.port}`).join(",")}`,
  });

const carryOut = async (client: BillingClient, userId: string, runs: readonly string[]): Promise<void> => {
  const waiting = [...runs];
  const worker = async (): Promise<void> => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
      await client.hold(holdRequest(userId, run, PRICE));
      await client.settle(settleRequest(userId, run, COST));
    }
  };
  await Promise.all(Array.from({ length: IN_PARALLEL }, worker));
};

const expectExact = async (client: BillingClient, runsPerUser: number): Promise<void> => {
  for (const userId of USERS)
    expect(await accountOf(client, userId)).toMatchObject({
      topUpMillicredits: RUNS * PRICE - runsPerUser * COST,
      heldMillicredits: 0,
      activeHolds: 0,
    });
  expect((await createBilling({ store: own.store, logger }).checkLedger({ cursor: "" })).mismatches).toEqual([]);
};

beforeEach(async () => {
  own = await ownStore();
  replicas = await Promise.all(Array.from({ length: REPLICAS }, startReplica));
  const client = clientOf(replicas);
  for (const userId of USERS) await topUp(client, userId, RUNS * PRICE);
  client.close();
});
afterEach(async () => {
  for (const { server, billing } of replicas) {
    await server.stop();
    await billing.stop();
  }
  await own.stop();
});

it("commands on one account hardly ever lose against another replica, whichever process sends them", async () => {
  const clients = [clientOf(replicas), clientOf([...replicas].reverse()), clientOf(replicas)];
  for (const client of clients) await Promise.all(replicas.map(() => client.listHolds({ olderThanMs: 0, limit: 1, cursor: "" })));
  await Promise.all(
    clients.flatMap((client, index) =>
      USERS.map((userId) =>
        carryOut(
          client,
          userId,
          Array.from({ length: RUNS / clients.length }, (_, run) => `${userId}-${index}-${run}`),
        ),
      ),
    ),
  );
  const all = replicas.reduce((sum, { writes }) => sum + writes.all, 0);
  const lost = replicas.reduce((sum, { writes }) => sum + writes.lost, 0);
  expect(lost / all).toBeLessThan(LOST_SHARE);
  await expectExact(clients[0]!, RUNS);
  clients.forEach((client) => client.close());
});

it("charges exactly if clients know different replicas and a replica stops meanwhile", async () => {
  const clients = [clientOf(replicas.slice(0, 2)), clientOf(replicas.slice(1)), clientOf(replicas.slice(0, 1))];
  const runs = (index: number): string[] => Array.from({ length: RUNS / clients.length }, (_, run) => `${index}-${run}`);
  // Each run is carried out by two clients, as after lost answers.
  const work = clients.flatMap((client, index) =>
    USERS.flatMap((userId) => [index, (index + 1) % clients.length].map((part) => carryOut(client, userId, runs(part)))),
  );
  const stopped = replicas[3]!;
  await Promise.all([...work, stopped.server.stop()]);
  await expectExact(clients[0]!, RUNS);
  clients.forEach((client) => client.close());
});
