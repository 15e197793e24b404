import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { groupBy } from "../../../services/kernel/src";
import { newRecord } from "../../../services/executions/test/support";
import { completedCall } from "../../../services/executions/src/run/call-record";
import { NEW_STANDING } from "../../../services/notifications/src/delivery";
import type { World } from "./stores";

export const DAY_MS = 86_400_000;
/** Files per run on average: every fifth run makes a second one. */
const SECOND_FILE_EVERY = 5;
/** Runs written at the same time: a command of the stores takes so many rows. */
const RUNS_AT_ONCE = 100;
/** Accounts that are written at the same time, and commands of each. */
const ACCOUNTS_AT_ONCE = 16;
const COMMANDS_AT_ONCE = 100;
/** On a busy machine, a command waits for longer than a request would. */
const COMMAND_MS = 60_000;
export const OWNERS = 2_000;
/** Changes of keys, secrets and workflows: one for ten runs. */
export const AUDITED_EVERY = 10;
/** Rows of a run in the ledger: a hold, a capture, a release. */
export const LEDGER_ROWS = 3;
const TOP_UP_MILLICREDITS = 1e9;
const FILE = Buffer.alloc(1_024, 7);
const COST = { costMicroUsd: 20_000, userCostMicroUsd: 30_000, millicredits: 3_000 };

/** Owner of a run. A few owners have most runs: the first of 2,000 has 2 %, the first hundred 22 %. */
export const ownerOf = (run: number): string => `owner-${Math.floor(OWNERS * ((run * 0.618_033_988_75) % 1) ** 2)}`;

/** Bytes are written without `stage`, which syncs each file: the drill measures removal. */
const writeBlob = async (folder: string, name: string): Promise<void> => {
  const path = join(folder, name.slice(0, 2), name.slice(2, 4), name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, FILE);
};

const writeFileOf = async (
  { objects, folder }: World,
  userId: string,
  executionId: string,
  item: number,
  createdAt: Date,
): Promise<void> => {
  const blob = randomUUID().replaceAll("-", "");
  await writeBlob(folder, blob);
  await objects.insert({
    ...{ id: `${executionId}-0-${item}-0`, key: blob, ownerId: userId, blob, createdAt, origin: "generated", private: true },
    ...{ contentType: "image/png", bytes: FILE.length, sha256: blob + blob, width: 1_024, height: 1_024 },
  });
};

/** Splits a list into lists of at most `size`. */
const chunksOf = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size));

/** Holds and captures the credits of one owner's runs. Commands of one account that arrive together share a write. */
const chargeOwner = async ({ billing }: World, userId: string, executionIds: readonly string[]): Promise<void> => {
  const key = "pic:0";
  const holdItems = [{ key, model: "painter", maxMillicredits: 4_000 }];
  const captures = [{ key, captureMillicredits: COST.millicredits, consumeGrant: false }];
  const deadlineMs = (): number => Date.now() + COMMAND_MS;
  for (const ids of chunksOf(executionIds, COMMANDS_AT_ONCE)) {
    await Promise.all(ids.map((executionId) => billing.hold({ userId, executionId, items: holdItems, maxActive: 0 }, deadlineMs())));
    await Promise.all(ids.map((executionId) => billing.settle({ userId, executionId, items: captures, captureAll: false }, deadlineMs())));
  }
};

/** Writes the message to the run's webhook, which its first attempt delivered. */
const writeDelivery = async ({ deliveries }: World, ownerId: string, executionId: string, at: Date): Promise<void> => {
  const attempt = { key: "1:1", delivery: 1, attempt: 1, url: "https://example.com/hook", at, status: 200, error: null, durationMs: 80 };
  const earlier = { ...NEW_STANDING, state: "delivered" as const, attempts: 1, deliveredAt: at, history: [attempt] };
  const message = { _id: executionId, ownerId, keyId: "key", event: "execution.completed", about: { kind: "run" as const, executionId } };
  await deliveries.insert({ ...message, earlier }, at);
};

const writeAuditRow = async ({ audit }: World, ownerId: string): Promise<void> => {
  const change = { changeJson: '{"name":"a key"}', beforeJson: "", afterJson: '{"name":"a key"}', errorCode: "", requestId: "" };
  await audit.record({
    ...{ id: randomUUID(), actorId: ownerId, keyId: "", action: "key.create", target: "key", outcome: "done" as const, ownerId },
    ...change,
  });
};

/** Gives every owner credits for all runs. */
export const fund = async ({ billing }: World): Promise<void> => {
  const credit = { kind: "topup", millicredits: TOP_UP_MILLICREDITS } as const;
  const owners = Array.from({ length: OWNERS }, (_, owner) => `owner-${owner}`);
  for (const some of chunksOf(owners, ACCOUNTS_AT_ONCE))
    await Promise.all(some.map((userId) => billing.credit({ userId, credit, note: "", reference: "start" }, Date.now() + COMMAND_MS)));
};

/** Writes one completed run as its services do: the row, its call, its usage, its files, its webhook, and a row of the audit log for some. */
const writeRun = async (world: World, executionId: string, run: number, at: Date): Promise<void> => {
  const userId = ownerOf(run);
  const end = { status: "completed", createdAt: at, finishedAt: at, durationMs: 900, resultJson: '{"image":"a file"}' } as const;
  const result = { files: [], text: "x", costMicroUsd: COST.costMicroUsd, requestId: null };
  await Promise.all([
    world.runs.rows.insert(newRecord(userId, { _id: executionId, ...end })),
    world.runs.calls.recordEnd(completedCall({ key: `${executionId}:pic:0`, executionId, nodeId: "pic", item: 0 }, result)),
    world.usage.finish(
      { executionId, userId, workflowSlug: null, modelIds: ["painter"], source: "api-slim", startedAt: at, metadata: {}, keyId: "" },
      { status: "completed", ...COST, durationMs: 900, errorCode: null, requestId: null, modelCredits: [] },
      true,
    ),
    writeFileOf(world, userId, executionId, 0, at),
    ...(run % SECOND_FILE_EVERY === 0 ? [writeFileOf(world, userId, executionId, 1, at)] : []),
    writeDelivery(world, userId, executionId, at),
    ...(run % AUDITED_EVERY === 0 ? [writeAuditRow(world, userId)] : []),
  ]);
};

/** Writes the runs of a day, spread evenly over it. Their credits move at its start, by owner. @returns the number of files */
export const writeDay = async (world: World, start: Date, runs: number): Promise<number> => {
  const all = Array.from({ length: runs }, (_, run) => ({ run, executionId: randomUUID() }));
  const ofOwner = groupBy(all, ({ run }) => ownerOf(run));
  world.clock.time = start;
  for (const owners of chunksOf([...ofOwner], ACCOUNTS_AT_ONCE))
    await Promise.all(
      owners.map(([userId, own]) =>
        chargeOwner(
          world,
          userId,
          own.map(({ executionId }) => executionId),
        ),
      ),
    );
  for (const some of chunksOf(all, RUNS_AT_ONCE)) {
    world.clock.time = new Date(start.getTime() + Math.floor((some[0]!.run / runs) * DAY_MS));
    await Promise.all(some.map(({ run, executionId }) => writeRun(world, executionId, run, world.clock.time)));
  }
  return runs + Math.ceil(runs / SECOND_FILE_EVERY);
};
