import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, Connection } from "@temporalio/client";
import { connectMongo, createLogger, FIRST_VERSION, makeCollections, openDatabase, untilMigrated, type Logger } from "@nodeloom/platform";
import { database as billing } from "../../billing/src/database";
import { createStores } from "../../executions/src/record/stores";
import { databaseOf, SERVICES } from "../src/databases";

const ROOT = join(__dirname, "..", "..", "..");
const SCHEMA = join(__dirname, "schema.json");
const name = randomUUID().slice(0, 8);
const taskQueue = `migrate-${name}`;
const SCHEDULES = ["reconcile-runs", "plan-renewals", "retention"];
const env = {
  MONGODB_URI: process.env.MONGODB_URI!,
  MONGODB_DATABASE_PREFIX: `test_${name}_`,
  TEMPORAL_ADDRESS: process.env.TEMPORAL_ADDRESS!,
  TEMPORAL_TASK_QUEUE: taskQueue,
  LOG_LEVEL: "info",
};
const open = (service: string, prefix = env.MONGODB_DATABASE_PREFIX) =>
  connectMongo({ uri: env.MONGODB_URI, database: `${prefix}${service}` });

interface Line {
  msg: string;
  service?: string;
  from?: number;
  to?: number;
  reason?: string;
}

/**
 * Runs the program.
 * @returns its exit code and output lines
 */
const migrate = async (args: string[] = [], more: Record<string, string> = {}): Promise<{ code: number; lines: Line[] }> => {
  const { NODE_ENV: _, ...own } = process.env;
  const ran = promisify(execFile)(process.execPath, [join(ROOT, "services", "migrate"), ...args], { env: { ...own, ...env, ...more } });
  const { code, stdout } = await ran.then(
    ({ stdout: output }) => ({ code: 0, stdout: output }),
    (error: { code: number; stdout: string }) => error,
  );
  const lines = stdout.split("\n").filter(Boolean);
  return { code, lines: lines.map((line) => JSON.parse(line) as Line) };
};

/** Every collection with its indexes, one line each. */
const indexesOf = async (service: string): Promise<Record<string, string[]>> => {
  const connection = await open(service);
  const collections = (await connection.listCollections()).map((collection) => collection.name).sort();
  const described = collections.map(async (collection) => {
    const indexes = await connection.collection(collection).indexes();
    const lines = indexes.map(({ key, unique, sparse, expireAfterSeconds, partialFilterExpression }) =>
      [
        Object.entries(key)
          .map(([field, order]) => `${field} ${String(order)}`)
          .join(", "),
        ...(unique ? ["unique"] : []),
        ...(sparse ? ["sparse"] : []),
        ...(expireAfterSeconds === undefined ? [] : [`expires after ${expireAfterSeconds} s`]),
        ...(partialFilterExpression ? [`where ${JSON.stringify(partialFilterExpression)}`] : []),
      ].join("; "),
    );
    return [collection, lines.filter((line) => !line.startsWith("_id 1")).sort()];
  });
  const actual = Object.fromEntries(await Promise.all(described)) as Record<string, string[]>;
  await connection.close();
  return actual;
};

afterAll(async () => {
  const connection = await Connection.connect({ address: env.TEMPORAL_ADDRESS });
  const { schedule } = new Client({ connection });
  await Promise.all(SCHEDULES.map((id) => schedule.getHandle(`${taskQueue}-${id}`).delete()));
  await connection.close();
  for (const service of SERVICES) {
    const database = await open(service);
    await database.dropDatabase();
    await database.close();
  }
});

describe("node services/migrate", () => {
  it("creates every collection, index and schedule, once", async () => {
    const first = await migrate();
    expect(first.lines.map(({ service, from, to }) => [service, from, to]).sort()).toEqual(
      SERVICES.map((service) => [service, 0, databaseOf(service).version]).sort(),
    );
    expect(first.code).toBe(0);
    const indexes = await Promise.all(SERVICES.map(async (service) => [service, await indexesOf(service)] as const));

    const second = await migrate();
    expect(second.code).toBe(0);
    expect(second.lines.map(({ msg }) => msg)).toEqual(SERVICES.map(() => "nothing to migrate"));
    expect(await Promise.all(SERVICES.map(async (service) => [service, await indexesOf(service)] as const))).toEqual(indexes);

    const schema = Object.fromEntries(
      indexes.map(([service, collections]) => [service, { version: databaseOf(service).version, collections }]),
    );
    if (process.env.MIGRATE_SCHEMA === "write") writeFileSync(SCHEMA, `${JSON.stringify(schema, null, 2)}\n`);
    // If this differs, raise `version` in the service's database.ts, and run: MIGRATE_SCHEMA=write npx jest services/migrate
    expect(schema).toEqual(JSON.parse(readFileSync(SCHEMA, "utf8")));

    const connection = await Connection.connect({ address: env.TEMPORAL_ADDRESS });
    const { schedule } = new Client({ connection });
    const described = await Promise.all(SCHEDULES.map((id) => schedule.getHandle(`${taskQueue}-${id}`).describe()));
    expect(described.map(({ action }) => (action as { taskQueue: string }).taskQueue)).toEqual(SCHEDULES.map(() => taskQueue));
    await connection.close();
  });

  it("migrates one service with that service's own database user", async () => {
    const { code, lines } = await migrate(["billing"], { MONGODB_URI: "mongodb://127.0.0.1:1", BILLING_MONGODB_URI: env.MONGODB_URI });
    expect([code, lines.map(({ service }) => service)]).toEqual([0, ["billing"]]);
  });

  it.each([
    ["a service that keeps no database", ["gateway"], {}, /no database of gateway/],
    ["no server", ["usage"], { MONGODB_URI: "" }, /MONGODB_URI/],
  ])("exits with 78 for %s, and reports it", async (_name, args, more, reason) => {
    const { code, lines } = await migrate(args, more);
    expect([code, lines[0]?.reason]).toEqual([78, expect.stringMatching(reason)]);
  });
});

