import { setTimeout as delay } from "node:timers/promises";
import { DomainError } from "@nodeloom/kernel";
import { connectMongo } from "@nodeloom/platform";
import {
  accountOf,
  clientOf,
  dropDatabase,
  holdRequest,
  ownDatabase,
  settleRequest,
  startInstance,
  topUp,
  wholeLedger,
  type BillingClient,
} from "./support/instance";
import { freePort } from "../../../deploy/local/servers/ports.cjs";
import { database } from "../src/database";
import { startProcess, type BillingProcess } from "./support/process";

const USERS = 3;
const RUNS_PER_USER = 120;
const IN_PARALLEL = 20;
const PRICE = 1_000;
const KILLS = 4;
/** Replies between two kills; the last process runs to the end. */
const ANSWERS_PER_LIFE = 90;
const MAX_JITTER_MS = 15;
const RETRY_MS = 20;

/** Repeats a call until it succeeds, like a durable caller. */
const untilAnswered = async <T>(call: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== "unavailable") throw error;
      await delay(RETRY_MS);
    }
  }
};

interface Run {
  userId: string;
  executionId: string;
  /** The actual cost; undefined for a run cancelled before its hold. */
  cost?: number;
}

const allRuns = (): Run[] =>
  Array.from({ length: USERS * RUNS_PER_USER }, (_, index) => ({
    userId: `user-${index % USERS}`,
    executionId: `run-${index}`,
    cost: index % 10 === 9 ? undefined : (index * 37) % PRICE,
  }));

const perform = async (clientOf: () => BillingClient, { userId, executionId, cost }: Run, answered: () => void): Promise<void> => {
  if (cost !== undefined) {
    const reply = await untilAnswered(() => clientOf().hold(holdRequest(userId, executionId, PRICE)));
    expect(reply.heldMillicredits).toBe(PRICE);
    answered();
  }
  const settled = await untilAnswered(() => clientOf().settle(settleRequest(userId, executionId, cost ?? 0)));
  expect(settled.capturedMillicredits).toBe(cost ?? 0);
  answered();
};

type Environment = Record<string, string>;

/** Kills processes in turn after a number of replies, at a random time under load, and replaces them. */
const createReaper = (environments: readonly Environment[], processes: BillingProcess[]) => {
  let answers = 0;
  let kills = 0;
  let restarting = Promise.resolve();
  const restart = async (index: number): Promise<void> => {
    await delay(Math.random() * MAX_JITTER_MS);
    await processes[index]!.kill();
    processes[index] = await startProcess(environments[index]!);
  };
  return {
    answered: (): void => {
      answers += 1;
      if (answers % ANSWERS_PER_LIFE !== 0 || kills === KILLS) return;
      const victim = kills++ % processes.length;
      restarting = restarting.then(() => restart(victim));
    },
    finish: async (): Promise<number> => {
      await restarting;
      await Promise.all(processes.map((process) => process.kill()));
      return kills;
    },
  };
};

it("keeps both money invariants while two processes are killed repeatedly under load", async () => {
  const env = ownDatabase();
  await database.migrate(env);
  const ports = [await freePort(), await freePort()];
  const environments = ports.map((port) => ({ ...env, BILLING_LISTEN: `127.0.0.1:${port}` }));
  const reaper = createReaper(environments, await Promise.all(environments.map(startProcess)));
  const clients = ports.map(clientOf);
  const anyClient = (): BillingClient => clients[Math.floor(Math.random() * clients.length)]!;
  const runs = allRuns();
  const funds = RUNS_PER_USER * PRICE;
  for (let index = 0; index < USERS; index++) await topUp(clients[0]!, `user-${index}`, funds);

  const queue = [...runs];
  const worker = async (): Promise<void> => {
    for (let run = queue.shift(); run; run = queue.shift()) await perform(anyClient, run, reaper.answered);
  };
  await Promise.all(Array.from({ length: IN_PARALLEL }, worker));
  expect(await reaper.finish()).toBe(KILLS);
  for (const client of clients) client.close();

  const survivor = await startInstance(env);
  // Rows left in outboxes reach the ledger without any call.
  const connection = await connectMongo({ uri: env.MONGODB_URI!, database: `${env.MONGODB_DATABASE_PREFIX}billing` });
  const stranded = (): Promise<number> => connection.collection("accounts").countDocuments({ "outbox.0": { $exists: true } });
  while ((await stranded()) > 0) await delay(RETRY_MS);
  await connection.close();
  for (let index = 0; index < USERS; index++) {
    const userId = `user-${index}`;
    const own = runs.filter((run) => run.userId === userId);
    const spentMillicredits = own.reduce((sum, run) => sum + (run.cost ?? 0), 0);
    expect(await accountOf(survivor.client, userId)).toMatchObject({
      topUpMillicredits: funds - spentMillicredits,
      heldMillicredits: 0,
      activeHolds: 0,
    });
    const rows = await wholeLedger(survivor.client, userId);
    expect(rows.reduce((sum, row) => sum + row.millicredits, 0)).toBe(funds - spentMillicredits);
    const captured = rows.filter((row) => row.kind === "capture").map((row) => row.executionId);
    expect(captured.sort()).toEqual(
      own
        .filter((run) => run.cost)
        .map((run) => run.executionId)
        .sort(),
    );
  }
  expect(await survivor.client.checkLedger({ cursor: "" })).toMatchObject({ ok: true, accounts: USERS });
  await survivor.stop();
  await dropDatabase(env);
});