describe("a service", () => {
  it("waits until its database is available, and reports this", async () => {
    const prefix = `test_${randomUUID().slice(0, 8)}_`;
    const connection = await open("billing", prefix);
    let onLine: (line: string) => void;
    const line = new Promise<string>((resolve) => (onLine = resolve));
    const logger = { ...createLogger("test", "silent"), warn: (_details: object, text: string) => onLine(text) } as unknown as Logger;
    let isReady = false;
    const ready = untilMigrated(connection, billing, logger).then(() => (isReady = true));
    expect(await line).toContain("node services/migrate billing");
    expect(isReady).toBe(false);
    await billing.migrate({ ...env, MONGODB_DATABASE_PREFIX: prefix });
    expect(await ready).toBe(true);
    await connection.dropDatabase();
    await connection.close();
  });

  it.each([1, 2, FIRST_VERSION - 1])("neither starts with a store from before 1.0.0 nor migrates it: version %d", async (version) => {
    const prefix = `test_${randomUUID().slice(0, 8)}_`;
    const connection = await open("billing", prefix);
    await connection.collection<{ _id: string; version: number }>("migrations").insertOne({ _id: "schema", version });
    const silent = createLogger("test", "silent");
    const config = { MONGODB_URI: env.MONGODB_URI, MONGODB_DATABASE_PREFIX: prefix };
    await expect(openDatabase(billing, config, silent)).rejects.toThrow(/from before 1\.0\.0.*npm run reset/);
    const { code, lines } = await migrate([], { MONGODB_DATABASE_PREFIX: prefix });
    expect(code).toBe(78);
    const fatal = lines.filter(({ reason }) => reason !== undefined).map(({ reason }) => reason);
    expect(fatal).toEqual([expect.stringMatching(/^this store is from before 1\.0\.0 .*`npm run reset`/)]);
    expect((await connection.listCollections()).map(({ name: collection }) => collection)).toEqual(["migrations"]);
    await connection.close();
    for (const service of SERVICES) {
      const own = await open(service, prefix);
      await own.dropDatabase();
      await own.close();
    }
  });

  it("starts with a newer database, which an older release doesn't change", async () => {
    const prefix = `test_${randomUUID().slice(0, 8)}_`;
    const own = { ...env, MONGODB_DATABASE_PREFIX: prefix };
    await billing.migrate(own);
    const connection = await open("billing", prefix);
    await connection.collection<{ _id: string }>("migrations").updateOne({ _id: "schema" }, { $set: { version: billing.version + 1 } });
    expect(await billing.migrate(own)).toMatchObject({ from: billing.version + 1, to: billing.version + 1 });
    await untilMigrated(connection, billing, createLogger("test", "silent"));
    await connection.dropDatabase();
    await connection.close();
  });

  it("reads and writes while the indexes of a large collection are created", async () => {
    const prefix = `test_${randomUUID().slice(0, 8)}_`;
    const connection = await open("executions", prefix);
    createStores(connection);
    const rows = connection.collection<{ _id: string }>("executions");
    const at = new Date();
    const many = Array.from({ length: 1_000 }, (_, index) => ({
      _id: `e${index}`,
      userId: `u${index % 50}`,
      status: "completed",
      createdAt: at,
    }));
    await rows.insertMany(many);
    let isDone = false;
    const making = makeCollections(connection).then(() => (isDone = true));
    let during = 0;
    while (!isDone) {
      await rows.updateOne({ _id: `e${during % many.length}` }, { $set: { status: "failed" } });
      during += 1;
    }
    await making;
    expect(during).toBeGreaterThan(0);
    await connection.dropDatabase();
    await connection.close();
  });
});
